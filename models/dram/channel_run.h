// The part of Channel that calls back; included by channel.h.
#pragma once

#include <algorithm>

#include "dram/channel.h"

namespace t3vp::dram {

template <class Feed, class Done>
void Channel::run(Cycle until, Feed&& feed, Done&& done) {
  ask_at_ = now_;
  while (now_ < until) {
    for_each_bank(wheel_.take(now_), [this](std::uint32_t bank) { schedule(bank); });
    if (!split_oldest_first_ && now_ >= ask_at_ && room()) admit(feed);
    if (now_ >= refresh_due_ || refreshing_ != 0) refresh();
    if (split_oldest_first_) choose_class();
    if (bindable() != 0) bind();
    const bool column_bus_free = dual_command_bus_ || now_ >= row_bus_free_;
    const bool column = column_bus_free && now_ >= std::min(read_.wake, write_.wake) && issue_column(done);
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

/// The ready banks outside `blocked` whose shared time has come too; else moves the wake to the first such time.
template <class Shared>
Banks Channel::legal(Ready& ready, Banks blocked, Shared&& shared) const {
  if (now_ < ready.wake) return 0;
  Banks found = 0;
  Cycle wake = never_cycle;
  for (Banks rest = ready.banks & ~blocked; rest != 0;) {
    const auto bank = static_cast<std::uint32_t>(__builtin_ctzll(rest));
    const Banks group = rest & group_banks_[bank];
    const Cycle at = shared(bank);
    if (at <= now_)
      found |= group;
    else
      wake = std::min(wake, at);
    rest &= ~group;
  }
  ready.wake = found != 0 ? now_ : wake;
  return found;
}

template <class Done>
bool Channel::issue_column(Done& done) {
  const Banks banks = legal(read_, 0, [this](std::uint32_t bank) { return timing_.shared_read(bank); }) |
                      legal(write_, 0, [this](std::uint32_t bank) { return timing_.shared_write(bank); });
  if (banks == 0) return false;
  column_command(choose(banks), done);
  return true;
}

template <class Done>
void Channel::column_command(std::uint32_t bank, Done& done) {
  const Request& request = request_[bank];
  const Banks bit = Banks{1} << bank;
  bound_ &= ~bit;
  remove(request.kind == Kind::read ? read_ : write_, bit);
  if (split_oldest_first_) leave_queue(request.kind);
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

}  // namespace t3vp::dram
