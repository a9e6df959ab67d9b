// The part of Channel that calls back; included by channel.h.
#pragma once

#include <algorithm>

#include "dram/channel.h"

namespace t3vp::dram {

/// Visits the banks of a mask in round-robin order from `first`, until the visitor returns true.
template <class Visitor>
bool visit_round_robin(std::uint64_t banks, std::uint32_t first, Visitor&& visit) {
  const std::uint64_t from_first = banks & (~std::uint64_t{0} << first);
  for (std::uint64_t part : {from_first, banks & ~from_first})
    for (; part != 0; part &= part - 1)
      if (visit(static_cast<std::uint32_t>(__builtin_ctzll(part)))) return true;
  return false;
}

template <class Feed, class Done>
void Channel::run(Cycle until, Feed&& feed, Done&& done) {
  ask_at_ = now_;
  while (now_ < until) {
    if (now_ >= ask_at_ && room()) admit(feed);
    if (now_ >= refresh_due_ || refreshing_ != 0) refresh();
    if (classes_ == 2) choose_class();
    if (bindable() != 0) bind();
    const bool column = now_ >= column_wake_ && issue_column(done);
    if ((dual_command_bus_ || !column) && now_ >= std::min(activate_wake_, precharge_wake_)) issue_row();
    if (classes_ == 2) choose_class();
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

template <class Done>
bool Channel::issue_column(Done& done) {
  Cycle wake = never_cycle;
  const bool issued = visit_round_robin(want_column_ & ~blocked_, priority_, [&](std::uint32_t bank) {
    const Cycle earliest = earliest_column(bank);
    wake = std::min(wake, earliest);
    if (earliest > now_) return false;
    const Request& request = request_[bank];
    const bool read = request.kind == Kind::read;
    if (read)
      timing_.read(bank, now_);
    else
      timing_.write(bank, request.kind == Kind::update, now_);
    ++(read ? statistics_.reads : request.kind == Kind::write ? statistics_.writes : statistics_.updates);
    statistics_.data_bus_cycles += burst_;
    if (classes_ == 2) {
      --held_[queue_.class_of(request.kind)];
      ask_at_ = std::min(ask_at_, now_ + 1);
    }
    bound_ &= ~(Banks{1} << bank);
    want_column_ &= ~(Banks{1} << bank);
    if (listener_ != nullptr)
      log(read                           ? CommandKind::read
          : request.kind == Kind::update ? CommandKind::update
                                         : CommandKind::write,
          bank, request.row, request.address);
    const Cycle data_end = now_ + (read ? read_data_ : write_data_);
    last_data_end_ = std::max(last_data_end_, data_end);
    done(request.tag, request.kind, data_end);
    return true;
  });
  column_wake_ = issued ? now_ + 1 : wake;
  return issued;
}

}  // namespace t3vp::dram
