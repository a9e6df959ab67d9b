#include "hart/trap_text.h"

#include <iterator>

namespace t3vp::riscv {
namespace {

constexpr std::uint64_t of_interrupt = std::uint64_t{1} << 63;

std::string name_of_interrupt(std::uint64_t number) {
  switch (static_cast<Interrupt>(number)) {
    case Interrupt::software:
      return "software interrupt";
    case Interrupt::timer:
      return "timer interrupt";
    case Interrupt::external:
      return "external interrupt";
  }
  return "interrupt " + std::to_string(number);
}

}  // namespace

std::string name_of_trap(std::uint64_t mcause) {
  if ((mcause & of_interrupt) != 0) return name_of_interrupt(mcause & ~of_interrupt);
  constexpr const char* names[] = {"misaligned fetch", "fetch access fault", "illegal instruction",
                                   "breakpoint",       "misaligned load",    "load access fault",
                                   "misaligned store", "store access fault"};
  const char* const name = mcause < std::size(names)                                   ? names[mcause]
                           : mcause == static_cast<std::uint64_t>(Cause::machine_call) ? "environment call"
                                                                                       : "trap";
  return name + (" (cause " + std::to_string(mcause)) + ")";
}

std::string text_of_loss(const Hart& hart, const std::function<std::string(std::uint64_t)>& place) {
  const ControlRegisters& control = hart.control;
  const char* const unset = control.mtvec == 0 ? ", which has not been set" : "";
  std::string text = "the trap handler, at " + place(control.mtvec & ~std::uint64_t{3}) + " (mtvec" + unset +
                     "), raises an exception itself: " + name_of_trap(control.mcause) + " at pc " + place(control.mepc);
  if (const auto& first = hart.first_trap())
    text += "; it was called for: " + name_of_trap(first->cause) + " at pc " + place(first->pc);
  return text;
}

}  // namespace t3vp::riscv
