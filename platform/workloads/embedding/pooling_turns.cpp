#include "workloads/embedding/pooling_turns.h"

#include <algorithm>

namespace t3vp {
namespace {

constexpr double equal_estimates = 1.02;
constexpr std::uint64_t more_turns = 50;  // with more, a turn is less than 2% of the links' time

/// Workgroups of a turn end together. The links have nothing to carry before the first turn's end, and the memory has
/// nothing to read while they carry the last turn's results.
double time_of(std::uint64_t number, const PoolingTimes& times) {
  const auto turns = static_cast<double>(number);
  const double pooling = std::max(times.memory_ns, turns * times.bag_ns);
  return std::max(pooling + times.links_ns / turns, pooling / turns + times.links_ns);
}

}  // namespace

std::uint64_t pooling_turns(std::uint64_t least, const PoolingTimes& times) {
  double shortest = time_of(least, times);
  for (std::uint64_t turns = least; turns <= least + more_turns; ++turns)
    shortest = std::min(shortest, time_of(turns, times));
  std::uint64_t turns = least;
  while (time_of(turns, times) > equal_estimates * shortest) ++turns;
  return turns;
}

}  // namespace t3vp
