// Blocks of memory that were loaded a short time ago. Plain C++, no time, no data.
//
// Workgroups of a GEMM load the same blocks of operands, with the same address and shape, one shortly after the other.
// While all lines of a block are in the cache, a second load finds what the first has left: it hits or waits for the
// fills that are still on their way, and each bank moves as many sectors. So the tags of its lines need not be read.
#pragma once

#include <cstdint>
#include <vector>

#include "cache/cache_tags.h"
#include "protocol/access.h"

namespace t3vp::cache {

struct LoadedBlock {
  struct Share {
    std::uint32_t bank, sectors;
  };
  /// A fill that may be on its way, by its index and its number.
  struct Fill {
    std::uint32_t index;
    std::uint64_t number;
  };

  std::uint64_t begin = 0;
  Shape shape;
  CacheTags::Group group = CacheTags::no_group;  ///< its lines
  std::vector<Share> shares;                     ///< what each bank moves
  std::vector<Fill> fills;                       ///< that the first load has waited for
};

/// A table with one place for each hash of address and shape.
class LoadedBlocks {
 public:
  /// Rows that touch or overlap are no block: kernels load such bytes once.
  static bool may_be_block(const Shape& shape) { return shape.rows > 1 && shape.stride > shape.row_bytes; }

  LoadedBlock* find(std::uint64_t begin, const Shape& shape, const CacheTags& tags) {
    LoadedBlock& block = place_of(begin, shape);
    const bool same = block.begin == begin && block.shape.rows == shape.rows &&
                      block.shape.row_bytes == shape.row_bytes && block.shape.stride == shape.stride;
    return same && tags.is_whole(block.group) ? &block : nullptr;
  }

  /// The block takes the place of another one. The caller notes the rest.
  LoadedBlock& begin(std::uint64_t begin, const Shape& shape) {
    LoadedBlock& block = place_of(begin, shape);
    block.begin = begin;
    block.shape = shape;
    block.group = CacheTags::no_group;
    block.shares.clear();
    block.fills.clear();
    return block;
  }

 private:
  static constexpr unsigned place_bits = 10;

  LoadedBlock& place_of(std::uint64_t begin, const Shape& shape) {
    const std::uint64_t key = begin ^ std::uint64_t{shape.rows} << 40 ^ std::uint64_t{shape.row_bytes} << 52;
    return blocks_[key * 0x9E3779B97F4A7C15 >> (64 - place_bits)];
  }

  std::vector<LoadedBlock> blocks_ = std::vector<LoadedBlock>(std::size_t{1} << place_bits);
};

}  // namespace t3vp::cache
