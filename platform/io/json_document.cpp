#include "io/json_document.h"

#include <fmt/format.h>

#include <algorithm>

#include "io/input_file.h"
#include "io/printable.h"

namespace t3vp {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* plain_text = "text without line breaks and other control characters";

constexpr std::size_t most_quoted = 80;

std::string escaped(const std::string& key) {
  std::string token;
  for (const char c : key) {
    if (c == '~')
      token += "~0";
    else if (c == '/')
      token += "~1";
    else
      token += c;
  }
  return token;
}

/// "FILE:line:column" of what is behind the text.
std::string place_behind(const std::string& file, std::string_view before) {
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const auto column = before.size() - (before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1) + 1;
  return fmt::format("{}:{}:{}", file, line, column);
}

/// The parser's message without its preamble: "unexpected X" and "expected Y".
SyntaxError syntax_error(const std::string& file, std::string_view text, const json::parse_error& error) {
  std::string what = printable(error.what());
  std::string expected = "valid JSON";
  if (const auto at = what.rfind("; expected "); at != std::string::npos) {
    expected = what.substr(at + 11);
    what.resize(at);
  }
  if (const auto at = what.find(" - "); at != std::string::npos) what = what.substr(at + 3);
  if (what.rfind("unexpected ", 0) == 0) what = what.substr(11);
  const std::string_view before = text.substr(0, std::min(text.size(), error.byte == 0 ? 0 : error.byte - 1));
  return SyntaxError(place_behind(file, before), what, expected);
}

/// Builds the value and refuses what JSON libraries take without a word or no more than a word: the second of two equal
/// keys, numbers that do not fit, and nesting that would exhaust the stack of whoever descends into it.
class Builder {
 public:
  Builder(std::string file, std::string_view text) : file_(std::move(file)), text_(text) {}

  json result() { return std::move(root_); }

