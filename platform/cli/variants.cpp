#include "cli/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "io/input_error.h"
#include "io/json_document.h"
#include "io/schema_check.h"

namespace t3vp {
namespace {

using nlohmann::json;

constexpr const char* late_keys =
    "arbitration, system.memory.mca_bands, system.memory.mca_default_limit, system.memory.aging_ns, limits, or a fault "
    "of inject but dma_map_updates";
/// Pointers into a resolved configuration.
constexpr const char* late_pointers[] = {
    "/arbitration",           "/limits", "/inject", "/system/memory/mca_bands", "/system/memory/mca_default_limit",
    "/system/memory/aging_ns"};

bool is_of(const std::string& key, const std::string& group) { return key == group || key.rfind(group + ".", 0) == 0; }

bool may_change_late(const std::string& key) {
  if (is_of(key, "inject.dma_map_updates")) return false;
  return key == "arbitration" || is_of(key, "limits") || is_of(key, "inject") ||
         is_of(key, "system.memory.mca_bands") || key == "system.memory.mca_default_limit" ||
         key == "system.memory.aging_ns";
}

/// The names of folders that are no paths.
bool is_folder_name(const std::string& name) {
  const auto is_plain = [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  };
  return is_plain(static_cast<unsigned char>(name.front())) && std::all_of(name.begin(), name.end(), [&](char c) {
           return is_plain(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
         });
}

/// Parts of the past stay: a fault that the run has, and all that cannot change late.
void check_changes(const Document& document, const std::string& pointer, const json& before, const json& after) {
  for (const auto& fault : before.at("inject").items())
    if (after.at("inject").value(fault.key(), json()) != fault.value())
      document.reject(pointer,
                      fmt::format("inject.{} as the run has it, as it is part of the common past", fault.key()));
  if (after.at("inject").contains("dma_map_updates") && !before.at("inject").contains("dma_map_updates"))
    document.reject(pointer, "faults other than dma_map_updates, which a program gets at its start");
  json a = before, b = after;
  for (const char* const late : late_pointers)
    for (json* const side : {&a, &b})
      if (const json::json_pointer at(late); side->contains(at)) side->at(at.parent_pointer()).erase(at.back());
  for (const json& difference : json::diff(a, b))
    document.reject(pointer, fmt::format("settings that leave {} as it is", difference.at("path").get<std::string>()));
}

Variant read_variant(const Document& document, std::size_t number, const std::filesystem::path& run,
                     std::vector<std::string> settings, const RunConfiguration& base) {
  const std::string pointer = fmt::format("/variants/{}", number);
  const json& given = document.content.at(json::json_pointer(pointer));
  Variant variant{given.at("name").get<std::string>(), base, false};
  if (!is_folder_name(variant.name))
    document.reject(pointer + "/name", "letters, digits, and . _ - behind the first, as in mca-10");
  for (const auto& [key, value] : given.at("set").items()) {
    if (!may_change_late(key))
      document.reject(pointer + "/set", key, fmt::format("what may change during a run: {}", late_keys));
    settings.push_back(fmt::format("{}={}", key, value.dump()));
  }
  try {
    variant.configuration = load_run(run, settings);
  } catch (const InputError& error) {
    document.reject(pointer + "/set", fmt::format("a variant that the run refuses ({})", error.what()),
                    "settings that the run takes");
  }
  check_changes(document, pointer + "/set", base.resolved, variant.configuration.resolved);
  variant.has_changes = variant.configuration.resolved != base.resolved;
  return variant;
}

}  // namespace

std::vector<Variant> load_variants(const std::filesystem::path& file, const std::filesystem::path& run,
                                   const std::vector<std::string>& settings, const RunConfiguration& base) {
  const Document document = read_document(file, "variants file");
  check_schema(document, "variants");
  std::vector<Variant> variants;
  std::set<std::string> names;
  for (std::size_t i = 0; i < document.content.at("variants").size(); ++i) {
    variants.push_back(read_variant(document, i, run, settings, base));
    if (!names.insert(variants.back().name).second)
      document.reject(fmt::format("/variants/{}/name", i), "a name that no other variant has");
  }
  return variants;
}

}  // namespace t3vp
