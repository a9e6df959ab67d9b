// Arbitration policies by the names that run files give them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace t3vp::memory {

struct PolicyDescription;

/// A policy with its parameter, 0 when none is given.
struct PolicyChoice {
  const PolicyDescription* policy = nullptr;
  unsigned limit = 0;
};

/// Why a policy of a library is refused, in words.
struct PolicyRefusal {
  std::string found, expected;
};

/// The policies of a run: those of the platform, and those of its libraries (policy_plugin.h).
class Policies {
 public:
  /// Adds a policy of a library, which gets the next number from plugin_0 on. Returns why it is refused, or nothing.
  std::optional<PolicyRefusal> add(const PolicyDescription& policy);
  /// Returns the policy of this name, with or without a parameter, such as "mca" or "mca-10". Returns nothing when
  /// there is no such policy or parameter. The policy lives as long as a copy of this.
  std::optional<PolicyChoice> named(std::string_view name) const;
  /// Returns the policy of this number in memory_controller.arbitration.policy; null when there is none.
  const PolicyDescription* numbered(std::uint32_t number) const;
  /// "round-robin, mca, mca-1 to mca-254, mca-unlimited": all that named() takes.
  std::string names() const;

 private:
  std::vector<const PolicyDescription*> all() const;

  std::vector<std::shared_ptr<const PolicyDescription>> of_libraries_;
};

/// It is for what overlaps with a GEMM: round-robin serves the all-gather.
bool ends_with_reduce_scatter(const PolicyChoice& choice);

}  // namespace t3vp::memory
