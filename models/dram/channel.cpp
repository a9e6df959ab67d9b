#include "dram/channel.h"

#include <stdexcept>

namespace t3vp::dram {
namespace {

constexpr std::uint32_t refresh_never = 0;

void check(bool holds, const char* message) {
  if (!holds) throw std::invalid_argument(message);
}

MemorySpec checked(const MemorySpec& spec) {
  const Geometry& g = spec.geometry;
  check(std::uint64_t{g.pseudo_channels} * g.bank_groups * g.banks_per_group <= max_banks,
        "a channel has at most 64 banks, those of its pseudo-channels together");
  check(spec.queue_depth > 0, "queue_depth must be at least 1");
  check(spec.activate_cycles > 0, "activate_cycles must be at least 1");
  check(spec.timing.BURST > 0, "timing.BURST must be at least 1");
  check(!spec.refresh || (spec.timing.REFI > spec.timing.RFC && spec.timing.RFC > 0),
        "refresh needs timing.RFC above 0 and timing.REFI above timing.RFC");
  const WriteQueue& w = spec.write_queue;
  check(w.depth == 0 || (w.drain_to < w.drain_from && w.drain_from <= w.depth),
        "write_queue: drain_to < drain_from <= depth");
  return spec;
}

}  // namespace

double ChannelStatistics::row_hit_rate() const {
  const auto accesses = static_cast<double>(column_accesses());
  return accesses > 0 ? 1.0 - static_cast<double>(activates) / accesses : 0.0;
}

Channel::Channel(const MemorySpec& spec)
    : decoder_(checked(spec)),
      timing_(spec),
      queue_(spec.queue_depth + spec.write_queue.depth, spec.write_queue.depth == 0 ? 1 : 2),
      banks_count_(spec.geometry.pseudo_channels * spec.geometry.bank_groups * spec.geometry.banks_per_group),
      pseudo_channels_(spec.geometry.pseudo_channels),
      bank_groups_(spec.geometry.bank_groups),
      classes_(spec.write_queue.depth == 0 ? 1 : 2),
      depth_{spec.queue_depth, spec.write_queue.depth},
      drain_from_(spec.write_queue.drain_from),
      drain_to_(spec.write_queue.drain_to),
      activate_cycles_(spec.activate_cycles),
      read_data_(spec.timing.CL + spec.timing.BURST),
      write_data_(spec.timing.CWL + spec.timing.BURST),
      burst_(spec.timing.BURST),
      dual_command_bus_(spec.dual_command_bus),
      refresh_interval_(spec.refresh ? spec.timing.REFI : refresh_never),
      refresh_due_(spec.refresh ? spec.timing.REFI : never_cycle) {
  open_row_.fill(no_row);
}

void Channel::choose_class() {
  const std::uint32_t reads = queue_.waiting(0), writes = queue_.waiting(1);
  const bool draining = class_ == 1;
  if (!draining && writes != 0 && (held_[1] >= drain_from_ || reads == 0)) class_ = 1;
  if (draining && (writes == 0 || (held_[1] <= drain_to_ && reads != 0))) class_ = 0;
}

void Channel::bind() {
  visit_round_robin(bindable(), priority_, [this](std::uint32_t bank) {
    request_[bank] = queue_.take(class_, bank, open_row_[bank]);
    bound_ |= Banks{1} << bank;
    if (classes_ == 1) {
      --held_[0];
      ask_at_ = std::min(ask_at_, now_ + 1);
    }
    want_row_or_column(bank);
    return true;
  });
  priority_ = (priority_ + 1) % banks_count_;
}

void Channel::want_row_or_column(std::uint32_t bank) {
  const Banks bit = Banks{1} << bank;
  if ((open_ & bit) == 0) {
    want_activate_ |= bit;
    activate_wake_ = std::min(activate_wake_, timing_.earliest_activate(bank));
  } else if (open_row_[bank] == request_[bank].row) {
    want_column_ |= bit;
    column_wake_ = std::min(column_wake_, earliest_column(bank));
  } else {
    want_precharge_ |= bit;
    precharge_wake_ = std::min(precharge_wake_, timing_.earliest_precharge(bank));
  }
}

bool Channel::issue_row() {
  if (now_ < row_bus_free_) {
    activate_wake_ = std::max(activate_wake_, row_bus_free_);
    precharge_wake_ = std::max(precharge_wake_, row_bus_free_);
    return false;
  }
  Cycle activate_wake = never_cycle, precharge_wake = never_cycle;
  const bool activating = now_ >= activate_wake_, precharging = now_ >= precharge_wake_;
  const Banks candidates = (activating ? want_activate_ : 0) | (precharging ? want_precharge_ : 0);
  const bool issued = visit_round_robin(candidates & ~blocked_, priority_, [&](std::uint32_t bank) {
    const bool closed = (open_ >> bank & 1) == 0;
    const Cycle earliest = closed ? timing_.earliest_activate(bank) : timing_.earliest_precharge(bank);
    Cycle& wake = closed ? activate_wake : precharge_wake;
    wake = std::min(wake, earliest);
    if (earliest > now_) return false;
    closed ? activate(bank) : precharge(bank);
    priority_ = (bank + 1) % banks_count_;
    return true;
  });
  if (issued) {
    activate_wake_ = std::max(std::min(activate_wake_, now_ + 1), row_bus_free_);
    precharge_wake_ = std::max(std::min(precharge_wake_, now_ + 1), row_bus_free_);
    return true;
  }
  if (activating) activate_wake_ = activate_wake;
  if (precharging) precharge_wake_ = precharge_wake;
  return false;
}

void Channel::activate(std::uint32_t bank) {
  const Banks bit = Banks{1} << bank;
  timing_.activate(bank, now_);
  ++statistics_.activates;
  open_ |= bit;
  open_row_[bank] = request_[bank].row;
  want_activate_ &= ~bit;
  row_bus_free_ = now_ + activate_cycles_;
  if (listener_ != nullptr) log(CommandKind::activate, bank, open_row_[bank], 0);
  want_row_or_column(bank);
}

void Channel::precharge(std::uint32_t bank) {
  const Banks bit = Banks{1} << bank;
  timing_.precharge(bank, now_);
  ++statistics_.precharges;
  open_ &= ~bit;
  want_precharge_ &= ~bit;
  row_bus_free_ = now_ + 1;
  if (listener_ != nullptr) log(CommandKind::precharge, bank, open_row_[bank], 0);
  want_row_or_column(bank);
}

/// All banks of every pseudo-channel are refreshed together: new commands stop, open banks close as soon as they may.
void Channel::refresh() {
  if (now_ >= refresh_due_) {
    refresh_due_ += refresh_interval_;
    refreshing_ = (1u << pseudo_channels_) - 1;
    blocked_ = ~Banks{0};
  }
  refresh_wake_ = never_cycle;
  for (std::uint32_t pseudo = 0; pseudo < pseudo_channels_; ++pseudo)
    if ((refreshing_ >> pseudo & 1) != 0) refresh_wake_ = std::min(refresh_wake_, refresh_step(pseudo));
}

Cycle Channel::refresh_step(std::uint32_t pseudo) {
  const Banks banks = banks_of(pseudo);
  const bool closing = (open_ & banks) != 0;
  Cycle earliest = row_bus_free_;
  for (Banks rest = closing ? open_ & banks : banks; rest != 0; rest &= rest - 1) {
    const auto bank = static_cast<std::uint32_t>(__builtin_ctzll(rest));
    earliest = std::max(earliest, closing ? timing_.earliest_precharge(bank) : timing_.earliest_refresh(bank));
  }
  if (earliest > now_) return earliest;
  row_bus_free_ = now_ + 1;
  if (closing)
    precharge_all(pseudo);
  else
    refresh_all(pseudo);
  return now_ + 1;
}

void Channel::precharge_all(std::uint32_t pseudo) {
  const Banks banks = banks_of(pseudo);
  for (Banks rest = open_ & banks; rest != 0; rest &= rest - 1) {
    timing_.precharge(static_cast<std::uint32_t>(__builtin_ctzll(rest)), now_);
    ++statistics_.precharges;
  }
  open_ &= ~banks;
  want_activate_ |= (want_column_ | want_precharge_) & banks;
  want_column_ &= ~banks;
  want_precharge_ &= ~banks;
  if (listener_ != nullptr) log(CommandKind::precharge_all, pseudo, 0, 0);
}

void Channel::refresh_all(std::uint32_t pseudo) {
  const Banks banks = banks_of(pseudo);
  for (Banks rest = banks; rest != 0; rest &= rest - 1)
    timing_.refresh(static_cast<std::uint32_t>(__builtin_ctzll(rest)), now_);
  ++statistics_.refreshes;
  refreshing_ &= ~(1u << pseudo);
  blocked_ &= ~banks;
  activate_wake_ = now_ + 1;
  if (listener_ != nullptr) log(CommandKind::refresh, pseudo, 0, 0);
}

Channel::Banks Channel::banks_of(std::uint32_t pseudo) const {
  Banks banks = 0;
  for (std::uint32_t bank = pseudo; bank < banks_count_; bank += pseudo_channels_) banks |= Banks{1} << bank;
  return banks;
}

Cycle Channel::next_event() const {
  Cycle next = std::min({column_wake_, activate_wake_, precharge_wake_});
  if (room()) next = std::min(next, ask_at_);
  if (bindable() != 0) next = 0;
  next = std::min(next, refreshing_ != 0 ? refresh_wake_ : refresh_due_);
  return std::max(next, now_ + 1);
}

void Channel::advance(Cycle to) {
  statistics_.occupancy_cycles += occupancy() * (to - now_);
  now_ = to;
}

void Channel::log(CommandKind kind, std::uint32_t bank, std::uint32_t row, std::uint64_t address) {
  const bool column = kind == CommandKind::read || kind == CommandKind::write || kind == CommandKind::update;
  listener_->command({now_, kind, bank % pseudo_channels_, bank / pseudo_channels_ % bank_groups_,
                      bank / pseudo_channels_ / bank_groups_, row, column ? decoder_.column(address) : 0});
}

}  // namespace t3vp::dram
