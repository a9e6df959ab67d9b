// Writes on their way from the cache to memory, by line. Accesses leave the cache with delays of their own, so that a
// later one could reach memory first: a fill before the write-back of the same line, an old write-back after a peer's
// newer store. Whoever sends asks here for the time from which on its access is in order.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "protocol/units.h"

namespace t3vp::cache {

class WriteOrder {
 public:
  /// A write of sectors of a line reaches memory at `arrival`. Nothing that is sent from now on arrives before
  /// `earliest`, so that older writes are forgotten.
  void add(std::uint64_t line, std::uint8_t sectors, Picoseconds arrival, Picoseconds earliest);

  /// The earliest time from `arrival` on that is behind all writes of one of the sectors. What arrives at the same time
  /// has no order of its own, since writes come from several GPUs.
  Picoseconds after(std::uint64_t line, std::uint8_t sectors, Picoseconds arrival) const {
    return arrival > latest_ ? arrival : look_up(line, sectors, arrival);
  }

 private:
  struct Entry {
    std::uint32_t line = 0;
    std::uint8_t sectors = 0;
    Picoseconds arrival = 0;
  };
  struct alignas(64) Bucket {
    std::array<Entry, 4> entries{};
  };

  Picoseconds look_up(std::uint64_t line, std::uint8_t sectors, Picoseconds arrival) const;
  std::size_t bucket_of(std::uint32_t line) const { return line * 0x9E3779B1u >> shift_; }
  bool insert(const Entry& entry, Picoseconds earliest);

  unsigned shift_ = 24;
  std::vector<Bucket> buckets_ = std::vector<Bucket>(std::size_t{1} << 8);
  Picoseconds latest_ = 0;  ///< arrival of the last write of all
};

}  // namespace t3vp::cache
