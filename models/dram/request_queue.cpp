#include "dram/request_queue.h"

#include <stdexcept>

namespace t3vp::dram {

RequestQueue::RequestQueue(std::uint32_t capacity, std::uint32_t classes) : classes_(classes), pool_(capacity) {
  if (capacity == 0 || capacity >= none) throw std::invalid_argument("a DRAM queue has 1 to 65000 entries");
  for (std::uint32_t slot = 0; slot < capacity; ++slot)
    pool_[slot].next = static_cast<std::uint16_t>(slot + 1 == capacity ? none : slot + 1);
}

Request RequestQueue::take_oldest_of_address(std::uint32_t cls, std::uint16_t slot, std::uint16_t previous) {
  const Request& wanted = pool_[slot];
  const std::uint32_t other = 1 - cls;
  std::uint16_t before = none;
  for (std::uint16_t at = lists_[other][wanted.bank].head; at != none; before = at, at = pool_[at].next) {
    if (!older(pool_[at].order, wanted.order)) break;
    if (pool_[at].address == wanted.address) return remove(other, wanted.bank, at, before);
  }
  return remove(cls, wanted.bank, slot, previous);
}

}  // namespace t3vp::dram
