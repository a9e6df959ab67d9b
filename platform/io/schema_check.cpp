#include "io/schema_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "io/described_keys.h"
#include "io/embedded_texts.h"
#include "io/overrides.h"

namespace t3vp {
namespace {

using nlohmann::json;
using Error = valijson::ValidationResults::Error;

/// A schema as it is written and as the validator wants it; made once, as an experiment checks thousands of files.
class CheckedSchema {
 public:
  explicit CheckedSchema(const std::string& name)
      : root_(parse_json(embedded_text(name + ".schema.json"), name + ".schema.json")) {
    const valijson::adapters::NlohmannJsonAdapter adapter(root_);
    valijson::SchemaParser().populateSchema(adapter, schema_);
  }

  const json& root() const { return root_; }
  const valijson::Schema& schema() const { return schema_; }

 private:
  json root_;
  valijson::Schema schema_;
};

const CheckedSchema& schema_named(const std::string& name) {
  static std::map<std::string, CheckedSchema> schemas;
  return schemas.try_emplace(name, name).first->second;
}

const json& without_reference(const json& root, const json& subschema) {
  if (!subschema.contains("$ref")) return subschema;
  return root.at(json::json_pointer(subschema.at("$ref").get<std::string>().substr(1)));
}

/// The subschema for one key or index below `parent`, null where anything goes.
const json* below(const json& root, const json& parent, const std::string& token) {
  const auto properties = parent.find("properties");
  if (properties != parent.end() && properties->contains(token)) return &without_reference(root, properties->at(token));
  for (const char* rest : {"additionalProperties", "items"})
    if (parent.contains(rest) && parent.at(rest).is_object()) return &without_reference(root, parent.at(rest));
  return nullptr;
}

const json* subschema_at(const json& root, const json::json_pointer& pointer) {
  if (pointer.empty()) return &root;
  const json* parent = subschema_at(root, pointer.parent_pointer());
  return parent ? below(root, *parent, pointer.back()) : nullptr;
}

/// The schema of the file that has a key, and its place in the file.
std::pair<const json*, json::json_pointer> place_of(const std::string& path) {
  std::vector<std::string> keys = override_of(path, {}).path;
  const auto take = [&](const std::vector<std::string>& first) {
    if (keys.size() <= first.size() || !std::equal(first.begin(), first.end(), keys.begin())) return false;
    keys.erase(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(first.size()));
    return true;
  };
  const char* const schema = take({"memory"}) || take({"system", "memory", "dram"}) ? "memory"
                             : take({"system"})                                     ? "system"
                                                                                    : "run";
  json::json_pointer pointer;
  for (const std::string& key : keys) pointer.push_back(key);
  return {&schema_named(schema).root(), pointer};
}

/// valijson's context is "<root>", "[key]", "[0]", ...
json::json_pointer pointer_of(const Error& error) {
  json::json_pointer pointer;
  for (const std::string& step : error.context)
    if (step.size() >= 2 && step.front() == '[') pointer.push_back(step.substr(1, step.size() - 2));
  return pointer;
}

std::string bounds_in_words(const json& s) {
  const auto value = [&](const char* key) { return s.at(key).dump(); };
  if (s.contains("exclusiveMinimum"))
    return " above " + value("exclusiveMinimum") + (s.contains("maximum") ? " and at most " + value("maximum") : "");
  if (s.contains("minimum") && s.contains("maximum")) return " from " + value("minimum") + " to " + value("maximum");
  if (s.contains("minimum")) return " of at least " + value("minimum");
  return s.contains("maximum") ? " of at most " + value("maximum") : "";
}

std::string type_in_words(const std::string& type, const json& s) {
  if (type == "integer") return "an integer" + bounds_in_words(s);
  if (type == "number") return "a number" + bounds_in_words(s);
  if (type == "boolean") return "true or false";
  if (type == "object") {
    const int least = s.value("minProperties", 0);
    if (least > 1) return fmt::format("an object with at least {} keys", least);
    return least == 1 ? "an object with at least one key" : "an object";
  }
  if (type == "array") {
    const bool fixed = s.contains("minItems") && s.value("maxItems", json()) == s.at("minItems");
    if (!fixed && s.value("minItems", 1) > 1)
      return fmt::format("a list of {} to {}", s.at("minItems").dump(), s.at("maxItems").dump());
    return fixed ? fmt::format("a list of {}", s.at("minItems").dump()) : "a list that is not empty";
  }
  if (s.contains("examples")) return "a string like " + s.at("examples").front().get<std::string>();
  return s.contains("minLength") ? "a string that is not empty" : "a string";
}

std::string with_dots(const json::json_pointer& pointer) {
  std::string path = pointer.to_string().substr(1);
  std::replace(path.begin(), path.end(), '/', '.');
  return path;
}

[[noreturn]] void reject_unknown_key(const Document& document, const std::string& file, const json& root,
                                     const json::json_pointer& parent, const std::string& key) {
  if (const std::string moved = new_path_of(file, with_dots(parent / key)); !moved.empty())
    document.reject((parent / key).to_string(), "a key that has moved", moved);
  std::vector<std::string> known;
  if (const json* subschema = subschema_at(root, parent); subschema && subschema->contains("properties"))
    for (const auto& property : subschema->at("properties").items())
      if (property.key() != "$schema") known.push_back(property.key());
  document.reject((parent / key).to_string(), "an unknown key", fmt::format("one of {}", fmt::join(known, ", ")));
}

/// A key of `object` that its subschema does not know: likelier the user's mistake than the key that is then missing.
std::optional<std::string> unknown_key(const json& root, const json::json_pointer& parent, const json& object) {
  const json* subschema = subschema_at(root, parent);
  if (!subschema || !object.is_object() || subschema->value("additionalProperties", json()) != json(false)) return {};
  for (const auto& member : object.items())
    if (!subschema->at("properties").contains(member.key())) return member.key();
  return {};
}

std::optional<std::string> missing_key(const Error& error) {
  const std::string start = "Missing required property '";
  if (error.description.rfind(start, 0) != 0) return {};
  return error.description.substr(start.size(), error.description.rfind('\'') - start.size());
}

/// The word for a former one, as the subschema's "formerly" has it; none for any other value.
std::optional<std::string> new_word_for(const json& subschema, const json& value) {
  if (!subschema.contains("formerly") || !value.is_string()) return {};
  const json& words = subschema.at("formerly");
  const auto word = words.find(value.get<std::string>());
  if (word == words.end()) return {};
  return word->get<std::string>();
}

[[noreturn]] void reject(const Document& document, const json& root, const Error& error) {
  json::json_pointer pointer = pointer_of(error);
  if (const auto key = missing_key(error)) pointer /= *key;
  const json* subschema = subschema_at(root, pointer);
  if (subschema && document.content.contains(pointer))
    if (const auto word = new_word_for(*subschema, document.content.at(pointer)))
      document.reject(pointer.to_string(), fmt::format("the former word {}", document.content.at(pointer).dump()),
                      *word);
  document.reject(pointer.to_string(), subschema ? admitted(*subschema) : "what " + error.description + " says");
}

}  // namespace

std::string admitted(const json& s) {
  if (s.contains("enum")) {
    std::vector<std::string> members;
    for (const json& member : s.at("enum"))
      members.push_back(member.is_string() ? member.get<std::string>() : member.dump());
    return members.size() == 1 ? members.front() : fmt::format("one of {}", fmt::join(members, ", "));
  }
  if (!s.contains("type")) return "a value";
  if (s.at("type").is_string()) return type_in_words(s.at("type").get<std::string>(), s);
  std::vector<std::string> types;
  for (const json& type : s.at("type")) types.push_back(type_in_words(type.get<std::string>(), s));
  return fmt::format("{}", fmt::join(types, " or "));
}

bool is_key_of_run(const std::string& path) {
  const auto [root, pointer] = place_of(path);
  for (json::json_pointer at = pointer; !at.empty(); at = at.parent_pointer()) {
    const json* parent = subschema_at(*root, at.parent_pointer());
    if (parent && !below(*root, *parent, at.back()) && parent->value("additionalProperties", json()) == json(false))
      return false;
  }
  return true;
}

bool is_whole_number(const std::string& path) {
  const auto [root, pointer] = place_of(path);
  const json* subschema = subschema_at(*root, pointer);
  return subschema && subschema->value("type", json()) == "integer";
}

void check_schema(const Document& document, const std::string& name) {
  const CheckedSchema& checked = schema_named(name);
  valijson::ValidationResults results;
  const valijson::adapters::NlohmannJsonAdapter target(document.content);
  if (valijson::Validator().validate(checked.schema(), target, &results)) return;
  const json& root = checked.root();

  for (const Error& error : results) {
    const json::json_pointer parent = pointer_of(error);
    if (!document.content.contains(parent)) continue;
    if (const auto key = unknown_key(root, parent, document.content.at(parent)))
      reject_unknown_key(document, name, root, parent, *key);
  }
  reject(document, root, *results.begin());
}

}  // namespace t3vp
