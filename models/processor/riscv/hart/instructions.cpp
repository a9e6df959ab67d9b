// The 32-bit instructions as a table: what each looks like and what it does.
#include "hart/fields.h"
#include "hart/hart.h"
#include "hart/hart_arithmetic.h"
#include "hart/instruction.h"

namespace t3vp::riscv {
namespace {

using Pc = std::uint64_t;

std::uint64_t immediate_of(const Instruction& i) { return static_cast<std::uint64_t>(std::int64_t{i.immediate}); }

Pc refuse(Hart& h, const Instruction& i, Pc pc) { return h.raise(Cause::illegal_instruction, pc, i.word); }

template <Operation operation>
Pc on_registers(Hart& h, const Instruction& i, Pc pc) {
  h.x[i.rd] = operation(h.x[i.rs1], h.x[i.rs2]);
  return pc + i.length;
}

template <Operation operation>
Pc on_immediate(Hart& h, const Instruction& i, Pc pc) {
  h.x[i.rd] = operation(h.x[i.rs1], immediate_of(i));
  return pc + i.length;
}

template <Operation condition>
Pc branch_if(Hart& h, const Instruction& i, Pc pc) {
  return condition(h.x[i.rs1], h.x[i.rs2]) != 0 ? pc + immediate_of(i) : pc + i.length;
}

Pc lui(Hart& h, const Instruction& i, Pc pc) {
  h.x[i.rd] = immediate_of(i);
  return pc + i.length;
}

Pc auipc(Hart& h, const Instruction& i, Pc pc) {
  h.x[i.rd] = pc + immediate_of(i);
  return pc + i.length;
}

Pc jal(Hart& h, const Instruction& i, Pc pc) {
  h.x[i.rd] = pc + i.length;
  return pc + immediate_of(i);
}

Pc jalr(Hart& h, const Instruction& i, Pc pc) {
  const std::uint64_t target = (h.x[i.rs1] + immediate_of(i)) & ~std::uint64_t{1};
  h.x[i.rd] = pc + i.length;
  return target;
}

/// T says by its sign how the register is filled.
template <typename T>
Pc load(Hart& h, const Instruction& i, Pc pc) {
  const std::uint64_t address = h.x[i.rs1] + immediate_of(i);
  T value{};
  if (!h.load(address, value)) return h.raise(Cause::load_access, pc, address);
  h.x[i.rd] = static_cast<std::uint64_t>(value);  // NOLINT(bugprone-signed-char-misuse): the sign is meant
  return pc + i.length;
}

template <typename T>
Pc store(Hart& h, const Instruction& i, Pc pc) {
  const std::uint64_t address = h.x[i.rs1] + immediate_of(i);
  if (!h.store(address, static_cast<T>(h.x[i.rs2]))) return h.raise(Cause::store_access, pc, address);
  return pc + i.length;
}

/// T is signed: words fill the register with their sign.
template <typename T>
Pc load_reserved(Hart& h, const Instruction& i, Pc pc) {
  const std::uint64_t address = h.x[i.rs1];
  if (address % sizeof(T) != 0) return h.raise(Cause::load_misaligned, pc, address);
  T value{};
  if (!h.load(address, value)) return h.raise(Cause::load_access, pc, address);
  h.x[i.rd] = static_cast<std::uint64_t>(value);
  h.reservation = {sizeof(T), address, static_cast<std::uint64_t>(value)};
  return pc + i.length;
}

/// Succeeds when memory still holds what the last LR has loaded there, whoever else has written to it.
template <typename T>
Pc store_conditional(Hart& h, const Instruction& i, Pc pc) {
  const std::uint64_t address = h.x[i.rs1];
  if (address % sizeof(T) != 0) return h.raise(Cause::store_misaligned, pc, address);
  const Hart::Reservation reserved = h.reservation;
  h.reservation = {};
  bool holds = reserved.bytes == sizeof(T) && reserved.address == address;
  if (holds) {
    T value{};
    if (!h.load(address, value)) return h.raise(Cause::store_access, pc, address);
    holds = static_cast<std::uint64_t>(value) == reserved.value;
  }
  if (holds && !h.store(address, static_cast<T>(h.x[i.rs2]))) return h.raise(Cause::store_access, pc, address);
  h.x[i.rd] = holds ? 0 : 1;
  return pc + i.length;
}

/// T says by its sign how the operands are compared; the register is filled with the sign anyway.
template <typename T, Operation operation>
Pc atomically(Hart& h, const Instruction& i, Pc pc) {
  const std::uint64_t address = h.x[i.rs1], operand = h.x[i.rs2];
  if (address % sizeof(T) != 0) return h.raise(Cause::store_misaligned, pc, address);
  T value{};
  if (!h.load(address, value)) return h.raise(Cause::store_access, pc, address);
  const auto widened = static_cast<std::uint64_t>(value);
  const auto result = static_cast<T>(operation(widened, static_cast<std::uint64_t>(static_cast<T>(operand))));
  if (!h.store(address, result)) return h.raise(Cause::store_access, pc, address);
  h.x[i.rd] = sizeof(T) == sizeof(std::uint32_t) ? from_word(low_word(widened)) : widened;
  return pc + i.length;
}

constexpr std::uint64_t clear_bits(std::uint64_t value, std::uint64_t mask) { return value & ~mask; }

/// What `operation` makes of the register's value and the operand is written. Reading has no effect on any register, so
/// that rd does not matter; setting or clearing by x0, or by 0 as the immediate, is no write.
template <Operation operation, bool from_register>
Pc control(Hart& h, const Instruction& i, Pc pc) {
  const auto number = static_cast<std::uint32_t>(i.immediate);
  const ControlRegister* const found = find_control_register(number);
  const bool writes = operation == second || i.rs1 != 0;
  if (found == nullptr || (writes && is_read_only(number))) return refuse(h, i, pc);
  const std::uint64_t old = found->read(h), operand = from_register ? h.x[i.rs1] : i.rs1;
  if (writes && found->write != nullptr) found->write(h, operation(old, operand));
  h.x[i.rd] = old;
  h.look_at_interrupts();
  return pc + i.length;
}

Pc do_nothing(Hart&, const Instruction& i, Pc pc) { return pc + i.length; }

Pc forget_instructions(Hart& h, const Instruction& i, Pc pc) {
  h.forget_instructions();
  return pc + i.length;
}

Pc wait_for_interrupt(Hart& h, const Instruction& i, Pc pc) {
  h.sleep();
  return pc + i.length;
}

struct Row {
  const char* name;
  std::uint32_t mask, match;
  Format format;
  Handler execute;
};

constexpr std::uint32_t major = 0x7F, with_funct3 = 0x707F, with_funct7 = 0xFE00707F, with_funct6 = 0xFC00707F,
                        with_funct5 = 0xF800707F, with_rs2 = 0xF9F0707F, whole = 0xFFFFFFFF;

using S8 = std::int8_t;
using S16 = std::int16_t;
using S32 = std::int32_t;
using S64 = std::int64_t;
using U8 = std::uint8_t;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

constexpr Row rows[] = {
    {"lui", major, 0x37, Format::u, lui},
    {"auipc", major, 0x17, Format::u, auipc},
    {"jal", major, 0x6F, Format::j, jal},
    {"jalr", with_funct3, 0x67, Format::i, jalr},
    {"beq", with_funct3, 0x0063, Format::b, branch_if<equal>},
    {"bne", with_funct3, 0x1063, Format::b, branch_if<unequal>},
    {"blt", with_funct3, 0x4063, Format::b, branch_if<slt>},
    {"bge", with_funct3, 0x5063, Format::b, branch_if<at_least>},
    {"bltu", with_funct3, 0x6063, Format::b, branch_if<sltu>},
    {"bgeu", with_funct3, 0x7063, Format::b, branch_if<at_least_unsigned>},
    {"lb", with_funct3, 0x0003, Format::i, load<S8>},
    {"lh", with_funct3, 0x1003, Format::i, load<S16>},
    {"lw", with_funct3, 0x2003, Format::i, load<S32>},
    {"ld", with_funct3, 0x3003, Format::i, load<S64>},
    {"lbu", with_funct3, 0x4003, Format::i, load<U8>},
    {"lhu", with_funct3, 0x5003, Format::i, load<U16>},
    {"lwu", with_funct3, 0x6003, Format::i, load<U32>},
    {"sb", with_funct3, 0x0023, Format::s, store<U8>},
    {"sh", with_funct3, 0x1023, Format::s, store<U16>},
    {"sw", with_funct3, 0x2023, Format::s, store<U32>},
    {"sd", with_funct3, 0x3023, Format::s, store<U64>},
    {"addi", with_funct3, 0x0013, Format::i, on_immediate<add>},
    {"slti", with_funct3, 0x2013, Format::i, on_immediate<slt>},
    {"sltiu", with_funct3, 0x3013, Format::i, on_immediate<sltu>},
    {"xori", with_funct3, 0x4013, Format::i, on_immediate<xor_>},
    {"ori", with_funct3, 0x6013, Format::i, on_immediate<or_>},
    {"andi", with_funct3, 0x7013, Format::i, on_immediate<and_>},
    {"slli", with_funct6, 0x00001013, Format::shift, on_immediate<sll>},
    {"srli", with_funct6, 0x00005013, Format::shift, on_immediate<srl>},
    {"srai", with_funct6, 0x40005013, Format::shift, on_immediate<sra>},
    {"addiw", with_funct3, 0x001B, Format::i, on_immediate<addw>},
    {"slliw", with_funct7, 0x0000101B, Format::shift, on_immediate<sllw>},
    {"srliw", with_funct7, 0x0000501B, Format::shift, on_immediate<srlw>},
    {"sraiw", with_funct7, 0x4000501B, Format::shift, on_immediate<sraw>},
    {"add", with_funct7, 0x00000033, Format::r, on_registers<add>},
    {"sub", with_funct7, 0x40000033, Format::r, on_registers<sub>},
    {"sll", with_funct7, 0x00001033, Format::r, on_registers<sll>},
    {"slt", with_funct7, 0x00002033, Format::r, on_registers<slt>},
    {"sltu", with_funct7, 0x00003033, Format::r, on_registers<sltu>},
    {"xor", with_funct7, 0x00004033, Format::r, on_registers<xor_>},
    {"srl", with_funct7, 0x00005033, Format::r, on_registers<srl>},
    {"sra", with_funct7, 0x40005033, Format::r, on_registers<sra>},
    {"or", with_funct7, 0x00006033, Format::r, on_registers<or_>},
    {"and", with_funct7, 0x00007033, Format::r, on_registers<and_>},
    {"addw", with_funct7, 0x0000003B, Format::r, on_registers<addw>},
    {"subw", with_funct7, 0x4000003B, Format::r, on_registers<subw>},
    {"sllw", with_funct7, 0x0000103B, Format::r, on_registers<sllw>},
    {"srlw", with_funct7, 0x0000503B, Format::r, on_registers<srlw>},
    {"sraw", with_funct7, 0x4000503B, Format::r, on_registers<sraw>},
    // M
    {"mul", with_funct7, 0x02000033, Format::r, on_registers<mul>},
    {"mulh", with_funct7, 0x02001033, Format::r, on_registers<mulh>},
    {"mulhsu", with_funct7, 0x02002033, Format::r, on_registers<mulhsu>},
    {"mulhu", with_funct7, 0x02003033, Format::r, on_registers<mulhu>},
    {"div", with_funct7, 0x02004033, Format::r, on_registers<div>},
    {"divu", with_funct7, 0x02005033, Format::r, on_registers<divu>},
    {"rem", with_funct7, 0x02006033, Format::r, on_registers<rem>},
    {"remu", with_funct7, 0x02007033, Format::r, on_registers<remu>},
    {"mulw", with_funct7, 0x0200003B, Format::r, on_registers<mulw>},
    {"divw", with_funct7, 0x0200403B, Format::r, on_registers<divw>},
    {"divuw", with_funct7, 0x0200503B, Format::r, on_registers<divuw>},
    {"remw", with_funct7, 0x0200603B, Format::r, on_registers<remw>},
    {"remuw", with_funct7, 0x0200703B, Format::r, on_registers<remuw>},
    // A
    {"lr.w", with_rs2, 0x1000202F, Format::r, load_reserved<S32>},
    {"sc.w", with_funct5, 0x1800202F, Format::r, store_conditional<S32>},
    {"amoswap.w", with_funct5, 0x0800202F, Format::r, atomically<S32, second>},
    {"amoadd.w", with_funct5, 0x0000202F, Format::r, atomically<S32, add>},
    {"amoxor.w", with_funct5, 0x2000202F, Format::r, atomically<S32, xor_>},
    {"amoand.w", with_funct5, 0x6000202F, Format::r, atomically<S32, and_>},
    {"amoor.w", with_funct5, 0x4000202F, Format::r, atomically<S32, or_>},
    {"amomin.w", with_funct5, 0x8000202F, Format::r, atomically<S32, smaller>},
    {"amomax.w", with_funct5, 0xA000202F, Format::r, atomically<S32, larger>},
    {"amominu.w", with_funct5, 0xC000202F, Format::r, atomically<U32, smaller_unsigned>},
    {"amomaxu.w", with_funct5, 0xE000202F, Format::r, atomically<U32, larger_unsigned>},
    {"lr.d", with_rs2, 0x1000302F, Format::r, load_reserved<S64>},
    {"sc.d", with_funct5, 0x1800302F, Format::r, store_conditional<S64>},
    {"amoswap.d", with_funct5, 0x0800302F, Format::r, atomically<S64, second>},
    {"amoadd.d", with_funct5, 0x0000302F, Format::r, atomically<S64, add>},
    {"amoxor.d", with_funct5, 0x2000302F, Format::r, atomically<S64, xor_>},
    {"amoand.d", with_funct5, 0x6000302F, Format::r, atomically<S64, and_>},
    {"amoor.d", with_funct5, 0x4000302F, Format::r, atomically<S64, or_>},
    {"amomin.d", with_funct5, 0x8000302F, Format::r, atomically<S64, smaller>},
    {"amomax.d", with_funct5, 0xA000302F, Format::r, atomically<S64, larger>},
    {"amominu.d", with_funct5, 0xC000302F, Format::r, atomically<U64, smaller_unsigned>},
    {"amomaxu.d", with_funct5, 0xE000302F, Format::r, atomically<U64, larger_unsigned>},
    // Zifencei, Zicsr and machine mode
    {"fence", with_funct3, 0x000F, Format::none, do_nothing},
    {"fence.i", with_funct3, 0x100F, Format::none, forget_instructions},
    {"csrrw", with_funct3, 0x1073, Format::csr, control<second, true>},
    {"csrrs", with_funct3, 0x2073, Format::csr, control<or_, true>},
    {"csrrc", with_funct3, 0x3073, Format::csr, control<clear_bits, true>},
    {"csrrwi", with_funct3, 0x5073, Format::csr, control<second, false>},
    {"csrrsi", with_funct3, 0x6073, Format::csr, control<or_, false>},
    {"csrrci", with_funct3, 0x7073, Format::csr, control<clear_bits, false>},
    {"ecall", whole, 0x00000073, Format::none,
     [](Hart& h, const Instruction&, Pc pc) { return h.raise(Cause::machine_call, pc, 0); }},
    {"ebreak", whole, 0x00100073, Format::none,
     [](Hart& h, const Instruction&, Pc pc) { return h.raise(Cause::breakpoint, pc, pc); }},
    {"mret", whole, 0x30200073, Format::none, [](Hart& h, const Instruction&, Pc) { return h.return_from_trap(); }},
    {"wfi", whole, 0x10500073, Format::none, wait_for_interrupt},
};

const Row* find_row(std::uint32_t word) {
  for (const Row& row : rows)
    if ((word & row.mask) == row.match) return &row;
  return nullptr;
}

}  // namespace

Instruction decode(std::uint32_t word) {
  const std::uint32_t whole_word = is_compressed(word) ? expand(word) : word;
  const Row* const row = find_row(whole_word);
  Instruction instruction;
  instruction.word = word;
  instruction.length = is_compressed(word) ? 2 : 4;
  instruction.execute = row != nullptr ? row->execute : refuse;
  if (row == nullptr) return instruction;
  instruction.immediate = immediate_of(whole_word, row->format);
  instruction.rs1 = register_at(whole_word, 15);
  instruction.rs2 = register_at(whole_word, 20);
  const std::uint8_t rd = register_at(whole_word, 7);
  if (has_destination(row->format) && rd != 0) instruction.rd = rd;
  return instruction;
}

const char* name_of(std::uint32_t word) {
  const Row* const row = find_row(is_compressed(word) ? expand(word) : word);
  return row != nullptr ? row->name : "illegal";
}

}  // namespace t3vp::riscv
