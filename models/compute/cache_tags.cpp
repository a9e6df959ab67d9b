#include "compute/cache_tags.h"

namespace t3vp {

CacheTags::CacheTags(const CacheParameters& parameters) : ways_(parameters.ways), bank_mask_(parameters.banks - 1) {
  const std::uint64_t slots = parameters.capacity_bytes / parameters.line_bytes;
  const std::uint64_t sets = slots / ways_;
  while ((std::uint64_t{1} << set_bits_) < sets) ++set_bits_;
  set_mask_ = sets - 1;
  tags_.resize(slots);
  used_.resize(slots);
  lines_.resize(slots);
}

CacheTags::Slot CacheTags::victim(std::uint64_t line) const {
  const Slot first = set_of(line) * ways_;
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
  tags_[slot] = static_cast<std::uint32_t>(line) + 1;
  used_[slot] = ++clock_;
  lines_[slot] = Line{};
}

}  // namespace t3vp
