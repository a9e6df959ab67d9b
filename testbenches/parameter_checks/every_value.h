// Every parameter of a structure, one after the other, at values that break what does not check.
#pragma once

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "parameter_checks/child.h"
#include "parameter_checks/described_range.h"
#include "t3/kernel_parameters.h"

namespace t3vp {

template <typename T>
std::vector<T> trying_values() {
  if constexpr (std::is_floating_point_v<T>)
    return {0, 1, 3, -1, 1e-300, 1e300, std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()};
  else
    return {0, 1, 3, 48, std::numeric_limits<T>::max() / 2 + 1, std::numeric_limits<T>::max()};
}

/// Calls act(value as a double, function that sets the member).
template <typename T, typename Act>
void for_values_of(T&, const Act& act) {
  if constexpr (std::is_enum_v<T>) {
    for (const int value : {0, 1, 200}) act(value, [value](T& member) { member = static_cast<T>(value); });
  } else if constexpr (std::is_same_v<T, bool>) {
    for (const bool value : {false, true}) act(value, [value](bool& member) { member = value; });
  } else {
    for (const T value : trying_values<T>()) act(static_cast<double>(value), [value](T& member) { member = value; });
  }
}

template <typename Act>
void for_values_of(std::array<double, 3>&, const Act& act) {
  for (const double value : trying_values<double>())
    act(value, [value](std::array<double, 3>& member) { member.fill(value); });
}

template <typename P>
P defaults_of() {
  if constexpr (std::is_same_v<P, t3_kernel_parameters>) return t3_default_kernel_parameters();
  return {};
}

inline bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// `work` constructs with the parameters, and may simulate. With each value it does so, or ParameterError is about this
/// parameter, expected by the description, or about a rule. `P` has check_parameters() and visit_parameters().
template <typename P>
void try_every_value(const std::string& description, const std::function<void(const P&)>& work) {
  unsigned tried = 0;
  P names = defaults_of<P>();
  visit_parameters(names, [&](const char* name, auto& sample) {
    using Member = std::remove_reference_t<decltype(sample)>;
    for_values_of(sample, [&](double value, const auto& set) {
      const bool is_described = std::is_same_v<Member, bool> || DescribedRange(description, name).has(value);
      const ChildEnd end = run_in_child([&] {
        P parameters = defaults_of<P>();
        visit_parameters(parameters, [&](const char* other, auto& member) {
          if constexpr (std::is_same_v<std::remove_reference_t<decltype(member)>, Member>)
            if (std::string(other) == name) set(member);
        });
        work(parameters);
      });
      INFO(description << ": " << name << " = " << value << ": " << end.text);
      CHECK_FALSE(end.crashed);
      if (!is_described) CHECK(ends_with(end.parameter, name));
      ++tried;
    });
  });
  CHECK(tried > 0);
}

}  // namespace t3vp
