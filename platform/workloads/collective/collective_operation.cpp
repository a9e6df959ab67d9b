#include "workloads/collective/collective_operation.h"

#include <algorithm>
#include <limits>

#include "workloads/collective_operations.h"
#include "workloads/shared/split_mix.h"

namespace t3vp {

/// Earlier chunks have one element more where they are not equal.
CollectiveData::Chunk CollectiveData::chunk(std::uint32_t owner) const {
  Chunk result{0, 0};
  for (std::uint32_t i = 0; i <= owner; ++i) {
    result.begin += result.size;
    result.size = (elements() - result.begin + gpus_ - i - 1) / (gpus_ - i);
  }
  return result;
}

/// bf16 holds integers of magnitude up to 256, which are shared by those whose values are added.
float CollectiveData::value(std::uint32_t gpu, std::uint64_t index) const {
  constexpr std::uint32_t largest = 256;
  const std::uint32_t magnitudes = t3_reduces(&collective_) ? std::max(largest / gpus_, 1u) : largest;
  const std::uint64_t hash = mixed(mixed(mixed(seed_ + 0x9E3779B97F4A7C15) + gpu) + index);
  const auto magnitude = static_cast<float>(1 + (hash >> 1) % magnitudes);
  return (hash & 1) != 0 ? magnitude : -magnitude;
}

float CollectiveData::sum(std::uint64_t index) const {
  float result = 0;
  for (std::uint32_t gpu = 0; gpu < gpus_; ++gpu) result += value(gpu, index);
  return result;
}

std::vector<float> CollectiveData::taken(std::uint32_t gpu, const Chunk& elements) const {
  std::vector<float> values(collective_.elements, std::numeric_limits<float>::quiet_NaN());
  for (std::uint64_t i = elements.begin; i < elements.begin + elements.size; ++i) values[i] = value(gpu, i);
  return values;
}

double least_link_ns(t3_collective_op op, const std::vector<std::uint64_t>& chunk_bytes, const Fabric& fabric) {
  return least_link_ns(collective_operations.at(op).operation(), chunk_bytes, fabric);
}

double least_link_ns(const t3_collective& c, const Fabric& fabric) {
  const auto gpus = static_cast<std::uint32_t>(fabric.gpus.size());
  std::vector<std::uint64_t> chunks;
  for (std::uint32_t chunk = 0; chunk < gpus; ++chunk)
    chunks.push_back((c.elements + gpus - 1 - chunk) / gpus * t3_element_bytes(c.element));
  return least_link_ns(c.op, chunks, fabric);
}

}  // namespace t3vp
