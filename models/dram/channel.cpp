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
  check(spec.write_drain_to >= 0 && spec.write_drain_to < spec.write_drain_from && spec.write_drain_from <= 1,
        "a burst of writes needs 0 <= write_drain_to < write_drain_from <= 1");
  return spec;
}

std::uint32_t part_of(std::uint32_t depth, double part) { return static_cast<std::uint32_t>(depth * part); }

bool split_oldest_first(const MemorySpec& spec) {
  if (spec.queueing == Queueing::by_geometry) return spec.geometry.pseudo_channels > 1;
  return spec.queueing == Queueing::split_oldest_first;
}

}  // namespace

double ChannelStatistics::row_hit_rate() const {
  const auto accesses = static_cast<double>(column_accesses());
  return accesses > 0 ? 1.0 - static_cast<double>(activates) / accesses : 0.0;
}

Channel::Channel(const MemorySpec& spec)
    : decoder_(checked(spec)),
      timing_(spec),
      queue_(split_oldest_first(spec) ? 2 * spec.queue_depth : spec.queue_depth, split_oldest_first(spec) ? 2 : 1),
      banks_count_(spec.geometry.pseudo_channels * spec.geometry.bank_groups * spec.geometry.banks_per_group),
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
      split_oldest_first_(split_oldest_first(spec)),
      refresh_interval_(spec.refresh ? spec.timing.REFI : refresh_never),
      refresh_due_(spec.refresh ? spec.timing.REFI : never_cycle) {
  open_row_.fill(no_row);
  const std::uint32_t groups = pseudo_channels_ * bank_groups_;
  for (std::uint32_t bank = 0; bank < banks_count_; ++bank)
    for (std::uint32_t other = bank % groups; other < banks_count_; other += groups)
      group_banks_[bank] |= Banks{1} << other;
}

void Channel::choose_class() {
  const std::uint32_t reads = queue_.waiting(0), writes = queue_.waiting(1);
  const bool draining = class_ == 1;
  if (!draining && writes != 0 && (held_[1] >= drain_from_ || reads == 0)) class_ = 1;
  if (draining && (writes == 0 || (held_[1] <= drain_to_ && reads != 0))) class_ = 0;
}

void Channel::bind() {
  if (split_oldest_first_) {
    for_each_bank(bindable(), [this](std::uint32_t bank) { bind_bank(bank); });
    return;
  }
  bind_bank(first_from(bindable(), priority_));
  priority_ = (priority_ + 1) % banks_count_;
}

void Channel::bind_bank(std::uint32_t bank) {
  request_[bank] = queue_.take(class_, bank, open_row_[bank]);
  bound_ |= Banks{1} << bank;
  if (!split_oldest_first_) leave_queue(request_[bank].kind);
  schedule(bank);
}

void Channel::leave_queue(Kind kind) {
  --held_[queue_.class_of(kind)];
  ask_at_ = std::min(ask_at_, now_ + 1);
}

void Channel::schedule(std::uint32_t bank) {
  const Banks bit = Banks{1} << bank;
  if ((bound_ & bit) == 0) return;
  Ready* ready = &precharge_;
  Cycle own = timing_.own_precharge(bank);
  if (!is_open(bank)) {
    ready = &activate_;
    own = timing_.own_activate(bank);
  } else if (open_row_[bank] == request_[bank].row) {
    const bool read = request_[bank].kind == Kind::read;
    ready = read ? &read_ : &write_;
    own = read ? timing_.own_read(bank) : timing_.own_write(bank);
  }
  if (own > now_) {
    wheel_.add(bank, own, now_);
  } else {
    ready->banks |= bit;
    ready->wake = std::min(ready->wake, now_);
  }
}

void Channel::remove(Ready& ready, Banks banks) {
  ready.banks &= ~banks;
  if (ready.banks == 0) ready.wake = never_cycle;
}

std::uint32_t Channel::choose(Banks legal) const {
  std::uint32_t chosen = first_from(legal, priority_);
  if (!split_oldest_first_) return chosen;
  for_each_bank(legal, [&](std::uint32_t bank) {
    if (older(request_[bank].order, request_[chosen].order)) chosen = bank;
  });
  return chosen;
}

