#include "system/embedded_system.h"

#include <filesystem>

#include "io/embedded_texts.h"
#include "io/json_document.h"

namespace t3vp {
namespace {

nlohmann::json embedded(const std::string& file) { return parse_json(embedded_text(file), file); }

}  // namespace

nlohmann::json embedded_system(const std::string& name) {
  nlohmann::json system = embedded(name + ".json");
  nlohmann::json& memory = system.at("memory");
  const std::filesystem::path file = memory.at("file").get<std::string>();
  memory["dram"] = embedded(file.filename().string());
  memory.erase("file");
  return system;
}

}  // namespace t3vp
