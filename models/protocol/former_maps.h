// The sends of removed maps to peers, for the diagnosis. Data that arrived before a receiver mapped its chunk is
// missing there, and the sender's map may be gone when that is noticed.
#pragma once

#include <deque>
#include <optional>

#include "protocol/staged_chunk.h"
#include "protocol/units.h"

namespace t3vp {

class FormerMaps {
 public:
  /// A map of this chunk to an output at `peer` is removed; the last of it was sent at this time.
  void note(const StagedChunk& range, std::uint64_t peer, Picoseconds last_sent) {
    if (maps_.size() == kept) maps_.pop_front();
    maps_.push_back({range, peer, last_sent});
  }
  void clear() { maps_.clear(); }

  /// Returns the time of the last send by the most recently removed map from the workgroup's tile to this address;
  /// nothing when there was none.
  std::optional<Picoseconds> last_sent(std::uint32_t wg_id, std::uint64_t peer_address) const {
    for (auto map = maps_.rbegin(); map != maps_.rend(); ++map)
      if (map->range.contains(wg_id, peer_address - map->peer + map->range.base)) return map->last_sent;
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kept = 64;  ///< the latest; programs may map and remove for ever
  struct Map {
    StagedChunk range;
    std::uint64_t peer;
    Picoseconds last_sent;
  };
  std::deque<Map> maps_;
};

}  // namespace t3vp
