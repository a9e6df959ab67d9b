// The part of Channel that every cycle needs, inlined into one loop for each caller: 4% less time than calls. Included
// by channel.h.
#pragma once

#include <algorithm>

#include "dram/channel.h"

namespace t3vp::dram {

template <class Banks>
template <class Feed, class Done>
[[gnu::flatten]] void ChannelOf<Banks>::run(Cycle until, Feed&& feed, Done&& done) {
  ask_at_ = now_;
  while (now_ < until) {
    if (wheel_.due(now_)) for_each_bank(wheel_.take(now_), [this](std::uint32_t bank) { schedule(bank); });
    if (!split_oldest_first_ && now_ >= ask_at_ && room()) admit(feed);
    if (now_ >= refresh_due_ || refreshing_ != 0) refresh();
    if (bindable() != 0) bind();
    const bool column_bus_free = dual_command_bus_ || now_ >= row_bus_free_;
    const bool column = column_bus_free && now_ >= column_wake() && issue_column(done);
    if (now_ >= row_wake() && (dual_command_bus_ || !column)) issue_row();
    if (split_oldest_first_ && now_ >= ask_at_ && room()) admit(feed);
    if (split_oldest_first_) choose_class();
    advance(std::min(until, next_event()));
  }
}

template <class Banks>
template <class Feed>
void ChannelOf<Banks>::admit(Feed& feed) {
  Access access;
  Cycle retry = never_cycle;
  const Fed fed = feed(now_, occupancy(), access, retry);
  refused_ = fed == Fed::refused;
  if (fed != Fed::access) {
    ask_at_ = std::max(retry, now_ + 1);
    return;
  }
  if (occupancy() == 0 && bound_ == 0) waits_since_ = now_;
  const BlockDecoder::Place place = decoder_(access.address);
  queue_.push(access, place.bank, place.row);
  ++held_[queue_.class_of(access.kind)];
  ask_at_ = now_ + 1;
}

template <class Banks>
void ChannelOf<Banks>::bind() {
  if (split_oldest_first_) {
    for_each_bank(bindable(), [this](std::uint32_t bank) { bind_bank(bank); });
    return;
  }
  bind_bank(first_from(bindable(), priority_));
  priority_ = after(priority_);
}

template <class Banks>
void ChannelOf<Banks>::bind_bank(std::uint32_t bank) {
  request_[bank] = queue_.take(class_, bank, open_row_[bank]);
  bound_ |= bit_of<Banks>(bank);
  if (split_oldest_first_)
    by_age_.insert(bank, request_of(bank).order);
  else
    leave_queue(class_);
  schedule(bank);
}

template <class Banks>
void ChannelOf<Banks>::leave_queue(std::uint32_t cls) {
  --held_[cls];
  changed();
}

/// Lets a refused access try again: after a change it may be accepted.
template <class Banks>
void ChannelOf<Banks>::changed() {
  if (refused_) ask_at_ = std::min(ask_at_, now_ + 1);
}

template <class Banks>
Need ChannelOf<Banks>::need_of(std::uint32_t bank) const {
  if (!is_open(bank)) return Need::activate;
  if (open_row_[bank] != request_of(bank).row) return Need::precharge;
  return request_of(bank).kind == Kind::read ? Need::read : Need::write;
}

template <class Banks>
void ChannelOf<Banks>::schedule(std::uint32_t bank) {
  const Need need = need_of(bank);
  const Cycle own = timing_.own(need, bank);
  if (own > now_) {
    wheel_.add(bank, own, now_);
    return;
  }
  ready(need).banks |= bit_of<Banks>(bank);
  ready(need).wake = std::min(ready(need).wake, now_);
}

/// The ready banks outside `blocked` that may have their command now.
template <class Banks>
Banks ChannelOf<Banks>::legal(Need need, Banks blocked) {
  Ready& banks = ready(need);
  if (now_ < banks.wake) return 0;
  Cycle wake = never_cycle;
  const Banks found = timing_.allowed(need, banks.banks & ~blocked, now_, wake);
  banks.wake = found != 0 ? now_ : wake;
  return found;
}

template <class Banks>
template <class Done>
bool ChannelOf<Banks>::issue_column(Done& done) {
  const Banks banks = legal(Need::read, 0) | legal(Need::write, 0);
  if (banks == 0) return false;
  column_command(choose(banks), done);
  return true;
}

/// The data bus has its burst of the time in any case.
template <class Banks>
void ChannelOf<Banks>::note_wait(std::uint32_t bank, Kind kind) {
  const Cycle since = waits_since_, gap = now_ - since;
  const Kind last = last_kind_;
  waits_since_ = now_;
  last_kind_ = kind;
  statistics_.waits[static_cast<std::size_t>(Wait::bandwidth)] += gap;
  if (gap > burst_) note_reason(bank, last, since);
}

template <class Banks>
void ChannelOf<Banks>::note_reason(std::uint32_t bank, Kind last, Cycle since) {
  Wait reason = Wait::bandwidth;
  if (opened_[bank] >= since)
    reason = Wait::row_miss;
  else if ((last_kind_ == Kind::read) != (last == Kind::read))
    reason = Wait::turnaround;
  else if (last == Kind::update)
    reason = Wait::update;
  if (reason == Wait::turnaround) ++banks_[bank].turnarounds;
  const Cycle wait = now_ - since - burst_;
  statistics_.waits[static_cast<std::size_t>(Wait::bandwidth)] -= wait;
  statistics_.waits[static_cast<std::size_t>(reason)] += wait;
}

template <class Banks>
template <class Done>
void ChannelOf<Banks>::column_command(std::uint32_t bank, Done& done) {
  const Request& request = request_of(bank);
  const Banks bit = bit_of<Banks>(bank);
  bound_ &= ~bit;
  remove(ready(request.kind == Kind::read ? Need::read : Need::write), bit);
  if (split_oldest_first_) {
    by_age_.erase(bank);
    leave_queue(queue_.class_of(request.kind));
  }
  changed();
  if (listener_ != nullptr) log_column(bank);
  statistics_.data_bus_cycles += burst_;
  note_wait(bank, request.kind);
  Cycle data_end = now_;
  if (request.kind == Kind::read) {
    timing_.read(bank, now_, now_);
    ++statistics_.reads;
    data_end += read_data_;
  } else {
    timing_.write(bank, request.kind == Kind::update, now_, now_);
    ++(request.kind == Kind::update ? statistics_.updates : statistics_.writes);
    data_end += write_data_;
  }
  last_data_end_ = std::max(last_data_end_, data_end);
  done(request.tag, request.kind, data_end, 1);
  queue_.done(request_[bank]);
}

template <class Banks>
void ChannelOf<Banks>::remove(Ready& ready, Banks banks) {
  ready.banks &= ~banks;
  if (ready.banks == 0) ready.wake = never_cycle;
}

template <class Banks>
std::uint32_t ChannelOf<Banks>::choose(Banks legal) const {
  return split_oldest_first_ ? by_age_.oldest(legal) : first_from(legal, priority_);
}

template <class Banks>
void ChannelOf<Banks>::issue_row() {
  const Banks banks = legal(Need::activate, blocked_) | legal(Need::precharge, blocked_);
  if (banks == 0) return;
  const std::uint32_t bank = choose(banks);
  is_open(bank) ? precharge(bank) : activate(bank);
  priority_ = after(bank);
}

template <class Banks>
void ChannelOf<Banks>::activate(std::uint32_t bank) {
  timing_.activate(bank, now_);
  ++statistics_.activates;
  opened_[bank] = now_;
  open_ |= bit_of<Banks>(bank);
  open_row_[bank] = request_of(bank).row;
  row_bus_free_ = now_ + activate_cycles_;
  remove(ready(Need::activate), bit_of<Banks>(bank));
  ready(Need::activate).wake = std::max(ready(Need::activate).wake, timing_.any(Need::activate));
  if (listener_ != nullptr) log(CommandKind::activate, bank, open_row_[bank]);
  schedule(bank);
}

template <class Banks>
void ChannelOf<Banks>::precharge(std::uint32_t bank) {
  timing_.precharge(bank, now_);
  ++statistics_.precharges;
  ++banks_[bank].conflicts;
  open_ &= ~bit_of<Banks>(bank);
  row_bus_free_ = now_ + 1;
  remove(ready(Need::precharge), bit_of<Banks>(bank));
  if (listener_ != nullptr) log(CommandKind::precharge, bank, open_row_[bank]);
  schedule(bank);
}

template <class Banks>
Cycle ChannelOf<Banks>::next_event() const {
  if (bindable() != 0) return now_ + 1;
  Cycle next = std::min({column_wake(), row_wake(), wheel_.next(now_)});
  if (room()) next = std::min(next, ask_at_);
  next = std::min(next, refreshing_ != 0 ? refresh_wake_ : refresh_due_);
  return std::max(next, now_ + 1);
}

template <class Banks>
void ChannelOf<Banks>::advance(Cycle to) {
  statistics_.occupancy_cycles += occupancy() * (to - now_);
  now_ = to;
}

}  // namespace t3vp::dram