  // The callbacks of json::sax_parse().
  bool null() { return take(nullptr); }
  bool boolean(bool value) { return take(value); }
  bool number_integer(json::number_integer_t value) { return take(value); }
  bool number_unsigned(json::number_unsigned_t value) { return take(value); }
  bool number_float(double value, const std::string& text) {
    const bool is_integer = text.find_first_of(".eE") == std::string::npos;
    const bool is_zero = text.find_first_of("123456789") >= text.find_first_of("eE");
    if (is_integer || (value == 0 && !is_zero)) reject_number(text);
    return take(value);
  }
  bool string(std::string& value) {
    if (has_control_characters(value)) throw InputError(place(), in_short(value), plain_text);
    return take(std::move(value));
  }
  bool binary(json::binary_t& value) { return take(std::move(value)); }
  bool start_object(std::size_t) { return open(json::object()); }
  bool start_array(std::size_t) { return open(json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(const std::string& key) {
    open_.back().key = key;
    if (has_control_characters(key)) throw InputError(place(), in_short(key), plain_text);
    if (open_.back().value->contains(key)) throw InputError(place(), "the key a second time", "every key once");
    return true;
  }
  bool parse_error(std::size_t, const std::string& last_token, const json::exception& error) {
    if (const auto* syntax = dynamic_cast<const json::parse_error*>(&error)) throw syntax_error(file_, text_, *syntax);
    reject_number(last_token);
  }

 private:
  static constexpr std::size_t most_levels = 100;
  struct Container {
    json* value;
    std::string key;
  };

  bool take(json value) {
    put(std::move(value));
    return true;
  }

  json* put(json value) {
    if (open_.empty()) return &(root_ = std::move(value));
    json& parent = *open_.back().value;
    if (parent.is_object()) return &(parent[open_.back().key] = std::move(value));
    parent.push_back(std::move(value));
    return &parent.back();
  }

  bool open(json container) {
    if (open_.size() == most_levels)
      throw InputError(file_, "more than " + std::to_string(most_levels) + " lists and objects in each other", "fewer");
    open_.push_back({put(std::move(container)), ""});
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  [[noreturn]] void reject_number(const std::string& text) const {
    throw InputError(place(), shortened(text),
                     "a number that fits 64 bits, an integer or with point or exponent a double");
  }

  /// The JSON pointer of the value that is being read.
  std::string place() const {
    std::string pointer;
    for (const Container& c : open_)
      pointer += "/" + (c.value->is_object() ? escaped(c.key)
                                             : std::to_string(c.value->size() - (&c == &open_.back() ? 0 : 1)));
    return pointer.empty() ? file_ : file_ + ": " + pointer;
  }

  std::string file_;
  std::string_view text_;
  json root_;
  std::vector<Container> open_;
};

}  // namespace

void InputPlace::reject(const std::string& why, const std::string& expected) const {
  throw InputError(where, given + ", " + why, expected);
}

InputError::InputError(const std::string& where, const std::string& found, const std::string& expected)
    : std::runtime_error(printable(fmt::format("{}: found {}, expected {}", where, found, expected))) {}

std::string shortened(const std::string& text) {
  return text.size() <= most_quoted ? text : text.substr(0, most_quoted) + "...";
}

std::string in_short(const json& value) {
  const std::string text = printable(value.dump(-1, ' ', false, json::error_handler_t::replace));
  if (text.size() > most_quoted && value.is_structured()) return value.is_object() ? "an object" : "a list";
  return shortened(text);
}

/// ASCII's, and those of Latin-1, which UTF-8 writes as C2 80 to C2 9F.
bool has_control_characters(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x20 || c == 0x7F) return true;
    if (c == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0) return true;
  }
  return false;
}

json parse_json(std::string_view text, const std::string& file) {
  // The parser takes it for the end of the file, whatever is behind it.
  if (const auto nul = text.find('\0'); nul != std::string_view::npos)
    throw SyntaxError(place_behind(file, text.substr(0, nul)), "a NUL character", "text");
  Builder builder(file, text);
  json::sax_parse(text, &builder);
  return builder.result();
}

Document read_document(const fs::path& file, const std::string& kind) {
  return {file.string(), "", parse_json(read_input(file, kind), file.string()), {}};
}

Document read_document(const Document& parent, const std::string& pointer, const std::string& kind) {
  return read_document(parent.file_at(pointer, kind), kind);
}

void Document::reject(const std::string& pointer, const std::string& expected) const {
  const json::json_pointer at(pointer);
  reject(pointer, content.contains(at) ? in_short(content.at(at)) : "nothing", expected);
}

void Document::reject(const std::string& pointer, const std::string& found, const std::string& expected) const {
  const std::string full = base + pointer;
  throw InputError(file + ": " + (full.empty() ? "/" : full), found + (is_overridden(pointer) ? " (--set)" : ""),
                   expected);
}

InputPlace Document::place(const std::string& pointer) const {
  const json::json_pointer at(pointer);
  const std::string given = content.contains(at) ? in_short(content.at(at)) : "nothing";
  return {file + ": " + base + pointer, given + (is_overridden(pointer) ? " (--set)" : "")};
}

bool Document::is_overridden(const std::string& pointer) const {
  const auto within = [](const std::string& inner, const std::string& outer) {
    return inner == outer || inner.rfind(outer + "/", 0) == 0;
  };
  return std::any_of(overridden.begin(), overridden.end(), [&](const std::string& set) {
    return within(pointer, set) || (!pointer.empty() && within(set, pointer));
  });
}

fs::path Document::file_at(const std::string& pointer, const std::string& kind) const {
  const json& name = content.at(json::json_pointer(pointer));
  fs::path path = resolve(pointer, name.get<std::string>());
  const std::string fault = input_fault(path);
  if (!fault.empty()) reject(pointer, in_short(name) + ", " + fault, "the path of a " + kind);
  return path;
}

fs::path Document::resolve(const std::string& pointer, const std::string& path) const {
  // A path given by --set is one that the shell has completed: relative to where the user stands.
  std::error_code error;
  if (is_overridden(pointer) && fs::exists(path, error)) return path;
  return (fs::path(file).parent_path() / path).lexically_normal();
}

}  // namespace t3vp
