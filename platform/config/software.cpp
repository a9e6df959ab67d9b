#include "config/software.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstring>
#include <optional>

#include "built_in.h"
#include "io/input_file.h"
#include "io/json_document.h"

namespace t3vp {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

bool is_built_in(const std::string& name) {
  for (const t3_named_program* program = t3_built_in.programs; program->name != nullptr; ++program)
    if (name == program->name) return true;
  return false;
}

/// "mine.so", or "mine.so:first", the program `first` of several.
void read_program(const Document& run, Software& software) {
  const std::string text = run.content.at("program").get<std::string>();
  software.program = text;
  if (is_built_in(text)) return;
  fs::path file = run.resolve("/program", text);
  const auto colon = text.rfind(':');
  std::error_code error;
  software.program.clear();
  if (!fs::exists(file, error) && colon != std::string::npos) {
    file = run.resolve("/program", text.substr(0, colon));
    software.program = text.substr(colon + 1);
  }
  software.library = library_at(
      run.place("/program"), file,
      built_in_programs() + ", or the path of a native library that has a program, or of an executable for RISC-V");
}

/// Returns the machine of an ELF file, of 32 or 64 bits.
std::optional<std::uint16_t> machine_of(const std::string& content) {
  std::uint16_t machine = 0;
  if (content.size() < offsetof(Elf64_Ehdr, e_machine) + sizeof machine || content.compare(0, SELFMAG, ELFMAG) != 0)
    return std::nullopt;
  std::memcpy(&machine, &content[offsetof(Elf64_Ehdr, e_machine)], sizeof machine);
  return machine;
}

template <typename T>
T part_of(const std::string& content, std::uint64_t at) {
  T part{};
  if (at <= content.size() && sizeof part <= content.size() - at) std::memcpy(&part, content.data() + at, sizeof part);
  return part;
}

/// Returns whether an ELF file of 64 bits is an executable: at a fixed address, or with a loader, which a library does
/// not have.
bool is_executable(const std::string& content) {
  const auto header = part_of<Elf64_Ehdr>(content, 0);
  bool has_loader = false;
  for (std::uint64_t i = 0; i < header.e_phnum; ++i)
    has_loader =
        has_loader || part_of<Elf64_Phdr>(content, header.e_phoff + i * sizeof(Elf64_Phdr)).p_type == PT_INTERP;
  return header.e_type == ET_EXEC || has_loader;
}

/// Empty, or what a file is that is neither for RISC-V nor may be a native library, which the loader looks at.
std::string what_else(const std::string& content) {
  constexpr const char* archive = "!<arch>\n";
  if (content.compare(0, std::strlen(archive), archive) == 0) return "a static library (archive)";
  if (!machine_of(content)) return "no ELF file, or one that is cut off";
  if (part_of<Elf64_Ehdr>(content, 0).e_type == ET_REL) return "an object file";
  return is_executable(content) ? "an executable that is not for RISC-V" : "";
}

/// An executable for RISC-V needs no word of the run file that it runs on a core; what of one can run the loader says.
void read_firmware(const Document& run, Software& software) {
  const std::string content = software.library ? read_input(software.library->file, "program") : "";
  const bool is_for_riscv = machine_of(content) == EM_RISCV;
  const std::string given = run.content.value("firmware", is_for_riscv ? "riscv" : "native");
  software.on_core = given == "riscv";
  if (is_for_riscv && !software.on_core)
    software.library->place.reject("an executable for RISC-V", "a native library, or \"firmware\": \"riscv\"");
  if (software.library && !software.on_core)
    if (const std::string found = what_else(content); !found.empty())
      software.library->place.reject(
          found, "a native library with a table t3_exports (t3/exports.h), or an executable for RISC-V");
}

void read_kernels(const Document& run, Software& software) {
  software.kernels = libraries_at(run, "/kernels", "the path of a native library that has kernels");
  std::error_code error;
  for (const SoftwareLibrary& library : software.kernels)
    if (software.library && fs::equivalent(library.file, software.library->file, error))
      library.place.reject("the file of /program, whose kernels are known already", "each library once");
}

}  // namespace

std::string built_in_programs() {
  std::string names;
  for (const t3_named_program* program = t3_built_in.programs; program->name != nullptr; ++program)
    names += (names.empty() ? "" : ", ") + std::string(program->name);
  return names;
}

Software read_software(const Document& run, const std::string& usual_program) {
  Software software;
  software.firmware_at = run.place("/firmware");
  software.program = usual_program;
  software.arguments_at = run.place("/arguments");
  if (run.content.contains("program")) read_program(run, software);
  read_firmware(run, software);
  read_kernels(run, software);
  if (!run.content.contains("arguments")) return software;
  if (!software.library && !run.content.at("arguments").empty())
    run.reject("/arguments", "no arguments, since the program " + software.program + " asks for none");
  for (const auto& argument : run.content.at("arguments").items()) {
    const json::json_pointer at = json::json_pointer("/arguments") / argument.key();
    software.arguments[argument.key()] = {argument.value(), run.place(at.to_string())};
  }
  return software;
}

std::string name_of(const Software& software) {
  if (!software.library) return software.program;
  return software.library->file.filename().string() + (software.program.empty() ? "" : ":" + software.program);
}

Software software_of_kernels(const std::string& option, const std::vector<fs::path>& files) {
  Software software;
  software.program = t3_built_in.programs->name;
  for (const fs::path& file : files) {
    const SoftwareLibrary library =
        library_at({option, file.string()}, file, "the path of a native library that has kernels");
    std::error_code error;
    for (const SoftwareLibrary& earlier : software.kernels)
      if (fs::equivalent(file, earlier.file, error))
        library.place.reject("a file that was given before", "each library once");
    software.kernels.push_back(library);
  }
  return software;
}

json resolved_software(const Software& software, const std::string& usual_program) {
  json resolved = json::object();
  if (software.library)
    resolved["program"] = software.library->file.string() + (software.program.empty() ? "" : ":" + software.program);
  else if (software.program != usual_program)
    resolved["program"] = software.program;
  for (const SoftwareLibrary& library : software.kernels) resolved["kernels"].push_back(library.file.string());
  for (const auto& [name, argument] : software.arguments) resolved["arguments"][name] = argument.value;
  return resolved;
}

json with_fingerprints(json resolved, const Software& software) {
  if (software.library) resolved["program"] = software.library->fingerprint + ":" + software.program;
  for (std::size_t i = 0; i < software.kernels.size(); ++i) resolved["kernels"][i] = software.kernels[i].fingerprint;
  return resolved;
}

}  // namespace t3vp
