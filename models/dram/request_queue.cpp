#include "dram/request_queue.h"

namespace t3vp::dram {

template <class Banks>
RequestQueue<Banks>::RequestQueue(std::uint32_t depth, std::uint32_t classes, std::uint32_t block_bits)
    : classes_(classes), block_bits_(block_bits), pool_(std::size_t{depth} * classes + capacity_of<Banks>) {
  for (std::uint32_t slot = 0; slot < pool_.size(); ++slot) pool_[slot].next = slot + 1;
}

template <class Banks>
std::uint32_t RequestQueue<Banks>::take_oldest_of_address(std::uint32_t cls, std::uint32_t slot,
                                                          std::uint32_t previous) {
  const Request& wanted = pool_[slot];
  const std::uint32_t other = 1 - cls;
  std::uint32_t before = none;
  for (std::uint32_t at = lists_[other][wanted.bank].head; at != none; before = at, at = pool_[at].next) {
    if (!older(pool_[at].order, wanted.order)) break;
    if ((pool_[at].address ^ wanted.address) >> block_bits_ == 0) return remove(other, wanted.bank, at, before);
  }
  return remove(cls, wanted.bank, slot, previous);
}

template class RequestQueue<FewBanks>;
template class RequestQueue<ManyBanks>;

}  // namespace t3vp::dram
