#include "debugger/hart_registers.h"

#include "hart/fields.h"

namespace t3vp::debug {
namespace {

constexpr unsigned first_control_register = 65;  // GDB's numbers: 33 to 64 are those of floats
constexpr unsigned control_registers = 0x1000;
constexpr const char* names[hart_program_counter] = {
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp", "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
    "a6",   "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};

std::string register_line(const std::string& name, unsigned number, const std::string& rest) {
  return "<reg name=\"" + name + "\" bitsize=\"64\" regnum=\"" + std::to_string(number) + "\"" + rest + "/>\n";
}

/// One row of the hart's table may stand for several numbers: those have no name of their own.
const riscv::ControlRegister* named_control_register(unsigned number) {
  const riscv::ControlRegister* const row = riscv::find_control_register(number);
  return row != nullptr && row->first == row->last ? row : nullptr;
}

const riscv::ControlRegister* control_register_of(unsigned number) {
  const bool fits = number >= first_control_register && number - first_control_register < control_registers;
  return fits ? riscv::find_control_register(number - first_control_register) : nullptr;
}

/// Hardware ignores bits that are fixed: a debugger's user would not see that.
bool write_control_register(riscv::Hart& hart, const riscv::ControlRegister& row, std::uint64_t value) {
  const std::uint64_t before = row.read(hart);
  if (before == value) return true;
  if (row.write == nullptr) return false;
  row.write(hart, value);
  // A write of a counter allows for the instruction that writes. A debugger's write has none, so it is corrected.
  if (const std::uint64_t short_by = value - row.read(hart); short_by == 1) row.write(hart, value + short_by);
  if (row.read(hart) == value) return true;
  row.write(hart, before);
  return false;
}

}  // namespace

std::string hart_description() {
  std::string text =
      "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n"
      // A gdb that takes the program for one of Linux would step by breakpoints behind the instruction, past its traps.
      "<target version=\"1.0\">\n<architecture>riscv:rv64</architecture>\n<osabi>none</osabi>\n"
      "<feature name=\"org.gnu.gdb.riscv.cpu\">\n";
  for (unsigned number = 0; number < hart_program_counter; ++number) {
    const bool is_pointer = number == 2 || number == 3 || number == 4 || number == 8;  // sp, gp, tp, fp
    text += register_line(names[number], number, is_pointer ? " type=\"data_ptr\"" : "");
  }
  text += register_line("pc", hart_program_counter, " type=\"code_ptr\"");
  // Around a function that it calls, gdb saves and restores general registers alone.
  text += "</feature>\n<feature name=\"org.gnu.gdb.riscv.csr\">\n";
  for (unsigned number = 0; number < control_registers; ++number)
    if (const riscv::ControlRegister* const row = named_control_register(number))
      text += register_line(row->name, first_control_register + number, " save-restore=\"no\"");
  return text + "</feature>\n</target>\n";
}

std::optional<std::uint64_t> read_hart_register(riscv::Hart& hart, unsigned number) {
  if (number < hart_program_counter) return hart.x[number];
  if (number == hart_program_counter) return hart.pc;
  const riscv::ControlRegister* const row = control_register_of(number);
  return row != nullptr ? std::optional(row->read(hart)) : std::nullopt;
}

bool write_hart_register(riscv::Hart& hart, unsigned number, std::uint64_t value) {
  if (number == 0) return value == 0;
  if (number == hart_program_counter && value % 2 != 0) return false;
  if (number <= hart_program_counter) {
    (number == hart_program_counter ? hart.pc : hart.x[number]) = value;
    return true;
  }
  const riscv::ControlRegister* const row = control_register_of(number);
  return row != nullptr && write_control_register(hart, *row, value);
}

std::optional<MemoryAccess> access_of(const riscv::Hart& hart, const riscv::Instruction& instruction) {
  constexpr std::uint32_t load = 0x03, store = 0x23, atomic = 0x2F, load_reserved = 0x02, store_conditional = 0x03;
  const std::uint32_t word =
      riscv::is_compressed(instruction.word) ? riscv::expand(instruction.word) : instruction.word;
  const std::uint32_t opcode = riscv::bits(word, 6, 0), function = riscv::bits(word, 31, 27);
  if (opcode != load && opcode != store && opcode != atomic) return std::nullopt;
  const std::uint64_t base = hart.x[riscv::register_at(word, 15)];
  const std::int32_t offset = opcode == load    ? riscv::immediate_of(word, riscv::Format::i)
                              : opcode == store ? riscv::immediate_of(word, riscv::Format::s)
                                                : 0;
  MemoryAccess access;
  access.address = base + static_cast<std::uint64_t>(std::int64_t{offset});
  access.bytes = 1u << riscv::bits(word, 13, 12);
  access.reads = opcode == load || (opcode == atomic && function != store_conditional);
  access.writes = opcode == store || (opcode == atomic && function != load_reserved);
  return access;
}

}  // namespace t3vp::debug
