// The location of a message's bytes in memory: in one piece, or in the rows of an accumulate's tile. Plain C++.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/area.h"
#include "t3/nic_tile.h"

namespace t3vp::nic {

/// Bytes of a packet that one access reads or writes.
struct MessagePart {
  Area area;
  std::uint32_t offset;  ///< in the packet
};

/// Bytes from the first one of a tile's first row to the last one of its last, `bytes` in all.
std::uint64_t extent_of(const t3_nic_tile& tile, std::uint64_t bytes);

/// Returns the parts of `bytes` bytes of a tile from `offset` on, whose first row starts at `address`. There are at
/// most three: the end of a row, whole rows, and the start of a row.
std::vector<MessagePart> parts_of(const t3_nic_tile& tile, std::uint64_t address, std::uint64_t offset,
                                  std::uint32_t bytes);

}  // namespace t3vp::nic
