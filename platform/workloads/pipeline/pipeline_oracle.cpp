#include "workloads/pipeline/pipeline_oracle.h"

#include "workloads/shared/split_mix.h"

namespace t3vp {

double PipelineOracle::sign(std::uint32_t stage, std::uint32_t column) const {
  return (mixed(mixed(seed_ + stage) + column) & 1) != 0 ? 1 : -1;
}

std::vector<double> PipelineOracle::activations(std::uint32_t stage, std::uint32_t row) const {
  const std::uint64_t hash = mixed(mixed(~seed_) + row);
  const double factor = (hash & 4) != 0 ? 1.0 + static_cast<double>(hash & 3) : -1.0 - static_cast<double>(hash & 3);
  std::vector<double> values(width_);
  for (std::uint32_t column = 0; column < width_; ++column) values[column] = factor * sign(stage, column);
  return values;
}

/// The terms' weights are 1, -1, 1 and so on; the first one of an even number is 2.
std::vector<double> PipelineOracle::weights(std::uint32_t stage, std::uint32_t row) const {
  const double weight = row % 2 == 1 ? -1 : row == 0 && width_ % 2 == 0 ? 2 : 1;
  std::vector<double> values(width_);
  for (std::uint32_t column = 0; column < width_; ++column)
    values[column] = weight * sign(stage, row) * sign(stage + 1, column);
  return values;
}

}  // namespace t3vp
