#include "memory/arbitration.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "memory/all_policies.h"

namespace t3vp::memory {
namespace {

bool is_in_bounds(const PolicyParameter& parameter, unsigned value) {
  return value >= parameter.least && value <= parameter.most;
}

/// The parameter behind the dash; nothing when the policy takes no such one.
std::optional<unsigned> value_of(const PolicyParameter& parameter, std::string_view text) {
  if (parameter.text == nullptr) return std::nullopt;
  if (parameter.word != nullptr && text == parameter.word) return parameter.value_of_word;
  unsigned value = 0;
  const auto end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  const bool is_number = read.ec == std::errc() && read.ptr == end && text.front() != '0';
  return is_number && is_in_bounds(parameter, value) ? std::optional(value) : std::nullopt;
}

}  // namespace

bool PolicyParameter::takes(unsigned value) const {
  if (value == 0 || text == nullptr) return value == 0;
  return is_in_bounds(*this, value) || (word != nullptr && value == value_of_word);
}

std::string PolicyParameter::values() const {
  if (text == nullptr) return "0, since it has no parameter,";
  const std::string numbers = fmt::format("0 or {} to {}", least, most);
  return word == nullptr ? numbers : fmt::format("{}, or {} ({})", numbers, value_of_word, word);
}

void require_distinct(const std::vector<const PolicyDescription*>& policies) {
  for (std::size_t i = 0; i < policies.size(); ++i) {
    const PolicyDescription& policy = *policies[i];
    for (std::size_t other = 0; other < i; ++other)
      if (policies[other]->number == policy.number || std::string_view(policies[other]->name) == policy.name)
        throw std::logic_error(
            fmt::format("models/memory/policies: found {} ({}) and {} ({}), expected names and numbers of their own",
                        policies[other]->name, policies[other]->number, policy.name, policy.number));
    const PolicyParameter& p = policy.parameter;
    if (p.text != nullptr && (p.least == 0 || p.least > p.most || p.most >= ArbitrationPolicy::no_limit))
      throw std::logic_error(
          fmt::format("models/memory/policies: {}: found a parameter of {} to {}, expected bounds "
                      "within 1 to {}",
                      policy.name, p.least, p.most, ArbitrationPolicy::no_limit - 1));
  }
}

void require_policies_of(View<EnumerationValue> values, const std::vector<const PolicyDescription*>& policies) {
  for (const EnumerationValue& value : values)
    if (std::none_of(policies.begin(), policies.end(),
                     [&value](const PolicyDescription* policy) { return policy->number == value.value; }))
      throw std::logic_error(
          fmt::format("memory_controller.arbitration.policy: found the value {} ({}) without a "
                      "policy, expected a file in models/memory/policies of that number",
                      value.name, value.value));
}

void refuse_grant(Grant grant, PolicyDescription::Number policy) {
  throw std::logic_error(fmt::format(
      "arbitration policy {}: found {}, expected a stream that is ready, or none with a later cycle to ask "
      "again",
      policy_of(policy).name, grant == Grant::none ? "none without a later cycle" : "a stream that is not ready"));
}

const std::vector<const PolicyDescription*>& known_policies() {
  static const std::vector<const PolicyDescription*> all = [] {
    std::vector<const PolicyDescription*> sorted(std::begin(all_policies), std::end(all_policies));
    std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->number < b->number; });
    require_distinct(sorted);
    return sorted;
  }();
  return all;
}

const PolicyDescription& policy_of(PolicyDescription::Number number) {
  return **std::find_if(known_policies().begin(), known_policies().end(),
                        [number](const PolicyDescription* policy) { return policy->number == number; });
}

std::optional<PolicyChoice> policy_named(std::string_view name) {
  for (const PolicyDescription* policy : known_policies())
    if (name == policy->name) return PolicyChoice{policy, 0};
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash + 1 == name.size()) return std::nullopt;
  for (const PolicyDescription* policy : known_policies()) {
    if (name.substr(0, dash) != policy->name) continue;
    if (const auto limit = value_of(policy->parameter, name.substr(dash + 1))) return PolicyChoice{policy, *limit};
  }
  return std::nullopt;
}

bool ends_with_reduce_scatter(const PolicyChoice& choice) { return choice.policy->ends_with_reduce_scatter; }

std::string policy_names() {
  std::string names;
  for (const PolicyDescription* policy : known_policies()) {
    const PolicyParameter& p = policy->parameter;
    names += (names.empty() ? "" : ", ") + std::string(policy->name);
    if (p.text != nullptr) names += fmt::format(", {0}-{1} to {0}-{2}", policy->name, p.least, p.most);
    if (p.word != nullptr) names += fmt::format(", {}-{}", policy->name, p.word);
  }
  return names;
}

}  // namespace t3vp::memory
