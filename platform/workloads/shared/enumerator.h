// Words of run files as enumerators.
#pragma once

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

namespace t3vp {

/// The one of `all` that name_of() calls so; the schema has checked that there is one.
template <typename Enum, std::size_t count>
Enum enumerator(const nlohmann::json& name, const Enum (&all)[count]) {
  return *std::find_if(std::begin(all), std::end(all), [&](Enum e) { return name == name_of(e); });
}

}  // namespace t3vp
