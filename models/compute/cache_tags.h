// Tags of the last-level cache: sectored, set-associative, least recently used. Plain C++, no time, no data.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "compute/parameters.h"
#include "protocol/data_protocol.h"
#include "protocol/polynomial_hash.h"

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

  /// Where a line may be. A bank has sets of its own, as a slice of Accel-Sim's cache has; both are hashed.
  struct Place {
    std::uint64_t line;
    std::uint32_t bank;
    Slot first;  ///< of its set
  };

  explicit CacheTags(const CacheParameters& parameters);

  /// Asks the host for the set's memory too: with a few places ahead of their use, nobody waits for it.
  Place place_of(std::uint64_t line) const {
    const std::uint64_t number = line >> bank_bits_;
    const std::uint32_t bank = bank_hash_(line);
    const std::uint32_t in_bank =
        hashed_sets_ ? set_hash_(number) : static_cast<std::uint32_t>(number % sets_per_bank_);
    const Slot first = (bank * sets_per_bank_ + in_bank) * slots_per_set_;
    __builtin_prefetch(&tags_[first]);
    __builtin_prefetch(&used_[first]);
    __builtin_prefetch(&lines_[first]);
    return {line, bank, first};
  }

  /// The line's slot, made most recently used; none when the line is absent. All ways are compared, by vectors: where
  /// an early exit would lie cannot be predicted, and a mispredicted branch costs more than the comparisons.
  Slot find(const Place& place) {
    const Slot first = place.first;
    const std::uint32_t tag = tag_of(place.line);
    Lanes hits{}, numbers = {1, 2, 3, 4};
    for (Slot way = 0; way < ways_; way += lanes) {
      Lanes tags;
      std::memcpy(&tags, &tags_[first + way], sizeof tags);
      hits |= (tags == tag) & numbers;
      numbers += lanes;
    }
    const std::uint32_t number = hits[0] | hits[1] | hits[2] | hits[3];
    if (number == 0) return none;
    const Slot slot = first + number - 1;
    used_[slot] = ++clock_;
    return slot;
  }

  /// The slot that the absent line takes: free or least recently used, a line with pending data only if all have some.
  /// The caller writes the old content back and then calls occupy().
  Slot victim(const Place& place) const;
  void occupy(Slot slot, std::uint64_t line);
  void drop(Slot slot) {
    tags_[slot] = 0;
    lines_[slot] = Line{};
  }

  bool holds(Slot slot, std::uint64_t line) const { return tags_[slot] == tag_of(line); }
  bool occupied(Slot slot) const { return tags_[slot] != 0; }
  std::uint64_t line_in(Slot slot) const { return tags_[slot] - 1; }
  Line& line(Slot slot) { return lines_[slot]; }
  Slot slots() const { return static_cast<Slot>(lines_.size()); }

 private:
  using Lanes = std::uint32_t __attribute__((vector_size(16)));
  static constexpr std::uint32_t lanes = sizeof(Lanes) / sizeof(std::uint32_t);

  static std::uint32_t tag_of(std::uint64_t line) { return static_cast<std::uint32_t>(line) + 1; }

  std::uint32_t ways_, slots_per_set_;  ///< ways and, up to whole vectors, slots that stay empty
  std::uint32_t sets_per_bank_;
  unsigned bank_bits_, set_bits_;
  bool hashed_sets_;  ///< a hash needs a power of two, others are counted off
  PolynomialHash bank_hash_, set_hash_;
  std::uint32_t clock_ = 0xFFFF0000;  ///< near its wrap, so that every run crosses it
  std::vector<std::uint32_t> tags_, used_;
  std::vector<Line> lines_;
};

}  // namespace t3vp
