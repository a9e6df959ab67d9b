// How a plug-in, a shared library of somebody's own, was built. Classes of C++ cross its border, so its headers,
// compiler and standard have to be the platform's. A table of the library begins with a PluginBuild, and the platform
// calls nothing of a library that was built in another way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace t3vp {

struct PluginBuild {
  std::uint32_t version;   ///< plugin_version
  std::uint32_t standard;  ///< of C++: 201703
  std::uint64_t layout;    ///< layout_of() the classes that cross the border
  const char* compiler;    ///< its version, in its own words
};

/// It is raised when a name or a meaning in the headers that plug-ins include changes.
constexpr std::uint32_t plugin_version = 1;

/// Returns a number that changes with the classes' sizes, and with those of the C++ library.
template <typename... Classes>
constexpr std::uint64_t layout_of() {
  std::uint64_t layout = 0;
  for (const std::size_t size : {sizeof(Classes)..., sizeof(std::string), sizeof(std::vector<int>)})
    layout = layout * 1'000'003 + size;
  return layout;
}

/// Returns the build of the source that calls it.
template <typename... Classes>
constexpr PluginBuild plugin_build() {
  return {plugin_version, __cplusplus, layout_of<Classes...>(), __VERSION__};
}

}  // namespace t3vp

/// For a table of a library: it alone is seen from outside.
#define T3VP_PLUGIN_TABLE extern "C" __attribute__((visibility("default")))
