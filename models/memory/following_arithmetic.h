// The near-memory unit's arithmetic on a tile's sums and their operands. It is in fp32 and rounds once to the element
// type.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "protocol/access.h"

namespace t3vp::memory {

/// Of operations that follow a reduction. The last three are read and written by Adam's step.
enum FollowOperand : std::uint8_t {
  follow_sum,
  follow_bias,
  follow_residual,
  follow_means,
  follow_squares,
  follow_weights,
  follow_operands
};

/// Bytes of a tile's operands; empty: not used, or a run without data. The bias is a row, all others are tiles.
using FollowBytes = std::array<std::vector<unsigned char>, follow_operands>;

/// A tile's place in the output, for what dropout keeps.
struct FollowPlace {
  std::uint64_t first_row, first_column;
  std::uint32_t rows, columns;
};

struct FollowDropout {
  float keep;  ///< probability; 1: none is dropped
  std::uint32_t seed;
};

/// (sum + bias, dropped or divided by the probability) + residual. Without the sum it is what is to be added to it.
std::vector<unsigned char> followed_sums(ElementType element, const FollowBytes& operands, FollowPlace place,
                                         FollowDropout dropout);

/// Takes Adam's step: means, squares and weights become the new ones.
void take_adam_step(ElementType element, FollowBytes& operands, float rate);

}  // namespace t3vp::memory
