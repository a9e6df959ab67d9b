// The control and status registers of machine mode (privileged ISA 1.12, chapters 2 and 3).
#pragma once

#include <cstdint>

namespace t3vp::riscv {

class Hart;

enum class Cause : std::uint64_t {
  fetch_access = 1,
  illegal_instruction = 2,
  breakpoint = 3,
  load_misaligned = 4,
  load_access = 5,
  store_misaligned = 6,  ///< also of atomic operations
  store_access = 7,
  machine_call = 11,
};

/// Bits of mip and mie, which are the interrupts' causes.
enum class Interrupt : unsigned { software = 3, timer = 7, external = 11 };
constexpr std::uint64_t interrupt_bit(Interrupt interrupt) {
  return std::uint64_t{1} << static_cast<unsigned>(interrupt);
}
constexpr std::uint64_t all_interrupts =
    interrupt_bit(Interrupt::software) | interrupt_bit(Interrupt::timer) | interrupt_bit(Interrupt::external);

/// The stored control registers. Fixed fields, such as mstatus.MPP, are not stored.
struct ControlRegisters {
  bool mie_bit = false, mpie_bit = false;  ///< mstatus.MIE and mstatus.MPIE
  std::uint64_t mie = 0, mip = 0;
  std::uint64_t mtvec = 0, mscratch = 0, mepc = 0, mcause = 0, mtval = 0;
  std::uint64_t cycle_offset = 0, instret_offset = 0;  ///< by which software has moved mcycle and minstret
  std::uint64_t hart_id = 0;
};

struct ControlRegister {
  std::uint32_t first, last;  ///< numbers that behave alike
  const char* name;
  std::uint64_t (*read)(Hart& hart);
  void (*write)(Hart& hart, std::uint64_t value);  ///< null: what is written is ignored
};

/// Null when there is none of that number.
const ControlRegister* find_control_register(std::uint32_t number);

/// Writes to such a number are illegal, whatever the value.
constexpr bool is_read_only(std::uint32_t number) { return number >> 10 == 3; }

}  // namespace t3vp::riscv
