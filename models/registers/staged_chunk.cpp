#include "registers/staged_chunk.h"

#include <fmt/format.h>

namespace t3vp {

std::string StagedChunk::text() const {
  return fmt::format("workgroups {} to {} of the output at {:#x}", first, first + count - 1, base);
}

ChunkCheck check(const StagedChunk& chunk, std::uint64_t gpu, DataInitiatorBase& memory) {
  const TileGrid& grid = chunk.grid;
  const std::uint64_t base = chunk.base;
  constexpr std::uint64_t alignment = 32;
  if (base % alignment != 0 || grid.row_stride % alignment != 0)
    return {Status::unaligned,
            fmt::format("output {:#x} with row stride {} must be multiples of {}", base, grid.row_stride, alignment)};
  if (grid.rows == 0 || grid.columns == 0 || grid.tile_rows == 0 || grid.tile_columns == 0)
    return {Status::invalid_argument, fmt::format("output {} x {} in tiles of {} x {}: none may be 0", grid.rows,
                                                  grid.columns, grid.tile_rows, grid.tile_columns)};
  if (grid.wavefronts == 0 || grid.wavefronts > 8 || grid.tile_rows % grid.wavefronts != 0)
    return {Status::invalid_argument, fmt::format("{} wavefronts: 1 to 8 expected that divide the tile's {} rows",
                                                  grid.wavefronts, grid.tile_rows)};
  if (grid.row_stride < std::uint64_t{grid.columns} * bytes_of(grid.element))
    return {Status::invalid_argument, fmt::format("row stride {} is less than a row of {} bytes", grid.row_stride,
                                                  std::uint64_t{grid.columns} * bytes_of(grid.element))};
  if (grid.row_stride > address_map::hbm_limit / grid.rows)
    return {Status::bad_address,
            fmt::format("output {:#x} of {} rows {} bytes apart: more than there can be in a memory", base, grid.rows,
                        grid.row_stride)};
  if (address_map::gpu_of(base) != gpu)
    return {Status::bad_address,
            fmt::format("output {:#x} is GPU {}'s: one of GPU {} expected", base, address_map::gpu_of(base), gpu)};
  if (!memory.holds(base, grid.bytes()))
    return {Status::bad_address,
            fmt::format("output {:#x} of {:#x} bytes does not end in the memory of GPU {}", base, grid.bytes(), gpu)};
  if (std::uint64_t{grid.tiles_down()} * grid.tiles_across() >= no_workgroup)
    return {Status::invalid_argument,
            fmt::format("{} x {} tiles: fewer than {} expected", grid.tiles_down(), grid.tiles_across(), no_workgroup)};
  if (chunk.count > most_mapped_workgroups)
    return {Status::invalid_argument,
            fmt::format("{} workgroups in a map: up to {} expected", chunk.count, most_mapped_workgroups)};
  if (chunk.count == 0 || chunk.first >= grid.workgroups() || chunk.count > grid.workgroups() - chunk.first)
    return {Status::invalid_argument, fmt::format("{} workgroups from {}: 1 or more of the output's {} expected",
                                                  chunk.count, chunk.first, grid.workgroups())};
  return {};
}

}  // namespace t3vp
