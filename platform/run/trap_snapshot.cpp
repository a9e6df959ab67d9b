#include "run/trap_snapshot.h"

#include <utility>

namespace t3vp {

void TrapSnapshot::after(const riscv::Hart& hart) {
  if (exceptions_of(hart) == exceptions_) return;
  if (at_ && hart.first_trap() && hart.first_trap()->pc == at_->pc) return;
  at_ = Registers{hart.x, hart.control, hart.control.mepc};
}

void TrapSnapshot::exchange(riscv::Hart& hart) {
  std::swap(hart.x, at_->x);
  std::swap(hart.control, at_->control);
  std::swap(hart.pc, at_->pc);
}

unsigned TrapSnapshot::signal() const {
  constexpr unsigned sigill = 4, sigtrap = 5, sigbus = 10, sigsegv = 11;  // gdb's numbers
  switch (static_cast<riscv::Cause>(at_->control.mcause)) {
    case riscv::Cause::load_misaligned:
    case riscv::Cause::store_misaligned:
      return sigbus;
    case riscv::Cause::illegal_instruction:
    case riscv::Cause::machine_call:
      return sigill;
    case riscv::Cause::breakpoint:
      return sigtrap;
    default:
      return sigsegv;
  }
}

}  // namespace t3vp
