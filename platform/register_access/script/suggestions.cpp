#include "register_access/script/suggestions.h"

#include <algorithm>

namespace t3vp {
namespace {

bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '[' || c == ']';
}

std::size_t begin_of_name(std::string_view line) {
  std::size_t begin = line.size();
  while (begin > 0 && is_of_name(line[begin - 1])) --begin;
  return begin;
}

std::string_view without_end(std::string_view text, std::string_view characters) {
  const std::size_t last = text.find_last_not_of(characters);
  return last == std::string_view::npos ? std::string_view() : text.substr(0, last + 1);
}

/// The last name of a text.
std::string_view last_name(std::string_view text) { return text.substr(begin_of_name(text)); }

class Suggester {
 public:
  Suggester(std::string_view line, const ScriptMachine& machine)
      : before_(line.substr(0, begin_of_name(line))), begun_(line.substr(before_.size())), machine_(machine) {}

  Suggestions suggestions() {
    const std::string_view before = without_end(before_, " \t");
    if (const std::size_t brace = before_.rfind('{'); brace != std::string_view::npos)
      offer_in_braces(before, brace);
    else if (!before.empty() && (before.back() == '=' || before.back() == '<' || before.back() == '>'))
      offer_values(last_name(without_end(before, " \t=!<>")), {});
    else
      offer_names(before);
    return {begun_.size(), std::move(texts_)};
  }

 private:
  void offer(const std::string& text) {
    if (std::string_view(text).substr(0, begun_.size()) == begun_) texts_.push_back(text);
  }

  /// Offers names at the start of a statement, or after a verb.
  void offer_names(std::string_view before) {
    const bool is_behind_verb =
        std::any_of(std::begin(script_verbs), std::end(script_verbs), [&](const char* verb) { return before == verb; });
    if (!before.empty() && !is_behind_verb) return;
    if (before == "delay") return;
    if (before.empty())
      for (const char* verb : script_verbs) offer(verb);
    for (std::string& name : completions_of(begun_, machine_.gpus)) texts_.push_back(std::move(name));
  }

  /// Fields of the register before the brace, or values of the field before the sign.
  void offer_in_braces(std::string_view before, std::size_t brace) {
    const std::string_view name = last_name(without_end(before_.substr(0, brace), " \t="));
    if (before.back() == '=') return offer_values(name, last_name(without_end(before, " \t=")));
    if (before.back() != '{' && before.back() != ',') return;
    try {
      for (const FieldDescription& field : find_register(name).description->fields) offer(field.name);
    } catch (const NameError&) {
    }
  }

  void offer_values(std::string_view name, std::string_view field) {
    try {
      const std::string whole = field.empty() ? std::string(name) : std::string(name) + '.' + std::string(field);
      const RegisterPlace place = find_register(whole);
      if (place.field == nullptr) return;
      for (const EnumerationValue& value : place.field->values) offer(value.name);
    } catch (const NameError&) {
    }
  }

  std::string_view before_, begun_;
  const ScriptMachine& machine_;
  std::vector<std::string> texts_;
};

}  // namespace

Suggestions suggestions_for(std::string_view line, const ScriptMachine& machine) {
  return Suggester(line, machine).suggestions();
}

}  // namespace t3vp
