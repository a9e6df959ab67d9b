// Arbitration policies of a shared library, for `policies` of a run file (docs/models/policies.md).
#pragma once

#include <cstddef>

#include "memory/arbitration.h"
#include "protocol/plugin.h"

namespace t3vp::memory {

/// A library of policies shows this table by the name t3vp_policies.
struct PolicyTable {
  PluginBuild build;
  const PolicyDescription* const* policies;
  std::size_t count;
};

constexpr PluginBuild policy_build() {
  return plugin_build<PolicyTable, PolicyDescription, PolicySettings, MemoryParameters, Observation, ArbitrationView,
                      Run, dram::Channel>();
}

}  // namespace t3vp::memory

/// The library's policies, once in one of its sources, outside of namespaces: T3VP_POLICIES(&first, &second);
#define T3VP_POLICIES(...)                                                                                \
  static const t3vp::memory::PolicyDescription* const t3vp_listed_policies[] = {__VA_ARGS__};             \
  T3VP_PLUGIN_TABLE const t3vp::memory::PolicyTable t3vp_policies;                                        \
  const t3vp::memory::PolicyTable t3vp_policies {                                                         \
    t3vp::memory::policy_build(), t3vp_listed_policies, sizeof t3vp_listed_policies / sizeof(const void*) \
  }
