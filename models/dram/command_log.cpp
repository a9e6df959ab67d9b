#include "dram/command_log.h"

namespace t3vp::dram {

const char* mnemonic(CommandKind kind) {
  switch (kind) {
    case CommandKind::activate:
      return "ACT";
    case CommandKind::precharge:
      return "PRE";
    case CommandKind::precharge_all:
      return "PREA";
    case CommandKind::read:
      return "RD";
    case CommandKind::write:
      return "WR";
    case CommandKind::update:
      return "UPD";
    case CommandKind::refresh:
      return "REF";
  }
  return "?";
}

CommandLog::CommandLog(std::ostream& out) : out_(out) {
  out_ << "time_cycles,command,bank_group,bank,row,column,pseudo_channel\n";
}

void CommandLog::command(const Command& c) {
  const bool all_banks = c.kind == CommandKind::precharge_all || c.kind == CommandKind::refresh;
  out_ << c.cycle << ',' << mnemonic(c.kind) << ',';
  if (all_banks)
    out_ << "-,-,-,-";
  else if (c.kind == CommandKind::activate || c.kind == CommandKind::precharge)
    out_ << c.bank_group << ',' << c.bank << ',' << c.row << ",-";
  else
    out_ << c.bank_group << ',' << c.bank << ',' << c.row << ',' << c.column;
  out_ << ',' << c.pseudo_channel << '\n';
}

}  // namespace t3vp::dram
