// Which bytes of a cache line were stored, for lines with sectors that were stored in part: a write-back must not
// overwrite the others in memory, and a load of them has to fetch them.
#pragma once

#include <cstdint>
#include <vector>

#include "cache/cache_tags.h"

namespace t3vp::cache {

class DirtyBytes {
 public:
  DirtyBytes(const CacheParameters& parameters, CacheTags::Slot slots);

  /// All bytes of these sectors are dirty, no others of the line. The first call takes the memory for all lines.
  void begin(CacheTags::Slot slot, std::uint8_t sectors);
  /// Bytes [from, to) of a line.
  void add(CacheTags::Slot slot, std::uint32_t from, std::uint32_t to);
  void remove(CacheTags::Slot slot, std::uint32_t from, std::uint32_t to);
  bool contains(CacheTags::Slot slot, std::uint32_t from, std::uint32_t to) const;
  bool contains(CacheTags::Slot slot, std::uint32_t byte) const {
    return (words_[std::size_t{slot} * per_line_ + byte / word_bits] >> byte % word_bits & 1) != 0;
  }

  /// Sectors all of whose bytes are dirty, and those with any.
  std::uint8_t full(CacheTags::Slot slot) const;
  std::uint8_t some(CacheTags::Slot slot) const;

 private:
  static constexpr std::uint32_t word_bits = 64;

  std::uint32_t slots_, per_line_, sector_bytes_, sectors_;
  std::vector<std::uint64_t> words_;  ///< bit i of a line is byte i
};

}  // namespace t3vp::cache
