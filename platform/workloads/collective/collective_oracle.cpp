#include "workloads/collective/collective_oracle.h"

#include <algorithm>
#include <limits>

#include "workloads/shared/split_mix.h"

namespace t3vp {
namespace {

bool reduces(t3_collective_op op) { return op == T3_REDUCE_SCATTER || op == T3_ALL_REDUCE; }

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

const char* name_of(t3_collective_algorithm algorithm) {
  constexpr const char* names[] = {"ring", "direct", "hierarchical", "in-switch", "torus-rings"};
  return names[algorithm];
}

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

/// By a torus's rings a GPU is left with sums of chunks that are not its own: over the dimensions behind the last one
/// in which their owner has another coordinate.
float CollectiveOracle::partial_sum(std::uint32_t gpu, std::uint32_t owner, std::uint64_t index) const {
  std::uint32_t apart = 1;  // GPUs over which the sum goes have numbers so far apart
  std::uint32_t step = 1;
  for (const std::uint32_t size : collective_.dimensions) {
    if (size == 0) break;
    if (gpu / step % size != owner / step % size) apart = step * size;
    step *= size;
  }
  float result = 0;
  for (std::uint32_t other = gpu % apart; other < gpus_; other += apart) result += value(other, index);
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
      for (std::uint32_t owner = 0; collective_.algorithm == T3_TORUS_RINGS && owner < gpus_; ++owner) {
        const Chunk part = chunk(owner);
        for (std::uint64_t i = part.begin; i < part.begin + part.size; ++i) values[i] = partial_sum(gpu, owner, i);
      }
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

}  // namespace t3vp
