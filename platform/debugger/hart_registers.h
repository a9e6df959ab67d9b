// Registers of a RISC-V hart by the numbers that GDB gives them, and what an instruction accesses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "debugger/stop_points.h"
#include "hart/hart.h"

namespace t3vp::debug {

constexpr unsigned hart_general_registers = 33;  ///< x0 to x31 and pc
constexpr unsigned hart_program_counter = 32;

/// General registers, pc and those control registers that have a name of their own, for riscv:rv64.
std::string hart_description();
/// Nothing: there is no such register.
std::optional<std::uint64_t> read_hart_register(riscv::Hart& hart, unsigned number);
/// False, and nothing is changed: there is no such register, or it cannot hold this value.
bool write_hart_register(riscv::Hart& hart, unsigned number, std::uint64_t value);

/// Returns the access that the instruction will make with the present registers; nothing when it accesses no memory.
std::optional<MemoryAccess> access_of(const riscv::Hart& hart, const riscv::Instruction& instruction);

}  // namespace t3vp::debug
