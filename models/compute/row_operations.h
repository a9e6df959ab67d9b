// What a rows kernel computes, apart from how its operands get there.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>

#include "compute/kernel_packet.h"

namespace t3vp {

/// The operands a, b, c and out of a packet; `1 << operand` in masks.
enum RowOperand : std::uint8_t { row_a, row_b, row_c, row_out, row_operand_count };

struct RowTraits {
  const char* name;
  std::uint8_t reads, writes;  ///< masks of operands
  std::uint8_t vectors;        ///< operands that may be vectors
  double operations;           ///< vector operations per element, of a usual fp32 implementation
};

const RowTraits& traits_of(RowOperation operation);

/// Rows of an operand; a vector has one.
using Rows = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct RowParameters {
  float factor = 1;
  std::uint32_t seed = 0;
  std::uint64_t first_row = 0;  ///< of the block in the whole operand: dropout depends on the place
};

/// Computes the operands that the operation writes from those that it reads. Arithmetic is in fp32.
void compute_rows(RowOperation operation, const RowParameters& parameters,
                  std::array<Rows, row_operand_count>& operands);

/// Whether dropout keeps the element at (row, column): the same in forward and backward pass, and for all shapes of
/// blocks.
bool keeps(std::uint32_t seed, std::uint64_t row, std::uint64_t column, float probability);

}  // namespace t3vp
