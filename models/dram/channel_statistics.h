// What a DRAM channel counts, and how it is fed. Plain C++, no SystemC.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dram/command.h"

namespace t3vp::dram {

/// What a channel with accesses waits for between two column commands.
enum class Wait : std::uint8_t {
  bandwidth,   ///< the data bus, or the next column command of a bank group
  turnaround,  ///< the change between reads and writes
  row_miss,    ///< precharge, activation, refresh
  update,      ///< the longer column access of a near-memory update
};
using Waits = std::array<Cycle, 4>;

struct ChannelStatistics {
  std::uint64_t reads = 0, writes = 0, updates = 0;
  std::uint64_t activates = 0, precharges = 0, refreshes = 0;
  std::uint64_t data_bus_cycles = 0;   ///< of all pseudo-channels
  std::uint64_t occupancy_cycles = 0;  ///< sum of the occupancy over cycles
  Waits waits{};                       ///< cycles with accesses, by what they waited for
  std::uint64_t column_accesses() const { return reads + writes + updates; }
  /// 1 - ACT / (RD + WR); 0 before the first access.
  double row_hit_rate() const;
};

struct BankStatistics {
  std::uint64_t conflicts = 0;    ///< rows closed for an access to another row
  std::uint64_t turnarounds = 0;  ///< accesses that waited for the change between reads and writes
};

/// The response of a channel's source in a cycle.
enum class Fed : std::uint8_t {
  access,   ///< one enters the queue
  none,     ///< there is none before `retry`
  refused,  ///< there is one that may not enter before `retry`, or the occupancy changes, or another one is done
};

}  // namespace t3vp::dram
