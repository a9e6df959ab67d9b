#include "workload/collective.h"

#include <algorithm>
#include <limits>

#include "workload/split_mix.h"

namespace t3vp {
namespace {

bool reduces(t3_collective_op op) { return op == T3_REDUCE_SCATTER || op == T3_ALL_REDUCE; }

/// Links of GPUs that the way from one to another one leads over. A switch's links lead to GPUs.
std::uint32_t hops(const std::vector<Placement>& placements, std::uint32_t from, std::uint32_t to) {
  std::uint32_t count = 0;
  for (; from != to; ++count) {
    from = placements[from].neighbours[placements[from].route[to].port];
    if (from >= placements.size()) from = to;
  }
  return count;
}

/// The bytes of all links together. Of a sum, every GPU but one per chunk has to send something of each element, and of
/// a sum that all are to have, every GPU but one has to receive it as well: 2 (N - 1) n in all (Patarasu and Yuan,
/// Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations, 2009). Parts of an all-to-all take as many
/// links as lie between two GPUs, which is at least what a bisection has to carry.
double bytes_of_all(const t3_collective& c, const std::vector<Placement>& placements) {
  const auto gpus = static_cast<std::uint32_t>(placements.size());
  const double one = static_cast<double>(bytes_of(c)) * (gpus - 1);
  if (c.op == T3_ALL_REDUCE) return 2 * one;
  if (c.op != T3_ALL_TO_ALL) return one;
  double sum = 0;
  for (std::uint32_t to = 0; to < gpus; ++to) {
    const std::uint64_t size = (c.elements + gpus - 1 - to) / gpus * t3_element_bytes(c.element);
    for (std::uint32_t from = 0; from < gpus; ++from) sum += static_cast<double>(size * hops(placements, from, to));
  }
  return sum;
}

/// What a GPU has to send or to receive at least, whichever is more; of N GPUs' buffers of n bytes each, in chunks of
/// about n / N: (N - 1) / N n in all but a broadcast, whose n have to leave the root and reach the others. Of the
/// scattered parts a GPU sends all but its own, and of the gathered it receives all but its own (Thakur, Rabenseifner
/// and Gropp, Optimization of Collective Communication Operations in MPICH, 2005).
double bytes_of_one(const t3_collective& c, std::uint32_t gpus) {
  const std::uint32_t element = t3_element_bytes(c.element);
  const auto all = static_cast<double>(bytes_of(c));
  const std::uint64_t smallest = c.elements / gpus, largest = (c.elements + gpus - 1) / gpus;
  if (c.op == T3_BROADCAST || c.op == T3_ALL_REDUCE) return all;
  const double kept = all - static_cast<double>(smallest * element);
  if (c.op != T3_ALL_TO_ALL) return kept;
  return std::max(kept, static_cast<double>(largest * (gpus - 1) * element));
}

}  // namespace

const char* name_of(t3_collective_op op) {
  switch (op) {
    case T3_REDUCE_SCATTER:
      return "reduce-scatter";
    case T3_ALL_GATHER:
      return "all-gather";
    case T3_ALL_TO_ALL:
      return "all-to-all";
    case T3_BROADCAST:
      return "broadcast";
    default:
      return "all-reduce";
  }
}

const char* name_of(t3_collective_algorithm algorithm) { return algorithm == T3_RING ? "ring" : "direct"; }

std::uint64_t bytes_of(const t3_collective& c) { return c.elements * t3_element_bytes(c.element); }

/// Earlier chunks have one element more where they are not equal.
CollectiveOracle::Chunk CollectiveOracle::chunk(std::uint32_t owner) const {
  Chunk result{0, 0};
  for (std::uint32_t i = 0; i <= owner; ++i) {
    result.begin += result.size;
    result.size = (collective_.elements - result.begin + gpus_ - i - 1) / (gpus_ - i);
  }
  return result;
}

/// bf16 holds integers of magnitude up to 256, which are shared by those whose values are added.
float CollectiveOracle::value(std::uint32_t gpu, std::uint64_t index) const {
  constexpr std::uint32_t largest = 256;
  const std::uint32_t magnitudes = reduces(collective_.op) ? std::max(largest / gpus_, 1u) : largest;
  const std::uint64_t hash = mixed(mixed(mixed(seed_ + 0x9E3779B97F4A7C15) + gpu) + index);
  const auto magnitude = static_cast<float>(1 + (hash >> 1) % magnitudes);
  return (hash & 1) != 0 ? magnitude : -magnitude;
}

float CollectiveOracle::sum(std::uint64_t index) const {
  float result = 0;
  for (std::uint32_t gpu = 0; gpu < gpus_; ++gpu) result += value(gpu, index);
  return result;
}

std::vector<float> CollectiveOracle::sent(std::uint32_t gpu) const {
  std::vector<float> values(collective_.elements, std::numeric_limits<float>::quiet_NaN());
  Chunk taken{0, collective_.elements};
  if (collective_.op == T3_ALL_GATHER) taken = chunk(gpu);
  if (collective_.op == T3_BROADCAST && gpu != 0) taken.size = 0;
  for (std::uint64_t i = taken.begin; i < taken.begin + taken.size; ++i) values[i] = value(gpu, i);
  return values;
}

std::vector<float> CollectiveOracle::received(std::uint32_t gpu) const {
  std::vector<float> values = sent(gpu);
  const Chunk own = chunk(gpu);
  switch (collective_.op) {
    case T3_REDUCE_SCATTER:
      for (std::uint64_t i = own.begin; i < own.begin + own.size; ++i) values[i] = sum(i);
      return values;
    case T3_ALL_REDUCE:
      for (std::uint64_t i = 0; i < values.size(); ++i) values[i] = sum(i);
      return values;
    case T3_BROADCAST:
      return sent(0);
    case T3_ALL_GATHER:
      for (std::uint32_t owner = 0; owner < gpus_; ++owner) {
        const Chunk part = chunk(owner);
        for (std::uint64_t i = part.begin; i < part.begin + part.size; ++i) values[i] = value(owner, i);
      }
      return values;
    default:
      values.clear();
      for (std::uint32_t from = 0; from < gpus_; ++from)
        for (std::uint64_t i = own.begin; i < own.begin + own.size; ++i) values.push_back(value(from, i));
      return values;
  }
}

double least_link_ns(const t3_collective& collective, const Topology& topology, std::uint32_t gpus,
                     double bandwidth_GBps) {
  const std::vector<Placement> placements = place(topology, gpus);
  std::size_t links = 0, ports = 0;
  for (const Placement& placement : placements) {
    links += placement.neighbours.size();
    ports = std::max(ports, placement.neighbours.size());
  }
  if (links == 0) return 0;
  return std::max(bytes_of_one(collective, gpus) / static_cast<double>(ports),
                  bytes_of_all(collective, placements) / static_cast<double>(links)) /
         bandwidth_GBps;
}

}  // namespace t3vp
