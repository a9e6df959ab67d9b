// A JSON file of the user with what is needed to say where in it something is wrong.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "platform/input_error.h"

namespace t3vp {

struct Document {
  std::string file;  ///< as the user named it
  std::string base;  ///< JSON pointer of `content` in the file; empty unless it is written inline
  nlohmann::json content;
  std::vector<std::string> overridden;  ///< JSON pointers that --set has written

  /// Throws InputError about the value at `pointer`, quoting it.
  [[noreturn]] void reject(const std::string& pointer, const std::string& expected) const;
  [[noreturn]] void reject(const std::string& pointer, const std::string& found, const std::string& expected) const;
  /// The folder that paths at `pointer` are relative to.
  std::filesystem::path resolve(const std::string& pointer, const std::string& path) const;

 private:
  bool is_overridden(const std::string& pointer) const;
};

/// Parses strict JSON in which no object has a key twice. `kind` says what the file should be ("run file").
Document read_document(const std::filesystem::path& file, const std::string& kind);
nlohmann::json parse_json(std::string_view text, const std::string& file);

/// A value as an error message quotes it: one short line.
std::string in_short(const nlohmann::json& value);

}  // namespace t3vp
