#include "config/policies.h"

#include "memory/policy_plugin.h"

namespace t3vp {
namespace {

constexpr const char* a_library = "a library of arbitration policies (memory/policy_plugin.h)";

}  // namespace

memory::Policies open_policies(const std::vector<SoftwareLibrary>& libraries) {
  memory::Policies policies;
  for (const SoftwareLibrary& library : libraries) {
    const auto& table = *static_cast<const memory::PolicyTable*>(
        plugin_table(library, "t3vp_policies", memory::policy_build(), a_library));
    if (table.count == 0) library.place.reject("a library without policies", a_library);
    for (std::size_t i = 0; i < table.count; ++i)
      if (const auto refusal = policies.add(*table.policies[i]))
        library.place.reject(refusal->found, refusal->expected);
  }
  return policies;
}

}  // namespace t3vp
