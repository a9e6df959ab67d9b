#include "protocol/tile_grid.h"

#include <algorithm>

namespace t3vp {

Rectangle TileGrid::tile(std::uint32_t wg_id) const {
  Rectangle r;
  r.row = wg_id / tiles_across() * tile_rows;
  r.column = wg_id % tiles_across() * tile_columns;
  r.rows = std::min(tile_rows, rows - r.row);
  r.columns = std::min(tile_columns, columns - r.column);
  return r;
}

Rectangle TileGrid::wavefront_tile(std::uint32_t wg_id, std::uint32_t wf_id) const {
  Rectangle r = tile(wg_id);
  const std::uint32_t rows_each = tile_rows / wavefronts;
  const std::uint32_t begin = std::min(r.rows, wf_id * rows_each);
  const std::uint32_t end = std::min(r.rows, begin + rows_each);
  r.row += begin;
  r.rows = end - begin;
  return r;
}

}  // namespace t3vp
