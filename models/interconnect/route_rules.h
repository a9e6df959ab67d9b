// What routes and ports have to keep.
#pragma once

#include <fmt/format.h>

#include "interconnect/links_ranges.h"
#include "interconnect/route.h"

namespace t3vp::interconnect {

/// A route and the number of outgoing ports that it leads through.
struct PortRoute {
  const Route& route;
  std::size_t ports;
};

/// Throws ParameterError about a hop through a port or a virtual channel that there is not.
inline void check_parameters(const ParameterCheck& check, const PortRoute& p) {
  const auto check_hop = [&](const std::string& name, const Hop& hop) {
    check.require(hop.port == no_port || hop.port < p.ports, name + ".port", hop.port,
                  fmt::format("no_port or less than {}, the number of neighbours", p.ports));
    check.require(hop.channel < most_channels, name + ".channel", unsigned{hop.channel},
                  fmt::format("less than {}", most_channels));
  };
  for (std::size_t to = 0; to < p.route.size(); ++to) check_hop(fmt::format("route[{}]", to), p.route[to]);
  check_hop("route.all", p.route.all);
}

/// The GPUs that one GPU stands for, along each dimension.
struct MirroredGpus {
  const std::vector<std::uint32_t>& dimensions;
};

inline void check_parameters(const ParameterCheck& check, const MirroredGpus& p) {
  for (const std::uint32_t gpus : p.dimensions) check.require(gpus != 0, "dimensions", gpus, "1 or more GPUs in each");
}

inline LinkFileParameters with_header(std::uint32_t header_bytes) {
  LinkFileParameters parameters;
  parameters.header_bytes = header_bytes;
  return parameters;
}

/// A switch's latency has the range of a link's.
inline LinkFileParameters with_latency(Picoseconds latency) {
  LinkFileParameters parameters;
  parameters.latency = latency;
  return parameters;
}

}  // namespace t3vp::interconnect
