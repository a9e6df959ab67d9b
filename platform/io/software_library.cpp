#include "io/software_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <fstream>
#include <system_error>

#include "io/fingerprint.h"
#include "io/input_file.h"
#include "io/json_document.h"

namespace t3vp {
namespace {

namespace fs = std::filesystem;

/// Whether the file has all that its program headers say, and loads its parts one behind the other: the loader crashes
/// on what is cut off, and overwrites the platform with what is larger than its place.
bool is_whole(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  ElfW(Ehdr) header{};
  const auto size = fs::file_size(file);
  if (!in.read(reinterpret_cast<char*>(&header), sizeof header)) return false;
  ElfW(Addr) loaded = 0;  // up to where
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment{};
    in.seekg(static_cast<std::streamoff>(header.e_phoff + i * sizeof segment));
    if (!in.read(reinterpret_cast<char*>(&segment), sizeof segment)) return false;
    if (segment.p_offset > size || segment.p_filesz > size - segment.p_offset) return false;
    if (segment.p_type != PT_LOAD) continue;
    if (segment.p_vaddr < loaded || segment.p_filesz > segment.p_memsz ||
        __builtin_add_overflow(segment.p_vaddr, segment.p_memsz, &loaded))
      return false;
  }
  return true;
}

std::string text_of(const PluginBuild& build) {
  return fmt::format("compiler {}, C++ {}, classes {:#x}", build.compiler, build.standard, build.layout);
}

void require_same(const PluginBuild& found, const PluginBuild& expected, const InputPlace& place) {
  const char* const advice = "build it with this platform's package";
  if (found.version != expected.version)  // what is behind it may be different too
    place.reject(fmt::format("a plug-in of version {}", found.version),
                 fmt::format("version {}: {}", expected.version, advice));
  if (text_of(found) != text_of(expected))
    place.reject("a plug-in of " + text_of(found), text_of(expected) + ": " + advice);
}

}  // namespace

SoftwareLibrary library_at(const InputPlace& place, const fs::path& file, const std::string& expected) {
  const std::string fault = input_fault(file);
  if (!fault.empty()) place.reject(fault, expected);
  return {fs::absolute(file).lexically_normal(), fingerprint(read_input(file, "native library")), place};
}

std::vector<SoftwareLibrary> libraries_at(const Document& document, const std::string& pointer,
                                          const std::string& expected) {
  std::vector<SoftwareLibrary> libraries;
  for (const auto& path : document.content.value(nlohmann::json::json_pointer(pointer), nlohmann::json::array())) {
    const std::string at = fmt::format("{}/{}", pointer, libraries.size());
    const fs::path file = document.resolve(at, path.get<std::string>());
    SoftwareLibrary library = library_at(document.place(at), file, expected);
    std::error_code error;
    for (std::size_t earlier = 0; earlier < libraries.size(); ++earlier)
      if (fs::equivalent(file, libraries[earlier].file, error))
        library.place.reject(fmt::format("the file of {}/{}", pointer, earlier), "each library once");
    libraries.push_back(std::move(library));
  }
  return libraries;
}

void require_whole(const SoftwareLibrary& library, const fs::path& copy, const std::string& expected) {
  if (!is_whole(copy)) library.place.reject("it is no shared object, or is cut off or damaged", expected);
}

void reject_unopened(const SoftwareLibrary& library, const fs::path& copy, const std::string& expected) {
  const char* const text = dlerror();
  std::string reason = text == nullptr ? "it cannot be opened" : text;
  const std::string name = copy.string() + ": ";
  if (const auto at = reason.find(name); at != std::string::npos) reason.erase(at, name.size());
  library.place.reject(reason, expected);
}

const void* plugin_table(const SoftwareLibrary& library, const char* name, const PluginBuild& build,
                         const std::string& expected) {
  require_whole(library, library.file, expected);
  void* const handle = dlopen(library.file.c_str(), RTLD_LOCAL | RTLD_NOW);
  if (handle == nullptr) reject_unopened(library, library.file, expected);
  const void* const table = dlsym(handle, name);
  if (table == nullptr) library.place.reject(fmt::format("it has no table {}", name), expected);
  require_same(*static_cast<const PluginBuild*>(table), build, library.place);
  return table;
}

}  // namespace t3vp
