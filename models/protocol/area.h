// The bytes of a matrix, or of a part of one, in memory.
#pragma once

#include "protocol/data_protocol.h"

namespace t3vp {

struct Area {
  std::uint64_t begin = 0;
  Shape shape;

  /// The address behind the last row, whatever its stride is.
  std::uint64_t end() const {
    return shape.rows == 0 ? begin : begin + (shape.rows - 1) * shape.stride + shape.row_bytes;
  }
  /// Whether a byte is in both. Areas whose rows are equally far apart may lie beside each other in the same rows; of
  /// others all that is between the first and the last byte is taken as theirs.
  bool overlaps(const Area& other) const;
};

}  // namespace t3vp
