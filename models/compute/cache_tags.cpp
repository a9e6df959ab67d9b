#include "compute/cache_tags.h"

#include <algorithm>

namespace t3vp {
namespace {

/// Of the least power of two that is not below n.
unsigned bits_for(std::uint64_t n) {
  unsigned bits = 0;
  while ((std::uint64_t{1} << bits) < n) ++bits;
  return bits;
}

}  // namespace

CacheTags::CacheTags(const CacheParameters& parameters)
    : ways_(parameters.ways),
      slots_per_set_((ways_ + lanes - 1) / lanes * lanes),
      sets_per_bank_(static_cast<std::uint32_t>(
          std::max<std::uint64_t>(1, parameters.capacity_bytes / parameters.line_bytes / ways_ / parameters.banks))),
      bank_bits_(bits_for(parameters.banks)),
      set_bits_(bits_for(sets_per_bank_)),
      hashed_sets_((sets_per_bank_ & (sets_per_bank_ - 1)) == 0 && set_bits_ <= PolynomialHash::max_bits),
      bank_hash_(bank_bits_),
      set_hash_(hashed_sets_ ? set_bits_ : 0) {
  const std::size_t slots = std::size_t{sets_per_bank_} * parameters.banks * slots_per_set_;
  tags_.resize(slots);
  used_.resize(slots);
  lines_.resize(slots);
}

CacheTags::Slot CacheTags::victim(const Place& place) const {
  const Slot first = place.first;
  Slot best = none, best_pending = first;
  for (Slot slot = first; slot < first + ways_; ++slot) {
    if (tags_[slot] == 0) return slot;
    // Ages, not stamps, so that the 32-bit clock may wrap around.
    const auto older = [this](Slot a, Slot b) { return clock_ - used_[a] > clock_ - used_[b]; };
    if (lines_[slot].pending == 0 && (best == none || older(slot, best))) best = slot;
    if (older(slot, best_pending)) best_pending = slot;
  }
  return best != none ? best : best_pending;
}

void CacheTags::occupy(Slot slot, std::uint64_t line) {
  tags_[slot] = tag_of(line);
  used_[slot] = ++clock_;
  lines_[slot] = Line{};
}

}  // namespace t3vp
