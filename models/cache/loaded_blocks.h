// The blocks that were loaded a short time ago, of a loosely-timed cache. Plain C++, no time, no data.
//
// Workgroups of a GEMM load the same blocks of operands, with the same address and shape, one shortly after the other.
// The second load of a block finds what the first has left: all of it hits, or waits for the first one's fills. Each
// bank moves as many sectors as for the first. So the tags need not be asked again. What is approximate: such a load
// does not make its lines the most recently used ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "protocol/access.h"

namespace t3vp::cache {

class LoadedBlocks {
 public:
  /// A fill that may be on its way. Fills are numbered in the order of their planning.
  struct Awaited {
    std::uint32_t fill;
    std::uint64_t number;
  };
  struct Share {
    std::uint32_t bank, sectors;
  };
  struct Block {
    std::uint64_t begin = 0, stride = 0;
    std::uint32_t rows = 0, row_bytes = 0;
    std::uint64_t touched = 0;  ///< lines that the cache had touched at the end of the first load
    std::uint32_t period = 0;   ///< of what was forgotten in between
    std::vector<Share> of_banks;
    std::vector<Awaited> awaited;  ///< fills that the first load has waited for
  };

  /// A block is found while the cache has touched at most `most_touched` lines since. Nothing is found at 0.
  explicit LoadedBlocks(std::uint64_t most_touched) : most_touched_(most_touched) {
    if (most_touched != 0) blocks_.resize(places);
  }

  bool in_use() const { return most_touched_ != 0; }
  void touch(std::uint64_t lines) { touched_ += lines; }

  /// Returns null when it is not known. Contiguous bytes are no block: kernels load them once.
  Block* find(std::uint64_t begin, const Shape& shape) {
    Block& block = place_of(begin, shape);
    const bool known = block.period == period_ && block.begin == begin && block.rows == shape.rows &&
                       block.row_bytes == shape.row_bytes && block.stride == shape.stride &&
                       touched_ - block.touched <= most_touched_;
    return known ? &block : nullptr;
  }

  /// Of a load that begins. The caller notes its sectors and fills.
  Block& begin(std::uint64_t begin, const Shape& shape) {
    note(span_of(begin, shape));
    Block& block = place_of(begin, shape);
    block.begin = begin;
    block.stride = shape.stride;
    block.rows = shape.rows;
    block.row_bytes = shape.row_bytes;
    block.touched = touched_;
    block.period = period_;
    block.of_banks.clear();
    block.awaited.clear();
    return block;
  }

  /// Forgets all blocks when what is written may belong to one.
  void written(std::uint64_t begin, const Shape& shape) {
    const Span span = span_of(begin, shape);
    for (const Span& loaded : loaded_)
      if (span.begin < loaded.end && loaded.begin < span.end) return forget();
  }

  void forget() {
    ++period_;
    loaded_.clear();
  }

 private:
  struct Span {
    std::uint64_t begin, end;
  };
  static constexpr std::size_t places = 1024, most_spans = 16;

  static Span span_of(std::uint64_t begin, const Shape& shape) {
    return {begin, begin + (shape.rows - std::uint64_t{1}) * shape.stride + shape.row_bytes};
  }

  Block& place_of(std::uint64_t begin, const Shape& shape) {
    const std::uint64_t key = begin ^ std::uint64_t{shape.rows} << 40 ^ std::uint64_t{shape.row_bytes} << 52;
    return blocks_[key * 0x9E3779B97F4A7C15 >> 54];
  }

  /// Blocks of an operand overlap or touch, so there are as many spans as operands.
  void note(Span span) {
    for (std::size_t i = 0; i < loaded_.size();) {
      const Span& loaded = loaded_[i];
      if (loaded.begin <= span.begin && span.end <= loaded.end) return;
      if (span.begin > loaded.end || loaded.begin > span.end) {
        ++i;
        continue;
      }
      span = {std::min(span.begin, loaded.begin), std::max(span.end, loaded.end)};
      loaded_[i] = loaded_.back();
      loaded_.pop_back();
    }
    if (loaded_.size() == most_spans) forget();
    loaded_.push_back(span);
  }

  std::uint64_t most_touched_, touched_ = 0;
  std::uint32_t period_ = 1;
  std::vector<Block> blocks_;
  std::vector<Span> loaded_;
};

}  // namespace t3vp::cache
