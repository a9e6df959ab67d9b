#include "compute/cache_tags.h"

namespace t3vp {

CacheTags::CacheTags(const CacheParameters& parameters)
    : ways_(parameters.ways),
      slots_per_set_((ways_ + lanes - 1) / lanes * lanes),
      sets_(static_cast<std::uint32_t>(parameters.capacity_bytes / parameters.line_bytes / ways_)),
      power_of_two_((sets_ & (sets_ - 1)) == 0),
      bank_mask_(parameters.banks - 1) {
  while ((std::uint64_t{1} << set_bits_) < sets_) ++set_bits_;
  while ((std::uint32_t{1} << bank_bits_) < parameters.banks) ++bank_bits_;
  const std::size_t slots = std::size_t{sets_} * slots_per_set_;
  tags_.resize(slots);
  used_.resize(slots);
  lines_.resize(slots);
}

CacheTags::Slot CacheTags::victim(std::uint64_t line) const {
  const Slot first = first_slot(line);
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
