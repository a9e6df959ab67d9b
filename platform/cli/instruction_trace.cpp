#include "cli/instruction_trace.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

namespace t3vp {

void InstructionTrace::retired(const riscv::Hart& hart, std::uint64_t pc, const riscv::Instruction& instruction) {
  const int digits = 2 * instruction.length;
  fmt::print(out_, "{:#010x} {:0{}x} {}", pc, instruction.word, digits, riscv::name_of(instruction.word));
  if (instruction.rd != riscv::Instruction::sink)
    fmt::print(out_, " x{} = {:#x}", instruction.rd, hart.x[instruction.rd]);
  out_ << '\n';
}

void InstructionTrace::trapped(std::uint64_t pc, std::uint64_t cause, std::uint64_t value) {
  fmt::print(out_, "{:#010x} trap, cause {:#x}, value {:#x}\n", pc, cause, value);
}

}  // namespace t3vp
