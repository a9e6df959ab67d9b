// The software of the GPUs' command processors, as the run file names it.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "io/software_library.h"

namespace t3vp {

struct Software {
  struct Argument {
    nlohmann::json value;  ///< a boolean, a number or a text
    InputPlace place;
  };

  std::string program;                     ///< its name; empty: the only one of its library
  std::optional<SoftwareLibrary> library;  ///< that has the program; without one, the platform comes with it
  std::vector<SoftwareLibrary> kernels;    ///< libraries of kernels beside the program's own
  std::map<std::string, Argument> arguments;
  InputPlace arguments_at;

  bool on_core = false;    ///< the program is for a RISC-V core, and its library an executable (ELF) for one
  InputPlace firmware_at;  ///< where the run file says so, or could

  /// Whether it is this program of those that the platform comes with.
  bool is(const char* name) const { return !library && program == name; }
};

/// `program`, `kernels` and `arguments` of a run file whose schema has been checked; the usual program when the file
/// names none. Throws InputError about what cannot be read.
Software read_software(const Document& run, const std::string& usual_program);

/// Returns software whose program is never run, with the kernels of libraries that a command line names by `option`.
/// Throws InputError about a library that cannot be read or is there twice.
Software software_of_kernels(const std::string& option, const std::vector<std::filesystem::path>& files);

/// Returns the same as a run file has it, without defaults.
nlohmann::json resolved_software(const Software& software, const std::string& usual_program);

/// "mine.so", "mine.so:first", or the name of one of the platform's: for people.
std::string name_of(const Software& software);

/// `resolved` with the libraries' content in place of their paths.
nlohmann::json with_fingerprints(nlohmann::json resolved, const Software& software);

/// The names of the programs that the platform comes with, in words.
std::string built_in_programs();

}  // namespace t3vp
