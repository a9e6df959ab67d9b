// A 2-D access as the runs of bytes that it touches.
#pragma once

#include <cstdint>

#include "protocol/access.h"

namespace t3vp::memory {

/// Calls visit(address, bytes) for the pieces of a 2-D access that are contiguous in memory.
template <typename Visit>
void for_each_piece(std::uint64_t address, const Shape& shape, Visit visit) {
  if (shape.rows == 1 || shape.stride == shape.row_bytes) return visit(address, shape.bytes());
  for (std::uint32_t row = 0; row < shape.rows; ++row)
    visit(address + row * shape.stride, std::uint64_t{shape.row_bytes});
}

}  // namespace t3vp::memory
