// When each bank of a channel may take its next command: the JEDEC constraints between commands, and nothing of
// scheduling. Plain C++, no SystemC.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "dram/command.h"
#include "dram/memory_spec.h"

namespace t3vp::dram {

inline constexpr std::uint32_t max_banks = 64;  ///< of all pseudo-channels of a channel: one bit each in a mask

/// Banks are numbered with the pseudo-channel in the lowest bits, then the bank group, then the bank of the group, so
/// that a number's low bits are also its group among all pseudo-channels.
class TimingState {
 public:
  explicit TimingState(const MemorySpec& spec);

  // A command needs its bank's own time, which only commands to this bank move, and the time shared with its group and
  // pseudo-channel.
  Cycle own_read(std::uint32_t bank) const { return bank_[bank].read; }
  Cycle own_write(std::uint32_t bank) const { return bank_[bank].write; }
  Cycle own_activate(std::uint32_t bank) const { return bank_[bank].activate; }
  Cycle own_precharge(std::uint32_t bank) const { return bank_[bank].precharge; }

  Cycle shared_read(std::uint32_t bank) const { return std::max(group_of(bank).read, pseudo_of(bank).read); }
  Cycle shared_write(std::uint32_t bank) const { return std::max(group_of(bank).write, pseudo_of(bank).write); }
  Cycle shared_activate(std::uint32_t bank) const {
    return std::max(group_of(bank).activate, pseudo_of(bank).activate);
  }
  /// No bank's shared_activate() is before.
  Cycle any_activate() const {
    Cycle first = pseudo_[0].activate;
    for (std::uint32_t pseudo = 1; pseudo <= pseudo_mask_; ++pseudo) first = std::min(first, pseudo_[pseudo].activate);
    return first;
  }
  Cycle shared_precharge(std::uint32_t bank) const { return group_of(bank).precharge; }

  void read(std::uint32_t bank, Cycle now) {
    Shared& group = group_[bank & group_mask_];
    Shared& pseudo = pseudo_[bank & pseudo_mask_];
    pseudo.read = now + timing_.CCDS;
    pseudo.write = std::max(pseudo.write, now + read_to_write_);
    group.read = std::max(group.read, now + timing_.CCDL);
    group.write = std::max(group.write, now + timing_.CCDL);
    group.precharge = std::max(group.precharge, now + timing_.RTPL);
    bank_[bank].precharge = std::max(bank_[bank].precharge, now + timing_.RTP);
  }

  /// A near-memory update occupies its bank group for CCDWL instead of CCDL (T3 5.1.1).
  void write(std::uint32_t bank, bool update, Cycle now) {
    Shared& group = group_[bank & group_mask_];
    Shared& pseudo = pseudo_[bank & pseudo_mask_];
    const Cycle next_in_group = now + (update ? timing_.CCDWL : timing_.CCDL);
    pseudo.write = now + timing_.CCDS;
    pseudo.read = std::max(pseudo.read, now + write_to_read_);
    group.write = std::max(group.write, next_in_group);
    group.read = latest(group.read, next_in_group, now + write_to_read_in_group_);
    bank_[bank].precharge = std::max(bank_[bank].precharge, now + write_to_precharge_);
  }

  void activate(std::uint32_t bank, Cycle now) {
    Bank& opened = bank_[bank];
    Pseudo& pseudo = pseudo_[bank & pseudo_mask_];
    opened.read = now + timing_.RCDRD;
    opened.write = now + timing_.RCDWR;
    opened.precharge = now + timing_.RAS;
    opened.activate = now + timing_.RC;
    group_[bank & group_mask_].activate = now + timing_.RRDL;
    pseudo.activate = now + timing_.RRDS;
    if (timing_.FAW == 0) return;
    pseudo.last_activates[pseudo.next++ % 4] = now + timing_.FAW;
    pseudo.activate = std::max(pseudo.activate, pseudo.last_activates[pseudo.next % 4]);
  }

  void precharge(std::uint32_t bank, Cycle now) {
    bank_[bank].activate = std::max(bank_[bank].activate, now + timing_.RP);
  }

  /// Legal from own_activate() on: refresh is a row cycle of the bank (JESD235).
  void refresh(std::uint32_t bank, Cycle now) { bank_[bank].activate = now + timing_.RFC; }

 private:
  struct Bank {
    Cycle read = 0, write = 0, precharge = 0, activate = 0;
  };
  struct Shared {
    Cycle read = 0, write = 0, precharge = 0, activate = 0;
  };
  struct Pseudo : Shared {
    std::array<Cycle, 4> last_activates{};
    std::uint32_t next = 0;
  };

  const Shared& group_of(std::uint32_t bank) const { return group_[bank & group_mask_]; }
  const Pseudo& pseudo_of(std::uint32_t bank) const { return pseudo_[bank & pseudo_mask_]; }
  static Cycle latest(Cycle a, Cycle b, Cycle c) { return std::max(a, std::max(b, c)); }

  std::array<Bank, max_banks> bank_;
  std::array<Shared, max_banks> group_;
  std::array<Pseudo, max_banks> pseudo_;
  Timing timing_;
  std::uint32_t group_mask_, pseudo_mask_;
  Cycle read_to_write_, write_to_read_, write_to_read_in_group_, write_to_precharge_;
};

}  // namespace t3vp::dram
