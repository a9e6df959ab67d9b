// The parameters of a module, checked before its first member is made.
#pragma once

#include <string>
#include <systemc>

#include "protocol/parameter_check.h"

namespace t3vp {

/// Returns the path that a module of this name has where it is constructed, such as "node.gpu0.cache".
inline std::string path_of(const sc_core::sc_module_name& name) {
  const sc_core::sc_object* const parent = sc_core::sc_get_curr_simcontext()->hierarchy_curr();
  const std::string own = static_cast<const char*>(name);
  return parent == nullptr ? own : std::string(parent->name()) + "." + own;
}

/// Returns the name, for the initializer of the base class. Throws ParameterError when check_parameters() of one of the
/// structures does.
template <typename... Parameters>
const sc_core::sc_module_name& checked(const sc_core::sc_module_name& name, const Parameters&... parameters) {
  const ParameterCheck check(path_of(name));
  (check_parameters(check, parameters), ...);
  return name;
}

}  // namespace t3vp
