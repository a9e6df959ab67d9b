#include "nic/message_parts.h"

#include <algorithm>

namespace t3vp::nic {

std::uint64_t extent_of(const t3_nic_tile& tile, std::uint64_t bytes) {
  const std::uint64_t rows = bytes / tile.row_bytes;
  return (rows - 1) * tile.row_stride + tile.row_bytes;
}

std::vector<MessagePart> parts_of(const t3_nic_tile& tile, std::uint64_t address, std::uint64_t offset,
                                  std::uint32_t bytes) {
  std::vector<MessagePart> parts;
  for (std::uint32_t done = 0; done < bytes;) {
    const std::uint64_t at = offset + done, row = at / tile.row_bytes;
    const auto column = static_cast<std::uint32_t>(at % tile.row_bytes);
    const std::uint32_t left = bytes - done;
    const bool is_whole = column == 0 && left >= tile.row_bytes;
    const Shape shape{is_whole ? left / tile.row_bytes : 1,
                      is_whole ? tile.row_bytes : std::min(left, tile.row_bytes - column), tile.row_stride};
    parts.push_back({{address + row * tile.row_stride + column, shape}, done});
    done += static_cast<std::uint32_t>(shape.bytes());
  }
  return parts;
}

}  // namespace t3vp::nic
