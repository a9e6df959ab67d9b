// The command log of a channel as CSV. Plain C++, no SystemC.
#pragma once

#include <ostream>

#include "dram/command.h"

namespace t3vp::dram {

const char* mnemonic(CommandKind kind);

/// Columns: time in DRAM cycles, command (ACT, PRE, PREA, RD, WR, UPD, REF), bank group, bank of the group, row,
/// column, pseudo-channel. PREA and REF concern all banks of their pseudo-channel and have - for what they do not name.
class CommandLog final : public CommandListener {
 public:
  explicit CommandLog(std::ostream& out);
  void command(const Command& command) override;

 private:
  std::ostream& out_;
};

}  // namespace t3vp::dram
