#include "io/overrides.h"

#include <algorithm>

namespace t3vp {
namespace {

using nlohmann::json;

/// JSON, or else text; `setting` is the whole "path=value", to quote.
json value_of(const std::string& text, const std::string& setting) {
  try {
    return parse_json(text, "--set " + shortened(setting));
  } catch (const SyntaxError&) {
    try {
      static_cast<void>(json(text).dump());
      if (!has_control_characters(text)) return text;
      throw InputError("--set", in_short(json(setting)), "text without line breaks and other control characters");
    } catch (const json::type_error&) {
      throw InputError("--set", in_short(json(text)), "UTF-8 text");
    }
  }
}

bool is_index(const std::string& key, std::size_t size) {
  return !key.empty() && key.size() <= 6 && key.find_first_not_of("0123456789") == std::string::npos &&
         std::stoul(key) < size;
}

/// The member `key` of `parent`, which lies at `pointer`; null where there is none yet.
json* member(const Document& document, json& parent, const json::json_pointer& pointer, const std::string& key) {
  if (parent.is_object()) return parent.contains(key) ? &parent[key] : nullptr;
  if (parent.is_array() && is_index(key, parent.size())) return &parent[std::stoul(key)];
  const std::string expected = parent.is_array() ? "an index below " + std::to_string(parent.size()) + " in place of "
                                                 : "an object, to set its key ";
  document.reject(pointer.to_string(), expected + key + " by --set");
}

}  // namespace

Override override_of(const std::string& path, const json& value) {
  Override result{path, {}, value};
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find('.', begin), path.size());
    result.path.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

Override parse_override(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) throw InputError("--set", in_short(text), "path=value");
  Override parsed = override_of(text.substr(0, equals), value_of(text.substr(equals + 1), text));
  parsed.text = text;
  if (std::count(parsed.path.begin(), parsed.path.end(), "") > 0)
    throw InputError("--set", in_short(text), "keys between the dots of path=value");
  return parsed;
}

void apply_override(Document& document, const Override& override_) {
  json* parent = &document.content;
  json::json_pointer pointer;
  for (std::size_t i = 0; i + 1 < override_.path.size(); ++i) {
    const std::string& key = override_.path[i];
    json* next = member(document, *parent, pointer, key);
    parent = next ? next : &((*parent)[key] = json::object());
    pointer /= key;
  }
  const std::string& last = override_.path.back();
  json* old = member(document, *parent, pointer, last);
  pointer /= last;
  document.overridden.push_back(pointer.to_string());
  if (!override_.value.is_null()) {
    (old ? *old : (*parent)[last]) = override_.value;
  } else if (old && parent->is_object()) {
    parent->erase(last);
  } else {
    document.reject(pointer.to_string(), "a key that --set can remove");
  }
}

}  // namespace t3vp
