// Collective operations alone: their names, and what GPUs' buffers hold before and after.
#pragma once

#include <cstdint>
#include <vector>

#include "t3/collective.h"

namespace t3vp {

inline constexpr t3_collective_op all_collective_ops[] = {T3_REDUCE_SCATTER, T3_ALL_GATHER, T3_ALL_REDUCE,
                                                          T3_ALL_TO_ALL, T3_BROADCAST};
inline constexpr t3_collective_algorithm all_collective_algorithms[] = {T3_RING, T3_DIRECT, T3_HIERARCHICAL,
                                                                        T3_IN_SWITCH, T3_TORUS_RINGS};

const char* name_of(t3_collective_op op);
const char* name_of(t3_collective_algorithm algorithm);

std::uint64_t bytes_of(const t3_collective& collective);

/// The buffers of a run, by formulas of their own: nothing is shared with the kernels that work on them. All values are
/// integers which every element type holds, and so are sums of any of them, so that results are compared to the bit.
class CollectiveOracle {
 public:
  CollectiveOracle(const t3_collective& collective, std::uint32_t gpus, std::uint64_t seed)
      : collective_(collective), gpus_(gpus), seed_(seed) {}

  /// What the operation takes from a GPU. No number at all is where it takes nothing.
  std::vector<float> sent(std::uint32_t gpu) const;
  /// What a GPU's buffer `out` holds in the end.
  std::vector<float> received(std::uint32_t gpu) const;

 private:
  struct Chunk {
    std::uint64_t begin, size;
  };
  Chunk chunk(std::uint32_t owner) const;
  float value(std::uint32_t gpu, std::uint64_t index) const;
  float sum(std::uint64_t index) const;
  float partial_sum(std::uint32_t gpu, std::uint32_t owner, std::uint64_t index) const;

  t3_collective collective_;
  std::uint32_t gpus_;
  std::uint64_t seed_;
};

}  // namespace t3vp
