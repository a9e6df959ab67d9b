// Shared libraries that the user's files name: programs and kernels, or plug-ins (protocol/plugin.h).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/input_error.h"
#include "protocol/plugin.h"

namespace t3vp {

struct Document;

struct SoftwareLibrary {
  std::filesystem::path file;
  std::string fingerprint;  ///< of its content
  InputPlace place;
};

/// Returns the library that a path names at the place. Throws InputError when it cannot be read.
SoftwareLibrary library_at(const InputPlace& place, const std::filesystem::path& file, const std::string& expected);
/// Returns the libraries whose paths are a list at the pointer; none when there is no such list. Throws InputError
/// about one that cannot be read or is there twice.
std::vector<SoftwareLibrary> libraries_at(const Document& document, const std::string& pointer,
                                          const std::string& expected);

/// Throws InputError when the loader would crash on the library, or on this copy of it.
void require_whole(const SoftwareLibrary& library, const std::filesystem::path& copy, const std::string& expected);
/// Throws InputError with the loader's reason, behind a dlopen() that has failed.
[[noreturn]] void reject_unopened(const SoftwareLibrary& library, const std::filesystem::path& copy,
                                  const std::string& expected);

/// Opens a plug-in, which stays open until the process ends, and returns the table of this name. Throws InputError when
/// it was not built as `build` says.
const void* plugin_table(const SoftwareLibrary& library, const char* name, const PluginBuild& build,
                         const std::string& expected);

}  // namespace t3vp
