// Arbitration policies by the names that run files give them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace t3vp::memory {

struct PolicyDescription;

/// A policy with its parameter, 0 when none is given.
struct PolicyChoice {
  const PolicyDescription* policy = nullptr;
  unsigned limit = 0;
};

/// Returns the policy of this name, with or without a parameter, such as "mca" or "mca-10". Returns nothing when there
/// is no such policy or parameter.
std::optional<PolicyChoice> policy_named(std::string_view name);
/// It is for what overlaps with a GEMM: round-robin serves the all-gather.
bool ends_with_reduce_scatter(const PolicyChoice& choice);
/// "round-robin, mca, mca-1 to mca-254, mca-unlimited": all that policy_named() takes.
std::string policy_names();

}  // namespace t3vp::memory
