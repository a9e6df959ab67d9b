// Tags of the last-level cache: sectored, set-associative, least recently used. Plain C++, no time, no data.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "cache/cache_parameters.h"
#include "protocol/data_protocol.h"
#include "protocol/polynomial_hash.h"

namespace t3vp::cache {

class CacheTags {
 public:
  using Slot = std::uint32_t;
  static constexpr Slot none = 0xFFFFFFFF;

  static_assert(traffic_classes_most <= 1 << 6, "a line has 6 bits for its producer");

  struct Line {
    std::uint8_t valid = 0;    ///< sectors that can be read whole; bit i is sector i
    std::uint8_t dirty = 0;    ///< sectors that have stored bytes; those that are not valid lack the others
    std::uint8_t pending = 0;  ///< valid sectors whose data is still on its way
    /// Class of the dirty sectors: late write-backs stay in it.
    TrafficClass producer : 6;
    bool partial : 1;  ///< some dirty sector has bytes that were not stored; DirtyBytes has the mask
    bool real : 1;     ///< the line has its bytes
    Line() : producer(TrafficClass::control), partial(false), real(false) {}
  };

  /// The possible location of a line. A bank has sets of its own, as a slice of Accel-Sim's cache has; both are hashed.
  struct Place {
    std::uint64_t line;
    std::uint32_t bank, set;
  };

  explicit CacheTags(const CacheParameters& parameters);

  /// Also prefetches the set's memory on the simulating machine. A caller that asks a few accesses ahead does not wait
  /// for it.
  Place place_of(std::uint64_t line) const {
    const std::uint64_t number = line >> bank_bits_;
    const std::uint32_t bank = bank_hash_(line);
    const std::uint32_t in_bank =
        hashed_sets_ ? set_hash_(number) : static_cast<std::uint32_t>(number % sets_per_bank_);
    const std::uint32_t set = bank * sets_per_bank_ + in_bank;
    const Ways* ways = &ways_[std::size_t{set} * vectors_];
    __builtin_prefetch(ways);
    __builtin_prefetch(ways->lines.data());
    return {line, bank, set};
  }

  /// The line's slot; none when the line is absent. All ways are compared: where an early exit would lie cannot be
  /// predicted, and a mispredicted branch costs more than the comparisons, which are vectors.
  Slot find(const Place& place) const {
    const std::uint32_t tag = tag_of(place.line), first = place.set * vectors_;
    for (std::uint32_t vector = first; vector < first + vectors_; ++vector) {
      Words hits{}, numbers = {1, 2, 3, 4};
      for (const Words& tags : ways_[vector].tags) {
        hits |= (tags == tag) & numbers;
        numbers += 4;
      }
      const std::uint32_t number = hits[0] | hits[1] | hits[2] | hits[3];
      if (number != 0) return vector * lanes + number - 1;
    }
    return none;
  }

  /// Makes the line the most recently used one of its set.
  void use(const Place& place, Slot slot) { make_youngest(place.set * vectors_, slot); }

  /// The slot that the absent line takes: free or least recently used, a line with pending data only if all have some.
  /// The caller writes the old content back and then calls occupy().
  Slot victim(const Place& place) const;
  void occupy(Slot slot, std::uint64_t line);
  /// The slot is free and the next one to be taken.
  void drop(Slot slot);
  void clear();

  bool holds(Slot slot, std::uint64_t line) const { return tag(slot) == tag_of(line); }
  bool occupied(Slot slot) const { return tag(slot) != 0; }
  std::uint64_t line_in(Slot slot) const { return tag(slot) - 1; }
  Line& line(Slot slot) { return ways_[slot / lanes].lines[slot % lanes]; }
  const Line& line(Slot slot) const { return ways_[slot / lanes].lines[slot % lanes]; }
  Slot slots() const { return static_cast<Slot>(ways_.size() * lanes); }

 private:
  static constexpr std::uint32_t lanes = 16;
  using Bytes = std::uint8_t __attribute__((vector_size(16)));
  using Words = std::uint32_t __attribute__((vector_size(16)));

  /// A set is a few of these, the last with lanes that stay empty when the ways do not fill it. A hit touches the first
  /// two of its three 64-byte lines of the host, seldom the third.
  struct alignas(64) Ways {
    Bytes ages{};  ///< 0: the set's most recently used
    std::array<Words, 4> tags{};
    std::array<Line, lanes> lines{};
  };

  static std::uint32_t tag_of(std::uint64_t line) { return static_cast<std::uint32_t>(line) + 1; }
  std::uint32_t tag(Slot slot) const { return ways_[slot / lanes].tags[slot % lanes / 4][slot % 4]; }

  std::uint32_t first_of(Slot slot) const { return slot / lanes / vectors_ * vectors_; }

  void make_youngest(std::uint32_t first, Slot slot) {
    const std::uint8_t age = ways_[slot / lanes].ages[slot % lanes];
    for (std::uint32_t vector = first; vector < first + vectors_; ++vector)
      ways_[vector].ages -= reinterpret_cast<Bytes>(ways_[vector].ages < age);
    ways_[slot / lanes].ages[slot % lanes] = 0;
  }

  std::uint32_t associativity_, vectors_;  ///< ways and vectors of ways of a set
  std::uint32_t sets_per_bank_;
  unsigned bank_bits_, set_bits_;
  bool hashed_sets_;  ///< a hash needs a power of two, others are counted off
  PolynomialHash bank_hash_, set_hash_;
  std::vector<Ways> ways_;
};

}  // namespace t3vp::cache
