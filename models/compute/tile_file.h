// The contents of the waves' tiles in a functional run, and what computes with them.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/matrix_unit.h"
#include "protocol/data_protocol.h"
#include "t3/device.h"

namespace t3vp {

/// A tile's elements, row by row without gaps.
struct TileContents {
  std::vector<unsigned char> bytes;
  std::uint64_t address = 0;  ///< where the most recent load has come from
};

/// The contents have the tile's size; what they held before stays if it is the size that they had.
void fit(TileContents& contents, const t3_tile& tile);

/// Loaded rows into the part of the tile that the access names, in the tile's element type.
void take_rows(TileContents& contents, const t3_tile& tile, const t3_access& access, const unsigned char* data);

/// The part of the tile that the access names, in the access's element type.
void give_rows(const TileContents& contents, const t3_tile& tile, const t3_access& access, unsigned char* data);

/// The matrix unit's operands while they are transposed.
class Multiplier {
 public:
  void multiply(const t3_product& product, TileContents& sum, const TileContents& a, const TileContents& b);

 private:
  FloatMatrix a_, b_;
};

}  // namespace t3vp
