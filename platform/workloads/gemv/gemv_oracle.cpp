#include "workloads/gemv/gemv_oracle.h"

#include <algorithm>

#include "workloads/shared/split_mix.h"

namespace t3vp {

/// What a row's products up to this column sum to. bf16 holds integers of magnitude up to 256, which the GPUs share,
/// and a product is the difference of two.
std::int32_t GemvOracle::level(std::uint32_t gpu, std::uint32_t row, std::uint32_t column) const {
  constexpr std::uint32_t largest = 256;
  const std::uint32_t magnitude = std::max(std::min(largest / gpus_, largest / 2), 1u);
  const std::uint64_t hash = mixed(mixed(mixed(mixed(seed_ + 0x9E3779B97F4A7C15) + gpu) + row) + column);
  return static_cast<std::int32_t>(hash % (2 * magnitude + 1)) - static_cast<std::int32_t>(magnitude);
}

std::int32_t GemvOracle::sign(std::uint32_t gpu, std::uint32_t column) const {
  return (mixed(mixed(seed_ ^ 0x5851F42D4C957F2D) + gpu + (std::uint64_t{column} << 32)) & 1) != 0 ? 1 : -1;
}

std::vector<float> GemvOracle::matrix_row(std::uint32_t gpu, std::uint32_t row) const {
  std::vector<float> values(gemv_.columns);
  std::int32_t before = 0;
  for (std::uint32_t i = 0; i < gemv_.columns; ++i) {
    const std::int32_t here = level(gpu, row, i);
    values[i] = static_cast<float>((here - before) * sign(gpu, i));
    before = here;
  }
  return values;
}

std::vector<float> GemvOracle::vector(std::uint32_t gpu) const {
  std::vector<float> values(gemv_.columns);
  for (std::uint32_t i = 0; i < gemv_.columns; ++i) values[i] = static_cast<float>(sign(gpu, i));
  return values;
}

/// From the operands, as they are.
std::vector<float> GemvOracle::sums() const {
  std::vector<float> result(gemv_.rows);
  for (std::uint32_t gpu = 0; gpu < gpus_; ++gpu) {
    const std::vector<float> factors = vector(gpu);
    for (std::uint32_t row = 0; row < gemv_.rows; ++row) {
      const std::vector<float> values = matrix_row(gpu, row);
      std::int64_t sum = 0;
      for (std::uint32_t i = 0; i < gemv_.columns; ++i) sum += static_cast<std::int64_t>(values[i] * factors[i]);
      result[row] += static_cast<float>(sum);
    }
  }
  return result;
}

}  // namespace t3vp
