#include <fmt/format.h>

#include <charconv>

#include "register_access/names/register_names.h"

namespace t3vp {
namespace {

std::string text_of_number(std::uint64_t number) {
  constexpr std::uint64_t largest_decimal = 4095;  // as in docs/reference/registers.md
  return number <= largest_decimal ? fmt::format("{}", number) : fmt::format("{:#x}", number);
}

std::string text_of_field(const FieldDescription& field, std::uint64_t register_value) {
  const std::uint64_t value = (register_value & field.mask()) >> field.shift;
  for (const EnumerationValue& member : field.values)
    if (member.value == value) return member.name;
  return text_of_number(value);
}

}  // namespace

std::string names_of_values(const FieldDescription& field) {
  std::string names;
  for (const EnumerationValue& member : field.values)
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", member.name, member.value);
  return names;
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  const bool is_hexadecimal = text.substr(0, 2) == "0x";
  if (is_hexadecimal) text.remove_prefix(2);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, is_hexadecimal ? 16 : 10);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string text_of_value(const RegisterPlace& place, std::uint64_t register_value) {
  if (place.field != nullptr) return text_of_field(*place.field, register_value);
  if (place.description->fields.empty()) return text_of_number(register_value);
  std::string text;
  for (const FieldDescription& field : place.description->fields)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", field.name, text_of_field(field, register_value));
  return text;
}

std::uint64_t value_of(const RegisterPlace& place, std::string_view text) {
  const std::uint64_t mask = place.mask();
  const std::uint64_t largest = place.field == nullptr ? mask : mask >> place.field->shift;
  if (place.field != nullptr)
    for (const EnumerationValue& member : place.field->values)
      if (text == member.name) return member.value;
  const std::optional<std::uint64_t> number = number_of(text);
  if (number && *number <= largest) return *number;
  const std::string names = place.field == nullptr ? "" : names_of_values(*place.field);
  const std::string numbers = fmt::format("a number up to {}", text_of_number(largest));
  throw NameError(0, std::string(text), names.empty() ? numbers : "one of " + names + ", or " + numbers);
}

}  // namespace t3vp
