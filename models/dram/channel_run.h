// The part of Channel that calls back, and what it needs inline; included by channel.h.
#pragma once

#include <algorithm>

#include "dram/channel.h"

namespace t3vp::dram {

template <class Feed, class Done>
void Channel::run(Cycle until, Feed&& feed, Done&& done) {
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

template <class Feed>
void Channel::admit(Feed& feed) {
  Access access{};
  Cycle retry = never_cycle;
  if (!feed(now_, occupancy(), access, retry)) {
    ask_at_ = std::max(retry, now_ + 1);
    return;
  }
  queue_.push(access, decoder_.bank(access.address), decoder_.row(access.address));
  ++held_[queue_.class_of(access.kind)];
  ask_at_ = now_ + 1;
}

/// The ready banks outside `blocked` that may have their command now.
inline Banks Channel::legal(Need need, Banks blocked) {
  Ready& banks = ready(need);
  if (now_ < banks.wake) return 0;
  Cycle wake = never_cycle;
  const Banks found = timing_.allowed(need, banks.banks & ~blocked, now_, wake);
  banks.wake = found != 0 ? now_ : wake;
  return found;
}

template <class Done>
bool Channel::issue_column(Done& done) {
  const Banks banks = legal(Need::read, 0) | legal(Need::write, 0);
  if (banks == 0) return false;
  column_command(choose(banks), done);
  return true;
}

template <class Done>
void Channel::column_command(std::uint32_t bank, Done& done) {
  const Request& request = request_[bank];
  const Banks bit = bit_of(bank);
  bound_ &= ~bit;
  remove(ready(request.kind == Kind::read ? Need::read : Need::write), bit);
  if (split_oldest_first_) {
    by_age_.erase(bank);
    leave_queue(request.kind);
  }
  ask_at_ = std::min(ask_at_, now_ + 1);
  if (listener_ != nullptr) log_column(bank);
  statistics_.data_bus_cycles += burst_;
  Cycle data_end = now_;
  if (request.kind == Kind::read) {
    timing_.read(bank, now_);
    ++statistics_.reads;
    data_end += read_data_;
  } else {
    timing_.write(bank, request.kind == Kind::update, now_);
    ++(request.kind == Kind::update ? statistics_.updates : statistics_.writes);
    data_end += write_data_;
  }
  last_data_end_ = std::max(last_data_end_, data_end);
  done(request.tag, request.kind, data_end);
}

inline void Channel::remove(Ready& ready, Banks banks) {
  ready.banks &= ~banks;
  if (ready.banks == 0) ready.wake = never_cycle;
}

inline std::uint32_t Channel::choose(Banks legal) const {
  return split_oldest_first_ ? by_age_.oldest(legal) : first_from(legal, priority_);
}

inline Cycle Channel::next_event() const {
  if (bindable() != 0) return now_ + 1;
  Cycle next = std::min({column_wake(), row_wake(), wheel_.next(now_)});
  if (room()) next = std::min(next, ask_at_);
  next = std::min(next, refreshing_ != 0 ? refresh_wake_ : refresh_due_);
  return std::max(next, now_ + 1);
}

inline void Channel::advance(Cycle to) {
  statistics_.occupancy_cycles += occupancy() * (to - now_);
  now_ = to;
}

}  // namespace t3vp::dram
