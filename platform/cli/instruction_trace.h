// A trace of a RISC-V core: a line for each instruction and each trap.
#pragma once

#include <ostream>

#include "hart/hart.h"

namespace t3vp {

/// "0x80000004 00a28293 addi x5 = 0x80000010": address, word, mnemonic, and the register that was written, if any.
/// "0x80000008 trap, cause 0x2, value 0x0": an exception of the instruction there, or an interrupt before it.
class InstructionTrace : public riscv::Observer {
 public:
  explicit InstructionTrace(std::ostream& out) : out_(out) {}

  void retired(const riscv::Hart& hart, std::uint64_t pc, const riscv::Instruction& instruction) override;
  void trapped(std::uint64_t pc, std::uint64_t cause, std::uint64_t value) override;

 private:
  std::ostream& out_;
};

}  // namespace t3vp
