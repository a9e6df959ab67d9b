#include "system/system_loader.h"

#include "io/overrides.h"
#include "io/schema_check.h"
#include "system/system_reader.h"

namespace t3vp {

using nlohmann::json;

Document document_at(const Document& parent, const std::string& pointer, const std::string& kind) {
  const json& value = parent.content.at(json::json_pointer(pointer));
  if (value.is_object()) {
    Document inlined{parent.file, parent.base + pointer, value, {}};
    for (const std::string& set : parent.overridden)
      if (set.rfind(pointer + "/", 0) == 0 || set == pointer) inlined.overridden.push_back(set.substr(pointer.size()));
    return inlined;
  }
  return read_document(parent, pointer, kind);
}

Document memory_of(const Document& system) {
  const bool inlined = system.content.at("memory").contains("dram");
  if (inlined && system.content.at("memory").contains("file"))
    system.reject("/memory/file", "a file beside the content in dram", "one of them");
  return document_at(system, inlined ? "/memory/dram" : "/memory/file", "memory file");
}

SystemConfiguration load_system(const std::filesystem::path& file) {
  const Document system = read_document(file, "system file");
  check_schema(system, "system");
  const Document memory = memory_of(system);
  check_schema(memory, "memory");
  return read_system(system, memory);
}

dram::MemorySpec load_memory(const std::filesystem::path& file, const std::vector<std::string>& settings) {
  Document memory = read_document(file, "memory file");
  for (const std::string& text : settings) apply_override(memory, parse_override(text));
  check_schema(memory, "memory");
  return read_memory(memory);
}

}  // namespace t3vp
