// Collective operations alone: their names, and what GPUs' buffers hold before and after.
#pragma once

#include <cstdint>
#include <vector>

#include "t3/collective.h"
#include "workloads/collective/collective_operation.h"

namespace t3vp {

const char* name_of(t3_collective_op op);
const char* name_of(t3_collective_algorithm algorithm);

std::uint64_t bytes_of(const t3_collective& collective);

/// The buffers of a run, by formulas of their own: nothing is shared with the kernels that work on them.
class CollectiveOracle {
 public:
  CollectiveOracle(const t3_collective& collective, std::uint32_t gpus, std::uint64_t seed);

  /// Returns the operation's input from a GPU. It is NaN where the operation takes nothing.
  std::vector<float> sent(std::uint32_t gpu) const;
  /// Returns the final contents of a GPU's buffer `out`.
  std::vector<float> received(std::uint32_t gpu) const;

 private:
  CollectiveData data_;
  const CollectiveOperation& operation_;
};

}  // namespace t3vp
