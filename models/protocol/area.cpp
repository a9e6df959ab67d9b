#include "protocol/area.h"

namespace t3vp {

bool Area::overlaps(const Area& other) const {
  if (shape.bytes() == 0 || other.shape.bytes() == 0) return false;
  if (begin >= other.end() || other.begin >= end()) return false;
  if (begin > other.begin) return other.overlaps(*this);
  const std::uint64_t stride = shape.rows == 1 ? other.shape.stride : shape.stride;
  const bool same_rows = (other.shape.rows == 1 || other.shape.stride == stride) && shape.row_bytes <= stride &&
                         other.shape.row_bytes <= stride;
  if (!same_rows || stride == 0) return true;
  // The other area's first row begins in this row of mine, so far behind its start, and may reach into my next row.
  const std::uint64_t row = (other.begin - begin) / stride, column = (other.begin - begin) % stride;
  return (row < shape.rows && column < shape.row_bytes) ||
         (row + 1 < shape.rows && column + other.shape.row_bytes > stride);
}

}  // namespace t3vp
