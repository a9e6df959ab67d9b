#include "dram/channel.h"

#include "dram/spec_rules.h"

namespace t3vp::dram {
namespace {

constexpr std::uint32_t refresh_never = 0;

using AnyChannel =
    std::variant<ChannelOf<FewBanks>, ChannelOf<ManyBanks>, LooseChannelOf<FewBanks>, LooseChannelOf<ManyBanks>>;

std::uint64_t bank_count(const Geometry& g) {
  return std::uint64_t{g.pseudo_channels} * g.bank_groups * g.banks_per_group;
}

AnyChannel channel_for(const MemorySpec& spec) {
  const bool few = bank_count(spec.geometry) <= capacity_of<FewBanks>;
  if (spec.model == Model::exact)
    return few ? AnyChannel(std::in_place_index<0>, spec) : AnyChannel(std::in_place_index<1>, spec);
  return few ? AnyChannel(std::in_place_index<2>, spec) : AnyChannel(std::in_place_index<3>, spec);
}

const MemorySpec& checked(const MemorySpec& spec) {
  check_parameters(ParameterCheck("DRAM channel"), spec);
  return spec;
}

std::uint32_t part_of(std::uint32_t depth, double part) { return static_cast<std::uint32_t>(depth * part); }

}  // namespace

double ChannelStatistics::row_hit_rate() const {
  const auto accesses = static_cast<double>(column_accesses());
  return accesses > 0 ? 1.0 - static_cast<double>(activates) / accesses : 0.0;
}

template <class Banks>
ChannelOf<Banks>::ChannelOf(const MemorySpec& spec)
    : decoder_(spec),
      timing_(spec),
      queue_(spec.queue_depth, spec.has_split_queues() ? 2 : 1, 5),
      banks_(bank_count(spec.geometry)),
      banks_count_(static_cast<std::uint32_t>(bank_count(spec.geometry))),
      pseudo_channels_(spec.geometry.pseudo_channels),
      bank_groups_(spec.geometry.bank_groups),
      depth_(spec.queue_depth),
      drain_from_(part_of(spec.queue_depth, spec.write_drain_from)),
      drain_to_(part_of(spec.queue_depth, spec.write_drain_to)),
      activate_cycles_(spec.activate_cycles),
      read_data_(spec.timing.CL + spec.timing.BURST),
      write_data_(spec.timing.CWL + spec.timing.BURST),
      burst_(spec.timing.BURST),
      dual_command_bus_(spec.dual_command_bus),
      split_oldest_first_(spec.has_split_queues()),
      refresh_interval_(spec.refresh ? spec.timing.REFI : refresh_never),
      refresh_due_(spec.refresh ? spec.timing.REFI : never_cycle) {
  open_row_.fill(no_row);
}

template <class Banks>
void ChannelOf<Banks>::choose_class() {
  const std::uint32_t reads = queue_.waiting(0), writes = queue_.waiting(1);
  const bool draining = class_ == 1;
  if (!draining && writes != 0 && (held_[1] >= drain_from_ || reads == 0)) class_ = 1;
  if (draining && (writes == 0 || (held_[1] <= drain_to_ && reads != 0))) class_ = 0;
}

/// For banks whose state changed while they had a request.
template <class Banks>
void ChannelOf<Banks>::reschedule(Banks banks) {
  for (Ready& ready : ready_) remove(ready, banks);
  wheel_.remove(banks);
  for_each_bank(banks & bound_, [this](std::uint32_t bank) { schedule(bank); });
}

/// All banks of every pseudo-channel are refreshed together: new commands stop, open banks close as soon as they may.
template <class Banks>
void ChannelOf<Banks>::refresh() {
  if (now_ >= refresh_due_) {
    refresh_due_ += refresh_interval_;
    refreshing_ = (1u << pseudo_channels_) - 1;
    blocked_ = ~Banks{0};
  }
  refresh_wake_ = never_cycle;
  for (std::uint32_t pseudo = 0; pseudo < pseudo_channels_; ++pseudo)
    if ((refreshing_ >> pseudo & 1) != 0) refresh_wake_ = std::min(refresh_wake_, refresh_step(pseudo));
}

template <class Banks>
Cycle ChannelOf<Banks>::refresh_step(std::uint32_t pseudo) {
  const Banks banks = banks_of(pseudo);
  const bool closing = (open_ & banks) != 0;
  Cycle earliest = row_bus_free_;
  for_each_bank(closing ? open_ & banks : banks, [&](std::uint32_t bank) {
    earliest =
        std::max(earliest, closing ? timing_.earliest(Need::precharge, bank) : timing_.own(Need::activate, bank));
  });
  if (earliest > now_) return earliest;
  row_bus_free_ = now_ + 1;
  if (closing)
    precharge_all(pseudo);
  else
    refresh_all(pseudo);
  return now_ + 1;
}

template <class Banks>
void ChannelOf<Banks>::precharge_all(std::uint32_t pseudo) {
  const Banks banks = open_ & banks_of(pseudo);
  open_ &= ~banks;
  statistics_.precharges += count_of(banks);
  for_each_bank(banks, [this](std::uint32_t bank) { timing_.precharge(bank, now_); });
  reschedule(banks);
  if (listener_ != nullptr) log(CommandKind::precharge_all, pseudo, 0);
}

template <class Banks>
void ChannelOf<Banks>::refresh_all(std::uint32_t pseudo) {
  const Banks banks = banks_of(pseudo);
  refreshing_ &= ~(1u << pseudo);
  blocked_ &= ~banks;
  ++statistics_.refreshes;
  for_each_bank(banks, [this](std::uint32_t bank) { timing_.refresh(bank, now_); });
  reschedule(banks);
  if (listener_ != nullptr) log(CommandKind::refresh, pseudo, 0);
}

template <class Banks>
Banks ChannelOf<Banks>::banks_of(std::uint32_t pseudo) const {
  Banks banks = 0;
  for (std::uint32_t bank = pseudo; bank < banks_count_; bank += pseudo_channels_) banks |= bit_of<Banks>(bank);
  return banks;
}

template <class Banks>
void ChannelOf<Banks>::log(CommandKind kind, std::uint32_t bank, std::uint32_t row, std::uint32_t column) {
  listener_->command({now_, kind, bank % pseudo_channels_, bank / pseudo_channels_ % bank_groups_,
                      bank / pseudo_channels_ / bank_groups_, row, column});
}

template <class Banks>
void ChannelOf<Banks>::log_column(std::uint32_t bank) {
  const Request& request = request_of(bank);
  const CommandKind kind = request.kind == Kind::read    ? CommandKind::read
                           : request.kind == Kind::write ? CommandKind::write
                                                         : CommandKind::update;
  log(kind, bank, request.row, decoder().column(request.address));
}

template class ChannelOf<FewBanks>;
template class ChannelOf<ManyBanks>;

Channel::Channel(const MemorySpec& spec) : channel_(channel_for(checked(spec))) {}

}  // namespace t3vp::dram
