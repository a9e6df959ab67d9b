#include "memory/arbitration.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "memory/all_policies.h"
#include "protocol/plain_name.h"

namespace t3vp::memory {
namespace {

constexpr auto first_plugin = PolicyDescription::given_by_platform;
constexpr std::size_t most_plugins = T3_MEMORY_CONTROLLER_ARBITRATION_POLICY_PLUGIN_7 - first_plugin + 1;

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

/// Why the register cannot hold the parameter; nothing when it can.
std::optional<PolicyRefusal> refusal_of(const PolicyParameter& p) {
  if (p.text == nullptr || (p.least != 0 && p.least <= p.most && p.most < ArbitrationPolicy::no_limit)) return {};
  return PolicyRefusal{fmt::format("a parameter of {} to {}", p.least, p.most),
                       fmt::format("bounds within 1 to {}", ArbitrationPolicy::no_limit - 1)};
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
    if (const auto refusal = refusal_of(policy.parameter))
      throw std::logic_error(fmt::format("models/memory/policies: {}: found {}, expected {}", policy.name,
                                         refusal->found, refusal->expected));
  }
}

void require_policies_of(View<EnumerationValue> values, const std::vector<const PolicyDescription*>& policies) {
  for (const EnumerationValue& value : values)
    if (value.value < first_plugin &&
        std::none_of(policies.begin(), policies.end(),
                     [&value](const PolicyDescription* policy) { return policy->number == value.value; }))
      throw std::logic_error(
          fmt::format("memory_controller.arbitration.policy: found the value {} ({}) without a "
                      "policy, expected a file in models/memory/policies of that number",
                      value.name, value.value));
}

void refuse_grant(Grant grant, const PolicyDescription& policy) {
  throw std::logic_error(
      fmt::format("arbitration policy {}: found {}, expected a stream that is ready, or none with a later cycle to ask "
                  "again",
                  policy.name, grant == Grant::none ? "none without a later cycle" : "a stream that is not ready"));
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

std::optional<PolicyRefusal> Policies::add(const PolicyDescription& policy) {
  const std::string name = policy.name == nullptr ? "" : policy.name;
  if (!is_plain_name(name)) return PolicyRefusal{fmt::format("a policy \"{}\"", name), a_plain_name};
  if (named(name)) return PolicyRefusal{fmt::format("a policy {}, which there is already", name), "another name"};
  if (policy.text == nullptr || policy.make == nullptr)
    return PolicyRefusal{fmt::format("a policy {} without text or make", name), "all members of PolicyDescription"};
  if (const auto refusal = refusal_of(policy.parameter))
    return PolicyRefusal{fmt::format("{} of the policy {}", refusal->found, name), refusal->expected};
  if (of_libraries_.size() == most_plugins)
    return PolicyRefusal{fmt::format("a policy {} behind {} others", name, most_plugins),
                         fmt::format("at most {} policies of libraries", most_plugins)};
  PolicyDescription numbered = policy;
  numbered.number = first_plugin + static_cast<PolicyDescription::Number>(of_libraries_.size());
  of_libraries_.push_back(std::make_shared<const PolicyDescription>(numbered));
  return {};
}

std::vector<const PolicyDescription*> Policies::all() const {
  std::vector<const PolicyDescription*> policies = known_policies();
  for (const auto& policy : of_libraries_) policies.push_back(policy.get());
  return policies;
}

const PolicyDescription* Policies::numbered(std::uint32_t number) const {
  for (const PolicyDescription* policy : all())
    if (policy->number == number) return policy;
  return nullptr;
}

std::optional<PolicyChoice> Policies::named(std::string_view name) const {
  for (const PolicyDescription* policy : all())
    if (name == policy->name) return PolicyChoice{policy, 0};
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash + 1 == name.size()) return std::nullopt;
  for (const PolicyDescription* policy : all()) {
    if (name.substr(0, dash) != policy->name) continue;
    if (const auto limit = value_of(policy->parameter, name.substr(dash + 1))) return PolicyChoice{policy, *limit};
  }
  return std::nullopt;
}

std::string Policies::names() const {
  std::string names;
  for (const PolicyDescription* policy : all()) {
    const PolicyParameter& p = policy->parameter;
    names += (names.empty() ? "" : ", ") + std::string(policy->name);
    if (p.text != nullptr) names += fmt::format(", {0}-{1} to {0}-{2}", policy->name, p.least, p.most);
    if (p.word != nullptr) names += fmt::format(", {}-{}", policy->name, p.word);
  }
  return names;
}

bool ends_with_reduce_scatter(const PolicyChoice& choice) { return choice.policy->ends_with_reduce_scatter; }

}  // namespace t3vp::memory
