#include "protocol/staged_chunk.h"

#include <fmt/format.h>

#include <algorithm>

#include "protocol/own_address.h"

namespace t3vp {

std::string StagedChunk::text() const {
  if (count == 0) return fmt::format("0 workgroups (1 or more expected) of the output at {:#x}", base);
  return fmt::format("workgroups {} to {} of the output at {:#x}", first, first + count - 1, base);
}

std::string StagedChunk::overlap(const StagedChunk& other) const {
  return fmt::format(
      "{} overlap the mapped {}: both have workgroup {}, and both outputs, from the first row to the last, have {:#x}",
      text(), other.text(), std::max(first, other.first), std::max(base, other.base));
}

bool StagedChunk::fits(const Producer& producer, ElementType type, const Area& access) const {
  if (type != grid.element || producer.wf_id >= grid.wavefronts || access.shape.rows == 0) return false;
  if (producer.wg_id >= grid.workgroups()) return false;
  const Rectangle part = grid.wavefront_tile(producer.wg_id, producer.wf_id);
  const std::uint64_t begin = base + grid.offset(part);
  if (access.begin < begin || (access.shape.rows > 1 && access.shape.stride != grid.row_stride)) return false;
  const std::uint64_t row = (access.begin - begin) / grid.row_stride;
  const std::uint64_t column = (access.begin - begin) % grid.row_stride;
  return row + access.shape.rows <= part.rows &&
         column + access.shape.row_bytes <= std::uint64_t{part.columns} * bytes_of(grid.element);
}

std::string StagedChunk::misfit(const std::string& who, const Producer& producer, ElementType type,
                                const Area& access) const {
  const std::string map = "the mapped " + text();
  const bool is_in_grid = producer.wg_id < grid.workgroups() && producer.wf_id < grid.wavefronts;
  const Rectangle part = is_in_grid ? grid.wavefront_tile(producer.wg_id, producer.wf_id) : Rectangle{};
  if (part.empty()) return fmt::format("{}, which has no such tile in {}", who, map);
  if (type != grid.element) return fmt::format("{} in {}: {} are {}", who, name_of(type), map, name_of(grid.element));
  return fmt::format(
      "{}: {} rows of {} bytes, {} apart, at {:#x} are not within its tile of {} rows of {} at {:#x} in {}", who,
      access.shape.rows, access.shape.row_bytes, access.shape.stride, access.begin, part.rows,
      part.columns * bytes_of(grid.element), base + grid.offset(part), map);
}

Area StagedChunk::next_tiles(std::uint64_t& wg) const {
  const std::uint32_t across = grid.tiles_across();
  Rectangle tiles = grid.tile(static_cast<std::uint32_t>(wg));
  wg = std::min(std::uint64_t{first} + count, (wg / across + 1) * across);
  const Rectangle last = grid.tile(static_cast<std::uint32_t>(wg - 1));
  tiles.columns = last.column + last.columns - tiles.column;
  return {base + grid.offset(tiles), grid.shape(tiles)};
}

bool StagedChunk::touches(const Area& access) const {
  if (access.begin >= base + grid.bytes() || access.end() <= base) return false;
  for (std::uint64_t wg = first, end = std::uint64_t{first} + count; wg < end;)
    if (access.overlaps(next_tiles(wg))) return true;
  return false;
}

bool StagedChunk::touches(const StagedChunk& other) const {
  for (std::uint64_t wg = first, end = std::uint64_t{first} + count; wg < end;)
    if (other.touches(next_tiles(wg))) return true;
  return false;
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
    return {Status::bad_address, fmt::format("output {:#x} is GPU {}'s: one of GPU {} expected{}", base,
                                             address_map::gpu_of(base), gpu, number_hint(gpu, base))};
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
