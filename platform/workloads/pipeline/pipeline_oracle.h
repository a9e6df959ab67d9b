// A pipeline of GEMMs: what stages take and multiply with, and what they give.
#pragma once

#include <cstdint>
#include <vector>

namespace t3vp {

/// Activations of stage s are r(i) y_s(k), with integers r and signs y. Weights are w_s(k) y_{s+1}(j), and the products
/// y_s(k) w_s(k) alternate in sign and sum to 1. So the next stage's activations are r(i) y_{s+1}(j): integers of
/// magnitude up to 4, nowhere 0, which differ by stage, row and column. Every sum on the way is exact in every type.
class PipelineOracle {
 public:
  PipelineOracle(std::uint32_t width, std::uint64_t seed) : width_(width), seed_(seed) {}

  /// A row of what stage `stage` takes, which is what the one before gives.
  std::vector<double> activations(std::uint32_t stage, std::uint32_t row) const;
  std::vector<double> weights(std::uint32_t stage, std::uint32_t row) const;

 private:
  double sign(std::uint32_t stage, std::uint32_t column) const;

  std::uint32_t width_;
  std::uint64_t seed_;
};

}  // namespace t3vp
