#include "platform/json_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

namespace t3vp {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::string without_control_characters(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  return text;
}

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

/// Follows the parser to refuse the second of two equal keys, which JSON libraries silently drop, and nesting that
/// would exhaust the stack of whoever descends into it.
class Watch {
 public:
  explicit Watch(std::string file) : file_(std::move(file)) {}

  bool operator()(int, json::parse_event_t event, json& parsed) {
    switch (event) {
      case json::parse_event_t::object_start:
      case json::parse_event_t::array_start:
        if (open_.size() == most_levels)
          throw InputError(file_, "more than " + std::to_string(most_levels) + " lists and objects in each other",
                           "fewer");
        open_.push_back({});
        open_.back().is_array = event == json::parse_event_t::array_start;
        break;
      case json::parse_event_t::key:
        take(parsed.get<std::string>());
        break;
      case json::parse_event_t::object_end:
      case json::parse_event_t::array_end:
        open_.pop_back();
        [[fallthrough]];
      case json::parse_event_t::value:
        if (!open_.empty()) ++open_.back().index;
        break;
    }
    return true;
  }

 private:
  static constexpr std::size_t most_levels = 100;
  struct Container {
    bool is_array = false;
    std::size_t index = 0;
    std::string key;
    std::set<std::string> keys;
  };

  void take(const std::string& key) {
    open_.back().key = key;
    if (!open_.back().keys.insert(key).second)
      throw InputError(file_ + ": " + without_control_characters(pointer()), "the key a second time", "every key once");
  }

  std::string pointer() const {
    std::string text;
    for (const Container& c : open_) text += "/" + (c.is_array ? std::to_string(c.index) : escaped(c.key));
    return text;
  }

  std::string file_;
  std::vector<Container> open_;
};

/// The parser's message without its preamble: "unexpected X" and "expected Y".
InputError syntax_error(const std::string& file, std::string_view text, const json::parse_error& error) {
  const std::string_view before = text.substr(0, std::min(text.size(), error.byte == 0 ? 0 : error.byte - 1));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const auto column = before.size() - (before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1) + 1;

  std::string what = without_control_characters(error.what());
  std::string expected = "valid JSON";
  if (const auto at = what.rfind("; expected "); at != std::string::npos) {
    expected = what.substr(at + 11);
    what.resize(at);
  }
  if (const auto at = what.find(" - "); at != std::string::npos) what = what.substr(at + 3);
  if (what.rfind("unexpected ", 0) == 0) what = what.substr(11);
  return InputError(fmt::format("{}:{}:{}", file, line, column), what, expected);
}

std::string text_of(const fs::path& file, const std::string& kind) {
  std::error_code error;
  if (!fs::exists(file, error)) throw InputError(file.string(), "no such file", "a " + kind);
  std::ifstream in(file, std::ios::binary);
  if (fs::is_directory(file, error) || !in)
    throw InputError(file.string(), "something that cannot be read", "a " + kind);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

InputError::InputError(const std::string& where, const std::string& found, const std::string& expected)
    : std::runtime_error(without_control_characters(fmt::format("{}: found {}, expected {}", where, found, expected))) {
}

std::string in_short(const json& value) {
  constexpr std::size_t longest = 80;
  std::string text = without_control_characters(value.dump(-1, ' ', false, json::error_handler_t::replace));
  if (text.size() <= longest) return text;
  return value.is_object() ? "an object" : value.is_array() ? "a list" : text.substr(0, longest) + "...";
}

json parse_json(std::string_view text, const std::string& file) {
  try {
    return json::parse(text, Watch(file));
  } catch (const json::parse_error& error) {
    throw syntax_error(file, text, error);
  } catch (const json::exception& error) {
    throw InputError(file, error.what(), "valid JSON");
  }
}

Document read_document(const fs::path& file, const std::string& kind) {
  return {file.string(), "", parse_json(text_of(file, kind), file.string()), {}};
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

bool Document::is_overridden(const std::string& pointer) const {
  const auto within = [](const std::string& inner, const std::string& outer) {
    return inner == outer || inner.rfind(outer + "/", 0) == 0;
  };
  return std::any_of(overridden.begin(), overridden.end(), [&](const std::string& set) {
    return within(pointer, set) || (!pointer.empty() && within(set, pointer));
  });
}

fs::path Document::resolve(const std::string& pointer, const std::string& path) const {
  // A path given by --set is one that the shell has completed: relative to where the user stands.
  if (is_overridden(pointer) && fs::exists(path)) return path;
  return (fs::path(file).parent_path() / path).lexically_normal();
}

}  // namespace t3vp
