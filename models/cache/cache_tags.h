// Tags of the last-level cache: sectored, set-associative, least recently used. Plain C++, no time, no data.
//
// A line's age is a stamp, the number of its last use. Lines that one access has touched may form a group: a later use
// of all of them is one stamp of the group, and a line's age is the latest of its own and its groups'. So a repeated
// access costs nothing for each line, and the order of ages is the same.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
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

  using Stamp = std::int32_t;
  static constexpr Stamp last_stamp = std::numeric_limits<Stamp>::max() - 1;

  /// `stamp` is the one before the first. Behind the last one they begin again.
  explicit CacheTags(const CacheParameters& parameters, Stamp stamp = 0);

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
    __builtin_prefetch(ways->stamps.data());
    __builtin_prefetch(ways->entries.data());
    __builtin_prefetch(ways->entries.data() + lanes / 2);
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
  void use(Slot slot) { set_stamp(slot, next_stamp()); }

  /// The slot that the absent line takes: free or least recently used, a line with pending data only if all have some.
  /// The caller writes the old content back and then calls occupy().
  Slot victim(const Place& place);
  void occupy(Slot slot, std::uint64_t line);
  /// The slot is free and the next one to be taken.
  void drop(Slot slot);
  /// A sector of the line is no longer valid: its groups are not whole.
  void break_groups(Slot slot);
  void clear();

  using Group = std::uint64_t;  ///< counted from 1
  static constexpr Group no_group = 0;
  /// Lines that were used one after the other just now, in the order of their numbers. A line may come more than once.
  Group group(const std::vector<Slot>& slots);
  /// All lines of the group are there, with the sectors that they had.
  bool is_whole(Group group) const {
    const std::size_t place = group % groups_kept;
    return group != no_group && members_[place].group == group && groups_[place].whole;
  }
  /// Uses all lines of a group, in the order of their numbers.
  void use_group(Group group) { groups_[group % groups_kept].stamp = next_stamp(); }

  bool holds(Slot slot, std::uint64_t line) const { return tag(slot) == tag_of(line); }
  bool occupied(Slot slot) const { return tag(slot) != 0; }
  std::uint64_t line_in(Slot slot) const { return tag(slot) - 1; }
  Line& line(Slot slot) { return ways_[slot / lanes].entries[slot % lanes].line; }
  const Line& line(Slot slot) const { return ways_[slot / lanes].entries[slot % lanes].line; }
  /// The memory of the slot on the simulating machine.
  void prefetch(Slot slot) const {
    const Ways& ways = ways_[slot / lanes];
    __builtin_prefetch(ways.tags.data());
    __builtin_prefetch(&ways.entries[slot % lanes]);
  }
  Slot slots() const { return static_cast<Slot>(ways_.size() * lanes); }

 private:
  static constexpr std::uint32_t lanes = 16;
  using Words = std::uint32_t __attribute__((vector_size(16)));

  static constexpr Stamp first_stamp = -(1 << 30);
  using GroupBits = std::uint16_t;  ///< the lowest bits of a group's number
  static constexpr std::size_t groups_kept = 1024, groups_of_line = 2;

  using Stamps = Stamp __attribute__((vector_size(16)));
  using Groups = std::array<GroupBits, groups_of_line>;
  struct Entry {
    Line line;
    Groups groups{};
  };

  /// A set is a few of these, the last with lanes that stay empty when the ways do not fill it. A hit touches three of
  /// its four 64-byte lines of the host.
  struct alignas(64) Ways {
    std::array<Words, 4> tags{};
    std::array<Stamps, 4> stamps{};
    std::array<Entry, lanes> entries{};
  };

  /// What a line's age needs of a group: small, since most lines that are replaced ask for two of them.
  struct GroupAge {
    GroupBits bits = 0;  ///< 0 when there is none
    bool whole = false;
    Stamp stamp = first_stamp;  ///< of the last use, if there was one
  };
  struct Members {
    Group group = no_group;
    std::vector<Slot> slots;
  };

  static std::uint32_t tag_of(std::uint64_t line) { return static_cast<std::uint32_t>(line) + 1; }
  std::uint32_t tag(Slot slot) const { return ways_[slot / lanes].tags[slot % lanes / 4][slot % 4]; }
  Stamp stamp(Slot slot) const { return ways_[slot / lanes].stamps[slot % lanes / 4][slot % 4]; }
  void set_stamp(Slot slot, Stamp stamp) { ways_[slot / lanes].stamps[slot % lanes / 4][slot % 4] = stamp; }
  Groups& groups_of(Slot slot) { return ways_[slot / lanes].entries[slot % lanes].groups; }
  /// Null when the group has ended.
  GroupAge* find_group(GroupBits bits) {
    GroupAge& place = groups_[bits % groups_kept];
    return bits != 0 && place.bits == bits ? &place : nullptr;
  }
  Stamp next_stamp() {
    if (stamp_ == last_stamp) renumber();
    return ++stamp_;
  }
  bool note_age(Slot slot);
  bool is_older(Slot slot, Slot than) const;
  Slot oldest(const Place& place) const;
  Slot oldest_settled(const Place& place);
  void join(Slot slot, GroupBits bits);
  void end_group(std::size_t place);
  void end_groups();
  void renumber();

  std::uint32_t associativity_, vectors_;  ///< ways and vectors of ways of a set
  std::uint32_t sets_per_bank_;
  unsigned bank_bits_, set_bits_;
  bool hashed_sets_;  ///< a hash needs a power of two, others are counted off
  PolynomialHash bank_hash_, set_hash_;
  std::vector<Ways> ways_;
  Stamp stamp_ = 0;                 ///< of the last use
  Stamp drop_stamp_ = first_stamp;  ///< of the last drop; older than all
  Group last_group_ = no_group;
  std::vector<GroupAge> groups_ = std::vector<GroupAge>(groups_kept);
  std::vector<Members> members_ = std::vector<Members>(groups_kept);  ///< of each group
};

}  // namespace t3vp::cache
