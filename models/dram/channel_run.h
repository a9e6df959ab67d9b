// The part of Channel that every cycle needs, inlined into one loop for each caller: 4% less time than calls. Included
// by channel.h.
#pragma once

#include <algorithm>

#include "dram/channel.h"

namespace t3vp::dram {

template <class Banks, Model model>
template <class Feed, class Done>
[[gnu::flatten]] void ChannelOf<Banks, model>::run(Cycle until, Feed&& feed, Done&& done) {
  ask_at_ = now_;
  while (now_ < until) {
    if (wheel_.due(now_)) for_each_bank(wheel_.take(now_), [this](std::uint32_t bank) { due(bank); });
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
  if constexpr (!is_exact) note_occupancy();
}

template <class Banks, Model model>
template <class Feed>
void ChannelOf<Banks, model>::admit(Feed& feed) {
  Access access{0, Kind::read, 0, is_exact ? 1u : accesses_of_block};
  Cycle retry = never_cycle;
  const Fed fed = feed(now_, occupancy(), access, retry);
  refused_ = fed == Fed::refused;
  if (fed != Fed::access) {
    ask_at_ = std::max(retry, now_ + 1);
    return;
  }
  if (occupancy() == 0 && bound_ == 0) waits_since_ = now_;
  if constexpr (!is_exact) return enter(access);
  queue_.push(access, decoder_.bank(access.address), decoder_.row(access.address));
  ++held_[queue_.class_of(access.kind)];
  ask_at_ = now_ + 1;
}

/// A bank's own time has come, or it may take its next request.
template <class Banks, Model model>
void ChannelOf<Banks, model>::due(std::uint32_t bank) {
  if constexpr (!is_exact) {
    if ((loose_.serving >> bank & 1) != 0) {
      const Service& service = loose_.service[bank];
      if (service.end > now_) return wheel_.add(bank, service.end, now_);
      loose_.serving &= ~bit_of<Banks>(bank);
      bound_ &= ~bit_of<Banks>(bank);
      held_[service.cls] -= service.accesses;
      return changed();
    }
  }
  schedule(bank);
}

/// A run enters the queue, an access in each cycle, in parts of one bank and row each.
template <class Banks, Model model>
void ChannelOf<Banks, model>::enter(const Access& access) {
  if constexpr (!is_exact) {
    const std::uint32_t first = static_cast<std::uint32_t>(access.address / access_bytes) % accesses_of_block;
    std::uint32_t rest = ((1u << access.accesses) - 1) << first;
    while (rest != 0) {
      const std::uint32_t at = lowest(FewBanks{rest}), part = rest & loose_.same_bank[at];
      rest &= ~part;
      Access of_part = access;
      of_part.address += (at - first) * access_bytes;
      queue_.push(of_part, decoder_.bank(of_part.address), decoder_.row(of_part.address), count_of(FewBanks{part}));
    }
    held_[queue_.class_of(access.kind)] += access.accesses;
    loose_.integral -= access.accesses * now_ + access.accesses * (access.accesses - 1) / 2;
    ask_at_ = now_ + access.accesses;
  }
}

/// The entries of the class that have left the queue, of runs that are being served.
template <class Banks, Model model>
unsigned ChannelOf<Banks, model>::gone(std::uint32_t cls) const {
  unsigned sum = 0;
  if constexpr (!is_exact)
    for_each_bank(loose_.serving, [&](std::uint32_t bank) {
      const Service& service = loose_.service[bank];
      if (service.cls != cls) return;
      sum += std::min<unsigned>(service.accesses,
                                static_cast<unsigned>(static_cast<float>(now_ - service.first) * service.rate));
    });
  return sum;
}

template <class Banks, Model model>
void ChannelOf<Banks, model>::bind() {
  if (split_oldest_first_) {
    for_each_bank(bindable(), [this](std::uint32_t bank) { bind_bank(bank); });
    return;
  }
  bind_bank(first_from(bindable(), priority_));
  priority_ = after(priority_);
}

template <class Banks, Model model>
void ChannelOf<Banks, model>::bind_bank(std::uint32_t bank) {
  request_[bank] = queue_.take(class_, bank, open_row_[bank]);
  bound_ |= bit_of<Banks>(bank);
  if (split_oldest_first_)
    by_age_.insert(bank, request_of(bank).order);
  else
    leave_queue(class_);
  schedule(bank);
}

/// A loosely-timed channel: the accesses of a run leave one after the other.
template <class Banks, Model model>
void ChannelOf<Banks, model>::serve(std::uint32_t bank, const Request& request, Cycle last) {
  if constexpr (!is_exact) {
    // In a shared queue the first has left when the bank took the run.
    const auto leaving = static_cast<std::uint16_t>(request.accesses - (split_oldest_first_ ? 0 : 1));
    const std::uint32_t cls = queue_.class_of(request.kind);
    Service& service = loose_.service[bank];
    service.first = now_;
    service.last = last;
    service.end = last + 1;
    service.rate = static_cast<float>(leaving) / static_cast<float>(std::max<Cycle>(1, last - now_));
    service.accesses = leaving;
    service.cls = static_cast<std::uint8_t>(cls);
    loose_.integral += leaving * (now_ + last) / 2;
    loose_.serving |= bit_of<Banks>(bank);
    wheel_.add(bank, service.end, now_);
  }
}

template <class Banks, Model model>
void ChannelOf<Banks, model>::leave_queue(std::uint32_t cls) {
  if constexpr (!is_exact) loose_.integral += now_;
  --held_[cls];
  changed();
}

/// Lets a refused access try again: after a change it may be accepted.
template <class Banks, Model model>
void ChannelOf<Banks, model>::changed() {
  if (refused_) ask_at_ = std::min(ask_at_, now_ + 1);
}

template <class Banks, Model model>
Need ChannelOf<Banks, model>::need_of(std::uint32_t bank) const {
  if (!is_open(bank)) return Need::activate;
  if (open_row_[bank] != request_of(bank).row) return Need::precharge;
  return request_of(bank).kind == Kind::read ? Need::read : Need::write;
}

template <class Banks, Model model>
void ChannelOf<Banks, model>::schedule(std::uint32_t bank) {
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
template <class Banks, Model model>
Banks ChannelOf<Banks, model>::legal(Need need, Banks blocked) {
  Ready& banks = ready(need);
  if (now_ < banks.wake) return 0;
  Cycle wake = never_cycle;
  const Banks found = timing_.allowed(need, banks.banks & ~blocked, now_, wake);
  banks.wake = found != 0 ? now_ : wake;
  return found;
}

template <class Banks, Model model>
template <class Done>
bool ChannelOf<Banks, model>::issue_column(Done& done) {
  const Banks banks = legal(Need::read, 0) | legal(Need::write, 0);
  if (banks == 0) return false;
  column_command(choose(banks), done);
  return true;
}

/// The data bus has its burst of the time in any case.
template <class Banks, Model model>
void ChannelOf<Banks, model>::note_wait(std::uint32_t bank, const Request& request, Cycle last) {
  const Cycle since = waits_since_;
  if (last <= since) return;  // beside a run of another bank group
  const Cycle gap = last - since, own = Cycle{burst_} * request.accesses;
  const Kind last_kind = last_kind_;
  waits_since_ = last;
  last_kind_ = request.kind;
  statistics_.waits[static_cast<std::size_t>(Wait::bandwidth)] += gap;
  if (gap <= own) return;
  if constexpr (is_exact) return note_reason(bank, last_kind, since, gap - own);
  const Cycle before = std::min(gap - own, now_ > since ? now_ - since : 0);
  if (before != 0) note_reason(bank, last_kind, since, before);
  if (request.kind == Kind::update) {
    statistics_.waits[static_cast<std::size_t>(Wait::bandwidth)] -= gap - own - before;
    statistics_.waits[static_cast<std::size_t>(Wait::update)] += gap - own - before;
  }
}

template <class Banks, Model model>
void ChannelOf<Banks, model>::note_reason(std::uint32_t bank, Kind last, Cycle since, Cycle wait) {
  Wait reason = Wait::bandwidth;
  if (opened_[bank] >= since)
    reason = Wait::row_miss;
  else if ((last_kind_ == Kind::read) != (last == Kind::read))
    reason = Wait::turnaround;
  else if (last == Kind::update)
    reason = Wait::update;
  if (reason == Wait::turnaround) ++banks_[bank].turnarounds;
  statistics_.waits[static_cast<std::size_t>(Wait::bandwidth)] -= wait;
  statistics_.waits[static_cast<std::size_t>(reason)] += wait;
}

template <class Banks, Model model>
template <class Done>
void ChannelOf<Banks, model>::column_command(std::uint32_t bank, Done& done) {
  const Request& request = request_of(bank);
  const Banks bit = bit_of<Banks>(bank);
  remove(ready(request.kind == Kind::read ? Need::read : Need::write), bit);
  if (split_oldest_first_) by_age_.erase(bank);
  const Cycle last = last_command(bank, request);
  if constexpr (is_exact) {
    bound_ &= ~bit;
    if (split_oldest_first_) leave_queue(queue_.class_of(request.kind));
    changed();
  } else {
    serve(bank, request, last);
  }
  if (listener_ != nullptr) log_column(bank);
  const std::uint32_t accesses = is_exact ? 1 : request.accesses;
  statistics_.data_bus_cycles += std::uint64_t{burst_} * accesses;
  note_wait(bank, request, last);
  Cycle data_end = last;
  if (request.kind == Kind::read) {
    timing_.read(bank, now_, last);
    statistics_.reads += accesses;
    data_end += read_data_;
  } else {
    timing_.write(bank, request.kind == Kind::update, now_, last);
    (request.kind == Kind::update ? statistics_.updates : statistics_.writes) += accesses;
    data_end += write_data_;
  }
  last_data_end_ = std::max(last_data_end_, data_end);
  done(request.tag, request.kind, data_end, accesses);
  queue_.done(request_[bank]);
}

/// The last column command of a run that begins now. Its bank group is held for the whole run, and the data bus has a
/// place for each access.
template <class Banks, Model model>
Cycle ChannelOf<Banks, model>::last_command(std::uint32_t bank, const Request& request) {
  if constexpr (is_exact) return now_;
  else {
    Cycle& free = loose_.bus_free[timing_.pseudo_of(bank)];
    free = std::max(free, now_) + request.accesses * timing_.column_time();
    return std::max(now_ + (request.accesses - 1) * timing_.interval(request.kind == Kind::update),
                    free - timing_.column_time());
  }
}

template <class Banks, Model model>
void ChannelOf<Banks, model>::remove(Ready& ready, Banks banks) {
  ready.banks &= ~banks;
  if (ready.banks == 0) ready.wake = never_cycle;
}

template <class Banks, Model model>
std::uint32_t ChannelOf<Banks, model>::choose(Banks legal) const {
  return split_oldest_first_ ? by_age_.oldest(legal) : first_from(legal, priority_);
}

template <class Banks, Model model>
void ChannelOf<Banks, model>::issue_row() {
  const Banks banks = legal(Need::activate, blocked_) | legal(Need::precharge, blocked_);
  if (banks == 0) return;
  const std::uint32_t bank = choose(banks);
  is_open(bank) ? precharge(bank) : activate(bank);
  priority_ = after(bank);
}

template <class Banks, Model model>
void ChannelOf<Banks, model>::activate(std::uint32_t bank) {
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

template <class Banks, Model model>
void ChannelOf<Banks, model>::precharge(std::uint32_t bank) {
  timing_.precharge(bank, now_);
  ++statistics_.precharges;
  ++banks_[bank].conflicts;
  open_ &= ~bit_of<Banks>(bank);
  row_bus_free_ = now_ + 1;
  remove(ready(Need::precharge), bit_of<Banks>(bank));
  if (listener_ != nullptr) log(CommandKind::precharge, bank, open_row_[bank]);
  schedule(bank);
}

template <class Banks, Model model>
Cycle ChannelOf<Banks, model>::next_event() const {
  if (bindable() != 0) return now_ + 1;
  Cycle next = std::min({column_wake(), row_wake(), wheel_.next(now_)});
  if (room()) next = std::min(next, ask_at_);
  next = std::min(next, refreshing_ != 0 ? refresh_wake_ : refresh_due_);
  return std::max(next, now_ + 1);
}

template <class Banks, Model model>
void ChannelOf<Banks, model>::advance(Cycle to) {
  if constexpr (is_exact) statistics_.occupancy_cycles += occupancy() * (to - now_);
  now_ = to;
}

}  // namespace t3vp::dram
