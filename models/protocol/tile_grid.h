// The output of a GEMM cut into tiles, tiles into wavefront tiles, and the row of tiles into one chunk per GPU.
//
// wg_id numbers the tiles row by row; chunk c of N is the contiguous run of wg_ids [c T / N, (c+1) T / N), T tiles in
// all, so chunks may differ by one tile. Tiles at the lower and right edges are clipped (T3 4.2.1: a wavefront tile's
// elements times the updates per element are the Tracker's threshold).
#pragma once

#include <cstdint>

#include "protocol/access.h"

namespace t3vp {

/// Workgroups of a chunk that can be mapped at most: a map keeps state for each of their wavefront tiles.
inline constexpr std::uint32_t most_mapped_workgroups = 1u << 20;

struct Rectangle {
  std::uint32_t row = 0, column = 0, rows = 0, columns = 0;  ///< in elements
  std::uint64_t elements() const { return std::uint64_t{rows} * columns; }
  bool empty() const { return rows == 0 || columns == 0; }
};

struct TileGrid {
  std::uint32_t rows = 0, columns = 0;            ///< of the output, in elements (M, N)
  std::uint32_t tile_rows = 0, tile_columns = 0;  ///< of a workgroup's tile
  std::uint32_t wavefronts = 1;                   ///< per workgroup; they share the tile by rows, at most 8
  std::uint64_t row_stride = 0;                   ///< bytes from one output row to the next
  ElementType element = ElementType::fp16;

  std::uint32_t tiles_down() const { return rows / tile_rows + (rows % tile_rows != 0 ? 1 : 0); }
  std::uint32_t tiles_across() const { return columns / tile_columns + (columns % tile_columns != 0 ? 1 : 0); }
  std::uint32_t workgroups() const { return tiles_down() * tiles_across(); }
  std::uint64_t bytes() const { return row_stride * rows; }

  /// The clipped tile of a workgroup.
  Rectangle tile(std::uint32_t wg_id) const;
  /// The clipped wavefront tile; empty when the wavefront's rows lie below the output's edge.
  Rectangle wavefront_tile(std::uint32_t wg_id, std::uint32_t wf_id) const;
  /// Byte offset of an element from the output's start.
  std::uint64_t offset(std::uint32_t row, std::uint32_t column) const {
    return row * row_stride + std::uint64_t{column} * bytes_of(element);
  }
  std::uint64_t offset(const Rectangle& r) const { return offset(r.row, r.column); }
  /// The 2-D access that covers a rectangle.
  Shape shape(const Rectangle& r) const { return {r.rows, r.columns * bytes_of(element), row_stride}; }

  /// First workgroup of chunk `c` of `chunks`; chunk c ends where chunk c + 1 begins.
  std::uint32_t chunk_begin(std::uint32_t c, std::uint32_t chunks) const {
    return static_cast<std::uint32_t>(std::uint64_t{workgroups()} * c / chunks);
  }
};

}  // namespace t3vp
