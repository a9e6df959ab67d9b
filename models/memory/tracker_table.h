// The Tracker's table of wavefront tiles that are being counted: sets x ways entries (T3 4.2.1).
#pragma once

#include <cstdint>
#include <vector>

#include "memory/tracker_parameters.h"
#include "protocol/cause.h"
#include "protocol/units.h"

namespace t3vp::memory {

/// A wavefront tile of a mapped chunk: the chunk's place in the Tracker's list and the tile's in the chunk.
struct TileName {
  std::uint16_t chunk = no_chunk;
  std::uint32_t tile = 0;  ///< (wg_id - first workgroup) * wavefronts + wf_id

  static constexpr std::uint16_t no_chunk = 0xFFFF;
  bool operator==(const TileName& other) const { return chunk == other.chunk && tile == other.tile; }
};

class TrackerTable {
 public:
  struct Entry {
    TileName name;
    bool loading = false;                   ///< what has been spilled of it is on its way back
    std::uint64_t local = 0, incoming = 0;  ///< bytes counted
    std::uint64_t expected = 0;             ///< bytes
    std::uint64_t last_use = 0;
    Picoseconds last_count = 0;  ///< latest time at which bytes were counted
    Cause cause = {};            ///< of last_count
    bool used() const { return name.chunk != TileName::no_chunk; }
  };

  explicit TrackerTable(const TrackerParameters& parameters);

  /// The set in which a wavefront's tile of a chunk is counted. By index workgroup it is wg_id modulo sets, so that all
  /// wavefronts of a workgroup share a set, and so do the same workgroups of all chunks. By index hash consecutive
  /// tiles go to consecutive sets. Each round of the sets, and each chunk, begins where a multiple of the golden ratio
  /// puts it (Fibonacci hashing: Knuth, The Art of Computer Programming 3, 6.4).
  std::uint32_t set_of(std::uint16_t chunk, std::uint32_t wg_id, std::uint32_t wavefronts, std::uint32_t wf_id) const {
    if (index_ == TrackerIndex::workgroup) return wg_id & (sets_ - 1);
    const std::uint64_t tile = std::uint64_t{wg_id} * wavefronts + wf_id;
    return (static_cast<std::uint32_t>(tile) + begin(static_cast<std::uint32_t>(tile / sets_)) + begin(chunk)) &
           (sets_ - 1);
  }
  /// Null when the tile has no entry.
  Entry* find(std::uint32_t set, TileName name);
  /// The entry to give to another tile: a free one, else the least recently used that does not load; null when all do.
  Entry* room(std::uint32_t set);
  void touch(Entry& entry) { entry.last_use = ++uses_; }
  const std::vector<Entry>& entries() const { return entries_; }
  /// Empties the entries of a chunk; returns their number.
  std::uint64_t forget(std::uint16_t chunk);

 private:
  /// The fraction of number x 0.618..., of the sets.
  std::uint32_t begin(std::uint32_t number) const {
    constexpr std::uint32_t golden_ratio = 0x9E3779B9;  // x 2^32
    return static_cast<std::uint32_t>((std::uint64_t{golden_ratio * number} * sets_) >> 32);
  }
  Entry* begin_of(std::uint32_t set) { return &entries_[std::size_t{set} * ways_]; }

  std::uint32_t sets_, ways_;
  TrackerIndex index_;
  std::vector<Entry> entries_;
  std::uint64_t uses_ = 0;
};

}  // namespace t3vp::memory
