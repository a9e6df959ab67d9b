// The eleven words in which a driver stages a chunk of an output, the same in the output map, in the Tracker and in the
// DMA engine, and what a map of such a chunk expects of an access.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/address_map.h"
#include "protocol/area.h"
#include "protocol/data_sockets.h"
#include "protocol/tile_grid.h"
#include "registers/status.h"

namespace t3vp {

struct StagedChunk {
  TileGrid grid;
  std::uint64_t base = 0;              ///< address of the output with its GPU number
  std::uint32_t first = 0, count = 0;  ///< workgroups

  bool contains(std::uint32_t wg_id, std::uint64_t address) const {
    return wg_id - first < count && address - base < grid.bytes();
  }
  /// An access is given to a map by its workgroup's number and its address, so chunks with the same numbers lie in
  /// outputs beside each other: not between each other's rows either.
  bool overlaps(const StagedChunk& other) const {
    const bool same_memory = base < other.base + other.grid.bytes() && other.base < base + grid.bytes();
    return same_memory && first < other.first + other.count && other.first < first + count;
  }
  /// Returns a text about the overlap of both.
  std::string overlap(const StagedChunk& other) const;
  /// The access is to nothing but the tile of its wavefront in the output, in the output's element type; the tile may
  /// be another chunk's.
  bool fits(const Producer& producer, ElementType type, const Area& access) const;
  /// Why it does not, behind "store of wavefront 1 of workgroup 2" in `who`.
  std::string misfit(const std::string& who, const Producer& producer, ElementType type, const Area& access) const;
  /// Some of the access is in the chunk's tiles.
  bool touches(const Area& access) const;
  /// Some bytes are in tiles of both.
  bool touches(const StagedChunk& other) const;
  /// "workgroups 4 to 7 of the output at 0x1000".
  std::string text() const;

 private:
  /// The chunk's tiles from workgroup `wg` to the end of its row of tiles; `wg` is the next one's then.
  Area next_tiles(std::uint64_t& wg) const;
};

template <typename Registers>
StagedChunk staged_chunk(const Registers& registers) {
  const auto word = [](const auto& reg) { return static_cast<std::uint32_t>(reg.value()); };
  StagedChunk chunk;
  chunk.base = registers.output_base.value();
  chunk.grid.rows = word(registers.rows);
  chunk.grid.columns = word(registers.columns);
  chunk.grid.tile_rows = word(registers.tile_rows);
  chunk.grid.tile_columns = word(registers.tile_columns);
  chunk.grid.wavefronts = static_cast<std::uint32_t>(registers.layout.wavefronts());
  chunk.grid.element = static_cast<ElementType>(registers.layout.element());
  chunk.grid.row_stride = registers.row_stride.value();
  chunk.first = word(registers.first_workgroup);
  chunk.count = word(registers.workgroups);
  return chunk;
}

struct ChunkCheck {
  Status status = Status::ok;
  std::string text;  ///< what was found and expected, when status is not ok
};

/// The output lies in the memory that `gpu` has, 32-byte aligned, as is its row stride; 1 to 8 wavefronts divide the
/// tile's rows; the workgroups are in the grid. `memory` leads to that memory.
ChunkCheck check(const StagedChunk& chunk, std::uint64_t gpu, DataInitiatorBase& memory);

}  // namespace t3vp
