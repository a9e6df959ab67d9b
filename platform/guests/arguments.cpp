#include "guests/arguments.h"

#include <cmath>
#include <limits>

namespace t3vp {
namespace {

template <typename Type>
std::optional<Type> copy_of(const Type* value) {
  return value == nullptr ? std::nullopt : std::optional<Type>(*value);
}

/// Nothing when it has more digits than a double.
template <typename Integer>
std::optional<double> exactly(Integer value) {
  const auto number = static_cast<double>(value);
  const bool fits = number < std::ldexp(1.0, std::numeric_limits<Integer>::digits);
  return fits && static_cast<Integer>(number) == value ? std::optional<double>(number) : std::nullopt;
}

}  // namespace

const ArgumentValue* Arguments::find(const std::string& name) {
  asked_.insert(name);
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

template <typename Type>
const Type* Arguments::value(const std::string& name, const char* expected) {
  const ArgumentValue* const given = find(name);
  const Type* const value = given == nullptr ? nullptr : std::get_if<Type>(given);
  if (value == nullptr) refusals_.push_back({name, expected});
  return value;
}

bool Arguments::has(const std::string& name) { return find(name) != nullptr; }

std::optional<std::uint64_t> Arguments::whole_number(const std::string& name) {
  return copy_of(value<std::uint64_t>(name, "an integer from 0 to 18446744073709551615"));
}

std::optional<double> Arguments::number(const std::string& name) {
  const ArgumentValue* const given = find(name);
  std::optional<double> number;
  if (const auto* const whole = std::get_if<std::uint64_t>(given))
    number = exactly(*whole);
  else if (const auto* const negative = std::get_if<std::int64_t>(given))
    number = exactly(*negative);
  else
    return copy_of(value<double>(name, "a number"));
  if (!number) refusals_.push_back({name, "a number that a double holds exactly"});
  return number;
}

std::optional<bool> Arguments::truth(const std::string& name) { return copy_of(value<bool>(name, "true or false")); }

const std::string* Arguments::text(const std::string& name) { return value<std::string>(name, "a text"); }

std::vector<std::string> Arguments::unused() const {
  std::vector<std::string> names;
  for (const auto& argument : values_)
    if (asked_.count(argument.first) == 0) names.push_back(argument.first);
  return names;
}

}  // namespace t3vp
