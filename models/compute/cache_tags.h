// Tags of the last-level cache: sectored, set-associative, least recently used. Plain C++, no time, no data.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/parameters.h"
#include "protocol/data_protocol.h"

namespace t3vp {

class CacheTags {
 public:
  using Slot = std::uint32_t;
  static constexpr Slot none = 0xFFFFFFFF;
  static constexpr std::uint32_t no_fill = 0xFFFFFFFF;

  struct Line {
    std::uint8_t valid = 0, dirty = 0;              ///< sectors; bit i is sector i
    std::uint8_t pending = 0;                       ///< valid sectors whose data is still on its way
    TrafficClass producer = TrafficClass::control;  ///< of the dirty sectors: late write-backs stay in their class
    std::uint32_t fill = no_fill;                   ///< that brings the pending sectors
  };

  explicit CacheTags(const CacheParameters& parameters);

  /// The line's slot, made most recently used; none when the line is absent.
  Slot find(std::uint64_t line) {
    const Slot first = set_of(line) * ways_;
    const std::uint32_t tag = static_cast<std::uint32_t>(line) + 1;
    for (Slot slot = first; slot < first + ways_; ++slot)
      if (tags_[slot] == tag) {
        used_[slot] = ++clock_;
        return slot;
      }
    return none;
  }

  /// The slot that the absent line takes: free or least recently used, a line with pending data only if all have some.
  /// The caller writes the old content back and then calls occupy().
  Slot victim(std::uint64_t line) const;
  void occupy(Slot slot, std::uint64_t line);
  void drop(Slot slot) {
    tags_[slot] = 0;
    lines_[slot] = Line{};
  }

  bool holds(Slot slot, std::uint64_t line) const { return tags_[slot] == static_cast<std::uint32_t>(line) + 1; }
  bool occupied(Slot slot) const { return tags_[slot] != 0; }
  std::uint64_t line_in(Slot slot) const { return tags_[slot] - 1; }
  Line& line(Slot slot) { return lines_[slot]; }
  Slot slots() const { return static_cast<Slot>(lines_.size()); }
  std::uint32_t bank_of(std::uint64_t line) const { return set_of(line) & bank_mask_; }

 private:
  std::uint32_t set_of(std::uint64_t line) const {
    const std::uint64_t folded = line ^ line >> set_bits_ ^ line >> 2 * set_bits_;
    return static_cast<std::uint32_t>(folded & set_mask_);
  }

  std::uint32_t ways_, set_bits_ = 0;
  std::uint64_t set_mask_;
  std::uint32_t bank_mask_;
  std::uint32_t clock_ = 0;
  std::vector<std::uint32_t> tags_, used_;
  std::vector<Line> lines_;
};

}  // namespace t3vp
