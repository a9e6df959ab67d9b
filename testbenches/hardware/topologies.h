// Topologies in a line each.
#pragma once

#include <utility>
#include <vector>

#include "system/topology.h"

namespace t3vp::test {

inline Topology of_kind(Topology::Kind kind) {
  Topology topology;
  topology.kind = kind;
  return topology;
}

inline Topology torus_of(std::vector<std::uint32_t> dimensions) {
  Topology topology;
  topology.dimensions = std::move(dimensions);
  return topology;
}

inline Topology alike_torus_of(std::vector<std::uint32_t> dimensions) {
  Topology topology = torus_of(std::move(dimensions));
  topology.channels_by_distance = true;
  return topology;
}

inline Topology nodes_of(std::uint32_t gpus_per_node, LinkTier inside, LinkTier between, bool one_port) {
  Topology topology = of_kind(Topology::Kind::nodes);
  topology.gpus_per_node = gpus_per_node;
  topology.one_port_per_node = one_port;
  topology.tiers = {std::move(inside), std::move(between)};
  return topology;
}

}  // namespace t3vp::test