void Channel::issue_row() {
  const Banks banks =
      legal(activate_, blocked_, [this](std::uint32_t bank) { return timing_.shared_activate(bank); }) |
      legal(precharge_, blocked_, [this](std::uint32_t bank) { return timing_.shared_precharge(bank); });
  if (banks == 0) return;
  const std::uint32_t bank = choose(banks);
  is_open(bank) ? precharge(bank) : activate(bank);
  priority_ = (bank + 1) % banks_count_;
}

void Channel::activate(std::uint32_t bank) {
  const Banks bit = Banks{1} << bank;
  timing_.activate(bank, now_);
  ++statistics_.activates;
  open_ |= bit;
  open_row_[bank] = request_[bank].row;
  row_bus_free_ = now_ + activate_cycles_;
  activate_.wake = timing_.any_activate();
  remove(activate_, bit);
  if (listener_ != nullptr) log(CommandKind::activate, bank, open_row_[bank]);
  schedule(bank);
}

void Channel::precharge(std::uint32_t bank) {
  const Banks bit = Banks{1} << bank;
  timing_.precharge(bank, now_);
  ++statistics_.precharges;
  open_ &= ~bit;
  row_bus_free_ = now_ + 1;
  remove(precharge_, bit);
  if (listener_ != nullptr) log(CommandKind::precharge, bank, open_row_[bank]);
  schedule(bank);
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
  for_each_bank(closing ? open_ & banks : banks, [&](std::uint32_t bank) {
    const Cycle legal =
        closing ? std::max(timing_.own_precharge(bank), timing_.shared_precharge(bank)) : timing_.own_activate(bank);
    earliest = std::max(earliest, legal);
  });
  if (earliest > now_) return earliest;
  row_bus_free_ = now_ + 1;
  if (closing)
    precharge_all(pseudo);
  else
    refresh_all(pseudo);
  return now_ + 1;
}

void Channel::precharge_all(std::uint32_t pseudo) {
  const Banks banks = open_ & banks_of(pseudo);
  open_ &= ~banks;
  for (Ready* ready : {&read_, &write_, &precharge_}) remove(*ready, banks);
  for_each_bank(banks, [this](std::uint32_t bank) {
    timing_.precharge(bank, now_);
    ++statistics_.precharges;
    schedule(bank);
  });
  if (listener_ != nullptr) log(CommandKind::precharge_all, pseudo, 0);
}

void Channel::refresh_all(std::uint32_t pseudo) {
  const Banks banks = banks_of(pseudo);
  refreshing_ &= ~(1u << pseudo);
  blocked_ &= ~banks;
  remove(activate_, banks);
  for_each_bank(banks, [this](std::uint32_t bank) {
    timing_.refresh(bank, now_);
    schedule(bank);
  });
  ++statistics_.refreshes;
  if (listener_ != nullptr) log(CommandKind::refresh, pseudo, 0);
}

Banks Channel::banks_of(std::uint32_t pseudo) const {
  Banks banks = 0;
  for (std::uint32_t bank = pseudo; bank < banks_count_; bank += pseudo_channels_) banks |= Banks{1} << bank;
  return banks;
}

Cycle Channel::next_event() const {
  if (bindable() != 0) return now_ + 1;
  Cycle next = std::min({read_.wake, write_.wake, row_wake(), wheel_.next(now_)});
  if (room()) next = std::min(next, ask_at_);
  next = std::min(next, refreshing_ != 0 ? refresh_wake_ : refresh_due_);
  return std::max(next, now_ + 1);
}

void Channel::advance(Cycle to) {
  statistics_.occupancy_cycles += occupancy() * (to - now_);
  now_ = to;
}

void Channel::log(CommandKind kind, std::uint32_t bank, std::uint32_t row, std::uint32_t column) {
  listener_->command({now_, kind, bank % pseudo_channels_, bank / pseudo_channels_ % bank_groups_,
                      bank / pseudo_channels_ / bank_groups_, row, column});
}

void Channel::log_column(std::uint32_t bank) {
  const Request& request = request_[bank];
  const CommandKind kind = request.kind == Kind::read    ? CommandKind::read
                           : request.kind == Kind::write ? CommandKind::write
                                                         : CommandKind::update;
  log(kind, bank, request.row, decoder_.column(request.address));
}

}  // namespace t3vp::dram
