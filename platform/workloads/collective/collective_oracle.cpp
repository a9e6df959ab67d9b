#include "workloads/collective/collective_oracle.h"

#include "workloads/collective_operations.h"

namespace t3vp {

const char* name_of(t3_collective_op op) { return t3_traits_of(op)->name; }

const char* name_of(t3_collective_algorithm algorithm) {
  constexpr const char* names[] = {"ring", "direct", "hierarchical", "in-network", "torus-rings"};
  return names[algorithm];
}

std::uint64_t bytes_of(const t3_collective& c) { return c.elements * t3_element_bytes(c.element); }

CollectiveOracle::CollectiveOracle(const t3_collective& collective, std::uint32_t gpus, std::uint64_t seed)
    : data_(collective, gpus, seed), operation_(collective_operations.at(collective.op).operation()) {}

std::vector<float> CollectiveOracle::sent(std::uint32_t gpu) const {
  return data_.taken(gpu, operation_.taken(data_, gpu));
}

std::vector<float> CollectiveOracle::received(std::uint32_t gpu) const {
  return operation_.received(data_, gpu, sent(gpu));
}

}  // namespace t3vp
