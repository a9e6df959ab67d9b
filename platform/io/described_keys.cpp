#include "io/described_keys.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <cstring>

namespace t3vp {
namespace {

using nlohmann::json;

std::string in_lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// A JSON pointer.
std::string pointer_to(const std::string& path) {
  std::string pointer = path.empty() ? "" : "/" + path;
  std::replace(pointer.begin(), pointer.end(), '.', '/');
  return pointer;
}

bool is_power_of_two(std::uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

bool is_optional(const DescribedKey& section) {
  const auto is_required = [&](const DescribedKey& key) {
    return std::strcmp(key.file, section.file) == 0 && std::strcmp(key.section, section.section) == 0 &&
           std::strcmp(key.fallback, "required") == 0;
  };
  return std::none_of(described_keys().begin(), described_keys().end(), is_required);
}

}  // namespace

std::string DescribedKey::path_in_file() const { return *section == '\0' ? name : fmt::format("{}.{}", section, name); }

std::vector<DescribedKey> keys_like(const std::string& pattern) {
  const std::string wanted = in_lower_case(pattern);
  const bool is_glob = wanted.find_first_of("*?[") != std::string::npos;
  std::vector<DescribedKey> found;
  for (const DescribedKey& key : described_keys()) {
    const std::string path = in_lower_case(key.path);
    if (is_glob ? fnmatch(wanted.c_str(), path.c_str(), 0) == 0 : path.find(wanted) != std::string::npos)
      found.push_back(key);
  }
  return found;
}

std::string key_table(const std::vector<DescribedKey>& keys) {
  std::vector<std::vector<std::string>> rows;
  for (const DescribedKey& key : keys)
    rows.push_back({key.path, *key.unit == '\0' ? "-" : key.unit, key.range, key.fallback, key.text});
  std::string table;
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t column = 0; column + 1 < row.size(); ++column) {
      std::size_t width = 0;
      for (const std::vector<std::string>& other : rows) width = std::max(width, other[column].size());
      table += fmt::format("{:<{}}  ", row[column], width);
    }
    table += row.back() + "\n";
  }
  return table;
}

void check_described(const Document& document, const std::string& file) {
  for (const DescribedKey& key : described_keys()) {
    if (file != key.file || (!key.power_of_two && key.multiple_of == 0)) continue;
    const std::string pointer = pointer_to(key.path_in_file());
    if (!document.content.contains(json::json_pointer(pointer))) continue;
    const auto value = document.content.at(json::json_pointer(pointer)).get<std::uint64_t>();
    if (key.power_of_two && !is_power_of_two(value)) document.reject(pointer, "a power of two");
    if (key.multiple_of != 0 && value % key.multiple_of != 0)
      document.reject(pointer, fmt::format("a multiple of {}", key.multiple_of));
  }
}

void complete_described(json& content, const std::string& file) {
  for (const DescribedKey& key : described_keys()) {
    if (file != key.file || *key.value == '\0') continue;
    const json::json_pointer section(pointer_to(key.section));
    if (!content.contains(section) && is_optional(key)) content[section] = json::object();
    if (!content.contains(section) || !content.at(section).is_object() || content.at(section).contains(key.name))
      continue;
    content[section][key.name] = json::parse(key.value);
  }
}

std::string new_path_of(const std::string& file, const std::string& former) {
  for (const DescribedKey& key : described_keys())
    if (file == key.file && former == key.formerly && *key.formerly != '\0') return key.path_in_file();
  return {};
}

}  // namespace t3vp
