// A matrix of elements in a test's memory, and as Eigen sees it in double.
#pragma once

#include <Eigen/Core>
#include <random>

#include "data_path/node_memory.h"
#include "protocol/element.h"

namespace t3vp::compute {

using Reals = Eigen::Array<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Operand {
  std::uint64_t address;
  std::uint32_t rows, columns, stride;
  ElementType element;

  static std::uint32_t padded(std::uint32_t columns, ElementType element) {
    return (columns * bytes_of(element) + 31) / 32 * 32;
  }

  Reals read(NodeMemory& memory) const {
    Reals values(rows, columns);
    std::vector<float> row(columns);
    for (std::uint32_t r = 0; r < rows; ++r) {
      widen_elements(element, memory.at(address + std::uint64_t{r} * stride), row.data(), columns);
      for (std::uint32_t c = 0; c < columns; ++c) values(r, c) = row[c];
    }
    return values;
  }

  /// Normal numbers times `scale` plus `centre`; returns them as they are in memory, rounded.
  Reals fill(NodeMemory& memory, std::mt19937& random, float scale = 1, float centre = 0) const {
    std::normal_distribution<float> normal;
    std::vector<float> row(columns);
    for (std::uint32_t r = 0; r < rows; ++r) {
      for (float& value : row) value = normal(random) * scale + centre;
      narrow_elements(element, row.data(), memory.at(address + std::uint64_t{r} * stride), columns);
    }
    return read(memory);
  }
};

/// Half a unit in the last place of 1.
inline double half_unit(ElementType element) {
  return element == ElementType::fp16 ? 0x1p-11 : element == ElementType::bf16 ? 0x1p-8 : 0x1p-24;
}

}  // namespace t3vp::compute
