// The part of a loosely-timed channel that every run needs, inlined into one loop for each caller. Included by
// loose_channel.h.
#pragma once

#include "dram/loose_channel.h"

namespace t3vp::dram {

template <class Banks>
template <class Feed, class Done>
[[gnu::flatten]] void LooseChannelOf<Banks>::run(Cycle until, Feed&& feed, Done&& done) {
  ask_at_ = std::max(now_, entering_until_);
  while (now_ < until) {
    if (wheel_.due(now_)) for_each_bank(wheel_.take(now_), [this](std::uint32_t bank) { go_on(bank); });
    if (now_ >= ask_at_ && room()) admit(feed);
    if (now_ >= refresh_due_) refresh();
    if (bindable() != 0) take_waiting();
    if (now_ >= column_at_) serve_ready(done);
    if (to_close_ != 0) for_each_bank(to_close_, [this](std::uint32_t bank) { close(bank); });
    if (split_oldest_first_) choose_class();
    advance(std::min(until, next_event()));
  }
  note_occupancy();
}

template <class Banks>
template <class Feed>
void LooseChannelOf<Banks>::admit(Feed& feed) {
  Access access;
  access.accesses = most_entering_;
  Cycle retry = never_cycle;
  const Fed fed = feed(now_, occupancy(), access, retry);
  refused_ = fed == Fed::refused;
  if (fed != Fed::access) {
    ask_at_ = std::max(refused_ ? std::min(retry, next_leave()) : retry, now_ + 1);
    return;
  }
  enter(access);
}

/// A run enters in parts of one bank and row each. Where reads and writes have queues of their own and both wait, it
/// enters access by access: a bank may change between them after each.
template <class Banks>
void LooseChannelOf<Banks>::enter(const Access& access) {
  if (bound_ == 0 && queue_.waiting(0) + queue_.waiting(1) == 0) waits_since_ = std::max(waits_since_, now_);
  const std::uint32_t cls = queue_.class_of(access.kind);
  const auto first = static_cast<std::uint32_t>(access.address / access_bytes) % accesses_of_block;
  const bool one_by_one = split_oldest_first_ && queue_.waiting(1 - cls) != 0;
  std::uint32_t rest = ((1u << access.accesses) - 1) << first;
  while (rest != 0) {
    const std::uint32_t at = lowest(FewBanks{rest});
    const std::uint32_t part = one_by_one ? 1u << at : rest & same_row_[at];
    rest &= ~part;
    Access of_row = access;
    of_row.address += std::uint64_t{at - first} * access_bytes;
    of_row.accesses = bits_in(part);
    const BlockDecoder::Place place = decoder_(of_row.address);
    queue_.push(of_row, place.bank, place.row);
  }
  waiting_[cls] += access.accesses;
  integral_ -= access.accesses * now_ + access.accesses * (access.accesses - 1) / 2;
  ask_at_ = entering_until_ = now_ + access.accesses;
}

template <class Banks>
void LooseChannelOf<Banks>::take_waiting() {
  for_each_bank(bindable(), [this](std::uint32_t bank) {
    if (!split_oldest_first_) {
      --waiting_[0];
      integral_ += now_;
    }
    take(bank, now_);
  });
}

/// Binds the bank's next request to it. From `from` on it may have commands.
template <class Banks>
void LooseChannelOf<Banks>::take(std::uint32_t bank, Cycle from) {
  request_[bank] = queue_.take(class_, bank, open_row_[bank]);
  bound_ |= bit_of<Banks>(bank);
  const Request& request = request_of(bank);
  if (split_oldest_first_) by_age_.insert(bank, request.order);
  due_[bank] = from;
  if (open_row_[bank] != request.row) to_open_ |= bit_of<Banks>(bank);
  go_on(bank);
}

/// The bank's request waits, has its row opened, or may have its column commands.
template <class Banks>
void LooseChannelOf<Banks>::go_on(std::uint32_t bank) {
  const Request& request = request_of(bank);
  if ((to_open_ >> bank & 1) != 0) {
    if (open_row_[bank] != no_row && reads_delay_precharges_) {
      to_close_ |= bit_of<Banks>(bank);
      return;
    }
    due_[bank] = open(bank, request, due_[bank]);
  }
  due_[bank] = std::max(due_[bank], timing_.own(column_of(request.kind), bank));
  if (due_[bank] > now_) return wheel_.add(bank, due_[bank], now_);
  ready(request.kind) |= bit_of<Banks>(bank);
  column_at_ = now_;
}

/// Reads of other banks of the group that go first delay a precharge.
template <class Banks>
void LooseChannelOf<Banks>::close(std::uint32_t bank) {
  to_close_ &= ~bit_of<Banks>(bank);
  due_[bank] = std::max(due_[bank], timing_.earliest(Need::precharge, bank));
  if (due_[bank] > now_) return wheel_.add(bank, due_[bank], now_);
  due_[bank] = open(bank, request_of(bank), now_);
  go_on(bank);
}

/// Precharges and activates. Returns the time of the activation.
template <class Banks>
Cycle LooseChannelOf<Banks>::open(std::uint32_t bank, const Request& request, Cycle from) {
  to_open_ &= ~bit_of<Banks>(bank);
  const bool closes = open_row_[bank] != no_row;
  if (closes) {
    ++statistics_.precharges;
    ++banks_[bank].conflicts;
    from = std::max(from, timing_.earliest(Need::precharge, bank));
    timing_.precharge(bank, from);
  }
  const Cycle bus = use_command_bus((closes ? 1 : 0) + activate_cycles_) - activate_cycles_;
  Cycle earliest = std::max({from, timing_.own(Need::activate, bank), bus});
  if (!group_activations_.empty()) earliest = group_activations_[timing_.group_of(bank)].take(earliest);
  const Cycle time = activations_[timing_.pseudo_of(bank)].take(earliest);
  timing_.activate(bank, time);
  ++statistics_.activates;
  opened_[bank] = time;
  open_row_[bank] = request.row;
  priority_ = (bank + 1) & (banks_count_ - 1);
  return time;
}

/// Returns the time at which the bus for rows, or for all commands, has had these and all before.
template <class Banks>
Cycle LooseChannelOf<Banks>::use_command_bus(std::uint32_t commands) {
  command_bus_free_ = std::max(command_bus_free_, now_) + commands;
  return command_bus_free_;
}

template <class Banks>
template <class Done>
void LooseChannelOf<Banks>::serve_ready(Done& done) {
  Cycle wake = never_cycle;
  Banks may = 0;
  if (ready_[0] != 0) may = timing_.allowed(Need::read, ready_[0], now_, wake);
  if (ready_[1] != 0) may |= timing_.allowed(Need::write, ready_[1], now_, wake);
  column_at_ = may == 0 ? wake : now_ + 1;
  if (may != 0) serve(split_oldest_first_ ? by_age_.oldest(may) : first_from(may, priority_), done);
}

/// The column commands of a bank's run. Its bank group is held for all of them, and the data bus has a place for each.
template <class Banks>
template <class Done>
void LooseChannelOf<Banks>::serve(std::uint32_t bank, Done& done) {
  const Request& request = request_of(bank);
  const bool update = request.kind == Kind::update, read = request.kind == Kind::read;
  const std::uint32_t accesses = request.accesses;
  bound_ &= ~bit_of<Banks>(bank);
  ready(request.kind) &= ~bit_of<Banks>(bank);
  if (split_oldest_first_) by_age_.erase(bank);
  Cycle& bus = bus_free_[timing_.pseudo_of(bank)];
  bus = std::max(bus, now_) + accesses * timing_.column_time();
  Cycle last = std::max(now_ + (accesses - 1) * timing_.interval(update), bus - timing_.column_time());
  if (!dual_command_bus_) last = std::max(last, use_command_bus(accesses) - 1);
  if (read)
    timing_.read(bank, now_, last);
  else
    timing_.write(bank, update, now_, last);
  (read ? statistics_.reads : update ? statistics_.updates : statistics_.writes) += accesses;
  statistics_.data_bus_cycles += std::uint64_t{burst_} * accesses;
  note_wait(bank, request, last);
  const Cycle data_end = last + (read ? read_data_ : write_data_);
  last_data_end_ = std::max(last_data_end_, data_end);
  const bool has_next = !split_oldest_first_ && (queue_.banks_waiting(class_) >> bank & 1) != 0;
  leave(request, last, has_next);
  done(request.tag, request.kind, data_end, accesses);
  queue_.done(request_[bank]);
  if (has_next) take(bank, last + 1);
  if (refused_) ask_at_ = std::min(ask_at_, now_ + 1);
}

/// In a shared queue a run's first access has left it, and the next run's first one leaves at the end. In split queues
/// each leaves with its command.
template <class Banks>
void LooseChannelOf<Banks>::leave(const Request& request, Cycle last, bool has_next) {
  const std::uint32_t cls = queue_.class_of(request.kind);
  const std::uint32_t entries = request.accesses - (split_oldest_first_ || has_next ? 0 : 1);
  waiting_[cls] -= entries;
  leaving_[cls].add(entries, last - now_ + 1);
  integral_ += entries * (now_ + last + 1) / 2;
}

template <class Banks>
void LooseChannelOf<Banks>::advance(Cycle to) {
  now_ = to;
  leaving_[0].advance(to);
  if (split_oldest_first_) leaving_[1].advance(to);
}

template <class Banks>
void LooseChannelOf<Banks>::note_wait(std::uint32_t bank, const Request& request, Cycle last) {
  const Cycle since = waits_since_;
  const Kind last_kind = last_kind_;
  last_kind_ = request.kind;
  if (last <= since) return;  // beside a run of another bank group
  waits_since_ = last;
  const Cycle gap = last - since, own = std::min(gap, Cycle{burst_} * request.accesses);
  const Cycle before = std::min(gap - own, now_ > since ? now_ - since : 0);
  add_wait(Wait::bandwidth, own);
  add_wait(request.kind == Kind::update ? Wait::update : Wait::bandwidth, gap - own - before);
  if (before == 0) return;
  if (opened_[bank] >= since) return add_wait(Wait::row_miss, before);
  if ((request.kind == Kind::read) == (last_kind == Kind::read))
    return add_wait(last_kind == Kind::update ? Wait::update : Wait::bandwidth, before);
  ++banks_[bank].turnarounds;
  add_wait(Wait::turnaround, before);
}

template <class Banks>
Cycle LooseChannelOf<Banks>::next_event() const {
  if (bindable() != 0) return now_ + 1;
  Cycle next = std::min({column_at_, wheel_.next(now_), refresh_due_});
  next = std::min(next, room() ? ask_at_ : next_leave());
  return std::max(next, now_ + 1);
}

}  // namespace t3vp::dram
