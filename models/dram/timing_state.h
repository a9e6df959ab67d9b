// The earliest time of the next command of each bank of a channel: the JEDEC constraints between commands, without
// scheduling. Plain C++, no SystemC.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "dram/bank_mask.h"
#include "dram/command.h"
#include "dram/memory_spec.h"

namespace t3vp::dram {

/// The command that a bank's request needs next; a write and a near-memory update need the same.
enum class Need : std::uint8_t { read, write, activate, precharge };
inline constexpr std::size_t need_count = 4;

/// The earliest times of commands. A command needs its bank's own time, which only commands to this bank move, and the
/// times of its bank group and of its pseudo-channel. Banks are numbered with the pseudo-channel in the lowest bits,
/// then the bank group, then the bank of the group. Commands are recorded in the order of time and only when legal, so
/// most new times are later than the old.
template <class Banks>
class TimingState {
 public:
  explicit TimingState(const MemorySpec& spec);

  Cycle own(Need need, std::uint32_t bank) const { return at(bank_[bank], need); }
  /// Returns the time from one column command of a bank group to its next one.
  Cycle interval(bool update) const { return update ? timing_.CCDWL : timing_.CCDL; }
  /// Returns the time from a column command to the next one of another bank group.
  Cycle column_time() const { return timing_.CCDS; }
  std::uint32_t pseudo_channels() const { return pseudo_mask_ + 1; }
  std::uint32_t pseudo_of(std::uint32_t bank) const { return bank & pseudo_mask_; }
  std::uint32_t groups() const { return group_mask_ + 1; }  ///< of all pseudo-channels
  std::uint32_t group_of(std::uint32_t bank) const { return bank & group_mask_; }
  Cycle earliest(Need need, std::uint32_t bank) const {
    return std::max({own(need, bank), at(group_[bank & group_mask_], need), at(pseudo_[bank & pseudo_mask_], need)});
  }

  /// A lower bound of all banks' times, by their pseudo-channels alone.
  Cycle any(Need need) const {
    Cycle first = never_cycle;
    for (std::uint32_t pseudo = 0; pseudo <= pseudo_mask_; ++pseudo) first = std::min(first, at(pseudo_[pseudo], need));
    return first;
  }

  /// The candidates whose group and pseudo-channel allow the command at `now`; `wake` is lowered to the first time at
  /// which those of the others do.
  Banks allowed(Need need, Banks candidates, Cycle now, Cycle& wake) {
    for (std::uint32_t pseudo = 0; pseudo <= pseudo_mask_; ++pseudo) {
      const Cycle time = at(pseudo_[pseudo], need);
      const Banks here = candidates & pseudo_banks_[pseudo];
      if (time <= now || here == 0) continue;
      candidates &= ~here;
      wake = std::min(wake, time);
    }
    Banks& busy = busy_groups_[static_cast<std::size_t>(need)];
    for (Banks rest = candidates & busy; rest != 0;) {
      const std::uint32_t group = lowest(rest) & group_mask_;
      const Cycle time = at(group_[group], need);
      rest &= ~group_banks_[group];
      (time <= now ? busy : candidates) &= ~group_banks_[group];
      if (time > now) wake = std::min(wake, time);
    }
    return candidates;
  }

  /// Reads of a row from the command at `first` to that at `last`. Other bank groups may have theirs in between.
  void read(std::uint32_t bank, Cycle first, Cycle last) {
    const std::uint32_t group = bank & group_mask_;
    Times& pseudo = pseudo_[bank & pseudo_mask_];
    at(pseudo, Need::read) = first + timing_.CCDS;
    at(pseudo, Need::write) = std::max(at(pseudo, Need::write), last + read_to_write_);
    hold_group(group, Need::read, last + timing_.CCDL);
    hold_group(group, Need::write, last + timing_.CCDL);
    if (timing_.RTPL != 0) hold_group(group, Need::precharge, last + timing_.RTPL);
    Cycle& precharge = at(bank_[bank], Need::precharge);
    precharge = std::max(precharge, last + timing_.RTP);
  }

  /// A near-memory update occupies its bank group for CCDWL instead of CCDL (T3 5.1.1).
  void write(std::uint32_t bank, bool update, Cycle first, Cycle last) {
    const std::uint32_t group = bank & group_mask_;
    const Cycle next_in_group = last + (update ? timing_.CCDWL : timing_.CCDL);
    Times& pseudo = pseudo_[bank & pseudo_mask_];
    at(pseudo, Need::write) = first + timing_.CCDS;
    at(pseudo, Need::read) = std::max(at(pseudo, Need::read), last + write_to_read_);
    hold_group(group, Need::write, next_in_group);
    hold_group(group, Need::read, std::max(next_in_group, last + write_to_read_in_group_));
    Cycle& precharge = at(bank_[bank], Need::precharge);
    precharge = std::max(precharge, last + write_to_precharge_);
  }

  void activate(std::uint32_t bank, Cycle now) {
    bank_[bank] = {now + timing_.RCDRD, now + timing_.RCDWR, now + timing_.RC, now + timing_.RAS};
    const std::uint32_t pseudo = bank & pseudo_mask_;
    Cycle& next = at(pseudo_[pseudo], Need::activate);
    next = now + timing_.RRDS;
    if (timing_.RRDL > timing_.RRDS) hold_group(bank & group_mask_, Need::activate, now + timing_.RRDL);
    if (timing_.FAW == 0) return;
    FourActivates& window = windows_[pseudo];
    window.ends[window.next++ % 4] = now + timing_.FAW;
    next = std::max(next, window.ends[window.next % 4]);
  }

  void precharge(std::uint32_t bank, Cycle now) {
    Cycle& next = at(bank_[bank], Need::activate);
    next = std::max(next, now + timing_.RP);
  }

  /// Legal when an activate of the bank is: tRP after its precharge, tRC after its last activate.
  void refresh(std::uint32_t bank, Cycle now) { at(bank_[bank], Need::activate) = now + timing_.RFC; }

 private:
  using Times = std::array<Cycle, need_count>;
  struct FourActivates {
    std::array<Cycle, 4> ends{};
    std::uint32_t next = 0;
  };

  static Cycle& at(Times& times, Need need) { return times[static_cast<std::size_t>(need)]; }
  static Cycle at(const Times& times, Need need) { return times[static_cast<std::size_t>(need)]; }

  void hold_group(std::uint32_t group, Need need, Cycle until) {
    at(group_[group], need) = until;
    busy_groups_[static_cast<std::size_t>(need)] |= group_banks_[group];
  }

  std::array<Times, capacity_of<Banks>> bank_{}, group_{}, pseudo_{};
  std::array<Banks, capacity_of<Banks>> group_banks_{}, pseudo_banks_{};
  std::array<Banks, need_count> busy_groups_{};  // those not in it are known to allow the command
  std::array<FourActivates, capacity_of<Banks>> windows_{};
  Timing timing_;
  std::uint32_t group_mask_, pseudo_mask_;
  Cycle read_to_write_, write_to_read_, write_to_read_in_group_, write_to_precharge_;
};

}  // namespace t3vp::dram
