// Which rank simulates which GPU, and what crosses between ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "system/gpu_parameters.h"

namespace t3vp {

struct Partition {
  std::vector<std::uint32_t> gpus;      ///< the rank of each GPU
  std::vector<std::uint32_t> switches;  ///< the rank of each switch: that of the first GPU behind its ports

  std::uint32_t rank_of(const interconnect::LinkEnd& end) const {
    return end.is_switch ? switches[end.number] : gpus[end.number];
  }
  bool crosses(const LinkPlacement& link) const { return rank_of(link.from) != rank_of(link.to); }
};

/// Blocks of successive GPUs, which differ by one GPU at most; the first ones are the larger ones.
std::vector<std::uint32_t> blocks_of_gpus(std::uint32_t gpus, std::uint32_t ranks);

/// `gpus`: the rank of each.
Partition partition_of(std::vector<std::uint32_t> gpus, const Fabric& fabric);

/// The NICs of other ranks to which those of the rank send, by GPU; empty when there is none.
std::vector<bool> nics_elsewhere(const NodeParameters& parameters, const Partition& partition, std::uint32_t rank);

/// Throws InputError, which names the key, about what ranks cannot share.
void require_partitionable(const NodeParameters& parameters, const Partition& partition);

/// The least time that anything takes from one rank to another: the latency of a link that crosses, or of the NIC
/// fabric, or the hosts' exchange.
Picoseconds lookahead_of(const NodeParameters& parameters, const Partition& partition);

}  // namespace t3vp
