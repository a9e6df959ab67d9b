// A matrix times a vector on each GPU, whose results are added up: what they hold, what GPUs receive, and what it takes
// at least.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/gemv/gemv_layout.h"

namespace t3vp {

/// The buffers of a run, by formulas of their own: nothing is shared with the kernels. The matrices' rows are such that
/// their products with the vector, which has 1 and -1, cancel out up to a small integer. So no sum is ever rounded, in
/// any order of the GPUs and in no element type, while each product counts: results are compared to the bit.
class GemvOracle {
 public:
  GemvOracle(const t3_gemv& gemv, std::uint32_t gpus, std::uint64_t seed) : gemv_(gemv), gpus_(gpus), seed_(seed) {}

  std::vector<float> matrix_row(std::uint32_t gpu, std::uint32_t row) const;
  std::vector<float> vector(std::uint32_t gpu) const;
  /// Returns the final contents of every GPU's `out`.
  std::vector<float> sums() const;

 private:
  std::int32_t level(std::uint32_t gpu, std::uint32_t row, std::uint32_t column) const;
  std::int32_t sign(std::uint32_t gpu, std::uint32_t column) const;

  t3_gemv gemv_;
  std::uint32_t gpus_;
  std::uint64_t seed_;
};

}  // namespace t3vp
