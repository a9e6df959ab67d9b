// In how many turns persistent workgroups take all bags, and so how many workgroups are worth it.
#pragma once

#include <cstdint>

namespace t3vp {

/// Times of a GPU's fused pooling in ns, each for itself.
struct PoolingTimes {
  double bag_ns = 0;     ///< one bag in an idle memory
  double memory_ns = 0;  ///< all reads at the DRAM's peak
  double links_ns = 0;   ///< all results that other GPUs want
};

/// The number of turns, `least` or more: the smallest whose estimate is within 2% of the shortest. More turns have
/// results for the links earlier, but fewer loads are in flight.
std::uint64_t pooling_turns(std::uint64_t least, const PoolingTimes& times);

}  // namespace t3vp
