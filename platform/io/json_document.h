// A JSON file of the user with what is needed to say where in it something is wrong.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "io/input_error.h"

namespace t3vp {

struct Document {
  std::string file;  ///< as the user named it
  std::string base;  ///< JSON pointer of `content` in the file; empty unless it is written inline
  nlohmann::json content;
  std::vector<std::string> overridden;  ///< JSON pointers that --set has written

  /// Throws InputError about the value at `pointer`, quoting it.
  [[noreturn]] void reject(const std::string& pointer, const std::string& expected) const;
  [[noreturn]] void reject(const std::string& pointer, const std::string& found, const std::string& expected) const;
  /// For rejections that come later.
  InputPlace place(const std::string& pointer) const;
  /// The file that the value at `pointer` names. Throws InputError when it cannot be read; `kind` as in
  /// read_document().
  std::filesystem::path file_at(const std::string& pointer, const std::string& kind) const;
  /// The path at `pointer`, relative to this file's folder.
  std::filesystem::path resolve(const std::string& pointer, const std::string& path) const;
  /// --set has written the value at the pointer, a part of it or what contains it.
  bool is_overridden(const std::string& pointer) const;
};

/// An error about text that is no JSON at all. Other InputErrors are about JSON with wrong contents.
struct SyntaxError : InputError {
  using InputError::InputError;
};

/// Parses strict JSON in which no object has a key twice, every number fits its type and no text or key has control
/// characters, which nothing needs and terminals and gnuplot obey. `kind` says what the file
/// should be ("run file").
Document read_document(const std::filesystem::path& file, const std::string& kind);
/// Reads the file that `parent` names at `pointer`.
Document read_document(const Document& parent, const std::string& pointer, const std::string& kind);
nlohmann::json parse_json(std::string_view text, const std::string& file);

bool has_control_characters(const std::string& text);

/// A value and a text as an error message quotes them: short.
std::string in_short(const nlohmann::json& value);
std::string shortened(const std::string& text);

}  // namespace t3vp
