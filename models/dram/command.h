// The commands on a channel's command buses, for logs and timing checkers. Plain C++, no SystemC.
#pragma once

#include <cstdint>

namespace t3vp::dram {

using Cycle = std::uint64_t;
inline constexpr Cycle never_cycle = ~Cycle{0};

enum class CommandKind : std::uint8_t { activate, precharge, precharge_all, read, write, update, refresh };

/// Row is the one opened, closed or accessed; column is 0 for row commands; precharge_all and refresh name the
/// pseudo-channel only.
struct Command {
  Cycle cycle;
  CommandKind kind;
  std::uint32_t pseudo_channel, bank_group, bank, row, column;
};

class CommandListener {
 public:
  virtual void command(const Command&) = 0;

 protected:
  ~CommandListener() = default;
};

}  // namespace t3vp::dram
