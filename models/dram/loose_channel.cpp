#include "dram/loose_channel.h"

#include <stdexcept>

#include "dram/spec_rules.h"

namespace t3vp::dram {
namespace {

std::uint32_t banks_in(const Geometry& g) { return g.pseudo_channels * g.bank_groups * g.banks_per_group; }

}  // namespace

template <class Banks>
LooseChannelOf<Banks>::LooseChannelOf(const MemorySpec& spec)
    : decoder_(spec),
      timing_(spec),
      queue_(spec.queue_depth + accesses_of_block, spec.has_split_queues() ? 2 : 1, block_bits),
      banks_(banks_in(spec.geometry)),
      banks_count_(banks_in(spec.geometry)),
      depth_(spec.queue_depth),
      drain_from_(static_cast<std::uint32_t>(spec.queue_depth * spec.write_drain_from)),
      drain_to_(static_cast<std::uint32_t>(spec.queue_depth * spec.write_drain_to)),
      activate_cycles_(spec.activate_cycles),
      read_data_(spec.timing.CL + spec.timing.BURST),
      write_data_(spec.timing.CWL + spec.timing.BURST),
      burst_(spec.timing.BURST),
      refresh_time_(spec.timing.RFC),
      precharge_time_(spec.timing.RP),
      most_entering_(std::clamp(spec.queue_depth / 8, 1u, accesses_of_block)),
      dual_command_bus_(spec.dual_command_bus),
      split_oldest_first_(spec.has_split_queues()),
      reads_delay_precharges_(spec.timing.RTPL != 0),
      refresh_interval_(spec.timing.REFI),
      refresh_due_(spec.refresh ? spec.timing.REFI : never_cycle),
      refresh_grid_(refresh_due_),
      activations_(spec.geometry.pseudo_channels, ActivationSlots(std::max(4 * spec.timing.RRDS, spec.timing.FAW))),
      group_activations_(spec.timing.RRDL > spec.timing.RRDS ? timing_.groups() : 0,
                         ActivationSlots(4 * spec.timing.RRDL)),
      bus_free_(spec.geometry.pseudo_channels) {
  open_row_.fill(no_row);
  for (std::uint32_t a = 0; a < accesses_of_block; ++a)
    for (std::uint32_t b = 0; b < accesses_of_block; ++b) {
      const Location one = decoder().locate(a * access_bytes), other = decoder().locate(b * access_bytes);
      if (one.bank == other.bank && one.row == other.row)
        same_row_[a] = static_cast<std::uint8_t>(same_row_[a] | 1u << b);
    }
}

template <class Banks>
void LooseChannelOf<Banks>::listen(CommandListener*) {
  throw std::invalid_argument("a loosely-timed channel has no commands to log");
}

template <class Banks>
void LooseChannelOf<Banks>::add_wait(Wait reason, Cycle wait) {
  statistics_.waits[static_cast<std::size_t>(reason)] += wait;
}

template <class Banks>
void LooseChannelOf<Banks>::choose_class() {
  const std::uint32_t reads = queue_.waiting(0), writes = queue_.waiting(1);
  const bool draining = class_ == 1;
  if (!draining && writes != 0 && (waiting_[1] >= drain_from_ || reads == 0)) class_ = 1;
  if (draining && (writes == 0 || (waiting_[1] <= drain_to_ && reads != 0))) class_ = 0;
}

/// Each pseudo-channel is refreshed when all its banks may be closed. Requests whose rows are open are served before;
/// other banks open theirs behind it. The next refresh waits until some have done so: with short tREFI it comes late.
template <class Banks>
void LooseChannelOf<Banks>::refresh() {
  forget_activations();
  refresh_grid_ += refresh_interval_;
  refresh_due_ = refresh_grid_;
  const Cycle row_commands = banks_count_ * (1 + activate_cycles_);
  for (std::uint32_t pseudo = 0; pseudo < timing_.pseudo_channels(); ++pseudo) {
    Cycle time = now_;
    for (std::uint32_t bank = pseudo; bank < banks_count_; bank += timing_.pseudo_channels()) {
      if (opened_[bank] > now_) continue;
      const bool is_open = open_row_[bank] != no_row;
      time = std::max(time, is_open ? timing_.earliest(Need::precharge, bank) + precharge_time_
                                    : timing_.own(Need::activate, bank));
      if (is_open) ++statistics_.precharges;
    }
    refresh_due_ = std::max(refresh_due_, std::max(time + refresh_time_, now_ + row_commands) + 1 + activate_cycles_);
    for (std::uint32_t bank = pseudo; bank < banks_count_; bank += timing_.pseudo_channels()) {
      const bool opens_later = opened_[bank] > now_;
      if (opens_later) --statistics_.activates;  // it does not take place
      timing_.refresh(bank, time);
      open_row_[bank] = no_row;
      if ((bound_ >> bank & 1) != 0 && (opens_later || (to_open_ >> bank & 1) != 0)) reopen(bank, time + refresh_time_);
    }
    ++statistics_.refreshes;
  }
}

/// Those that are to come, and their commands, do not take place.
template <class Banks>
void LooseChannelOf<Banks>::forget_activations() {
  for (ActivationSlots& slots : activations_) slots.forget_after(now_);
  for (ActivationSlots& slots : group_activations_) slots.forget_after(now_);
  command_bus_free_ = now_;
}

template <class Banks>
void LooseChannelOf<Banks>::reopen(std::uint32_t bank, Cycle from) {
  wheel_.remove(bit_of<Banks>(bank));
  ready(request_of(bank).kind) &= ~bit_of<Banks>(bank);
  to_close_ &= ~bit_of<Banks>(bank);
  to_open_ |= bit_of<Banks>(bank);
  due_[bank] = from;
  go_on(bank);
}

/// Entries that are yet to leave have been there from their entry to now.
template <class Banks>
void LooseChannelOf<Banks>::note_occupancy() {
  statistics_.occupancy_cycles = integral_ + (std::uint64_t{waiting_[0]} + waiting_[1]) * now_;
}

template class LooseChannelOf<FewBanks>;
template class LooseChannelOf<ManyBanks>;

}  // namespace t3vp::dram
