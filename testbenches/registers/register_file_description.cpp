#include "registers/register_file_description.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace t3vp::reference {
namespace {

using nlohmann::json;

std::uint64_t number(const json& value) {
  return value.is_string() ? std::stoull(value.get<std::string>(), nullptr, 0) : value.get<std::uint64_t>();
}

/// Descriptions that those of registers refer to.
struct Shared {
  std::map<std::string, json> enumerations;
  unsigned lines = 0;  ///< of the interrupt controller
};

Field field_from(const json& item, const std::string& access, const Shared& shared) {
  Field field;
  field.name = item["name"];
  field.access = item.value("access", access);
  field.msb = item.contains("bits") ? item["bits"][0].get<unsigned>() : shared.lines - 1;
  field.lsb = item.contains("bits") ? item["bits"][1].get<unsigned>() : 0;
  if (item.contains("values")) {
    field.members.emplace();
    for (const json& value : item["values"]) field.members->push_back(value);
  }
  if (item.contains("enumeration")) {
    field.members.emplace();
    for (const json& value : shared.enumerations.at(item["enumeration"])["values"])
      field.members->push_back(value["value"]);
  }
  return field;
}

Register register_from(const json& item, const Shared& shared) {
  Register r;
  r.name = item["name"];
  r.access = item["access"];
  r.offset = number(item["offset"]);
  r.bytes = item["width"].get<unsigned>() / 8;
  r.reset = number(item.value("reset", json(0)));
  r.count = item.value("count", 1u);
  r.stride = item.value("stride", 0u);
  r.sync = item.value("sync", false);
  r.locked_while_busy = item.contains("lock");
  for (const json& field : item.value("fields", json::array())) r.fields.push_back(field_from(field, r.access, shared));
  if (r.fields.empty()) r.fields.push_back({"whole", r.access, r.bytes * 8 - 1, 0, {}});
  return r;
}

json parsed(const std::filesystem::path& file) { return json::parse(std::ifstream(file)); }

}  // namespace

const Field* Register::field_at(unsigned bit) const {
  for (const Field& field : fields)
    if (field.lsb <= bit && bit <= field.msb) return &field;
  return nullptr;
}

std::uint64_t Register::legal_value(std::mt19937_64& random) const {
  std::uint64_t value = 0;
  for (const Field& field : fields) {
    const std::uint64_t any = random();
    value |= field.of(field.members ? (*field.members)[any % field.members->size()] << field.lsb : any) << field.lsb;
  }
  return value;
}

std::uint64_t Register::after_write(std::uint64_t before, std::uint64_t written) const {
  std::uint64_t after = 0;
  for (unsigned bit = 0; bit < bytes * 8; ++bit) {
    const Field* field = field_at(bit);
    if (field == nullptr) continue;
    const bool old_bit = before >> bit & 1, new_bit = written >> bit & 1;
    bool stored = old_bit;
    if (field->access == "RW" || field->access == "WO") stored = new_bit;
    if (field->access == "W1C") stored = old_bit && !new_bit;
    if (field->access == "W1S") stored = old_bit || new_bit;
    after |= std::uint64_t{stored} << bit;
  }
  return after;
}

std::uint64_t Register::as_read(std::uint64_t stored) const {
  std::uint64_t value = 0;
  for (const Field& field : fields)
    if (field.access != "WO") value |= field.of(stored) << field.lsb;
  return value;
}

std::map<std::string, Block> all_blocks() {
  namespace fs = std::filesystem;
  const fs::path models = fs::path(T3VP_SOURCE_DIR) / "models";
  Shared shared;
  for (const auto& entry : fs::directory_iterator(models / "protocol"))
    if (const std::string file = entry.path().filename(); file.find(".enumeration.json") != std::string::npos)
      shared.enumerations[file.substr(0, file.find('.'))] = parsed(entry.path());
  const json device = parsed(models / "gpu.json");
  for (const json& block : device["blocks"])
    shared.lines += static_cast<unsigned>(block.value("lines", json::array()).size());
  const std::string suffix = ".registers.json";
  std::map<std::string, Block> blocks;
  for (const auto& entry : fs::recursive_directory_iterator(models)) {
    const std::string file = entry.path().filename();
    if (file.size() <= suffix.size() || file.substr(file.size() - suffix.size()) != suffix) continue;
    const json description = parsed(entry.path());
    Block& block = blocks[description["block"]];
    for (const json& item : description["registers"]) block.push_back(register_from(item, shared));
  }
  return blocks;
}

}  // namespace t3vp::reference
