// The compressed instructions as a table: what each looks like and which 32-bit instruction it stands for (unprivileged
// ISA, chapter "C"). Those of floats do not exist here.
#include "hart/fields.h"
#include "hart/instruction.h"

namespace t3vp::riscv {
namespace {

using Word = std::uint32_t;

constexpr Word illegal = 0;
constexpr Word zero = 0, ra = 1, sp = 2;
constexpr Word op_imm = 0x13, op_imm_32 = 0x1B, op = 0x33, op_32 = 0x3B, lui = 0x37, load = 0x03, store = 0x23,
               branch = 0x63, jal = 0x6F, jalr = 0x67;

constexpr Word i_type(Word opcode, Word funct3, Word rd, Word rs1, Word immediate) {
  return opcode | rd << 7 | funct3 << 12 | rs1 << 15 | immediate << 20;
}
constexpr Word r_type(Word opcode, Word funct3, Word funct7, Word rd, Word rs1, Word rs2) {
  return i_type(opcode, funct3, rd, rs1, funct7 << 5 | rs2);
}
constexpr Word s_type(Word funct3, Word rs1, Word rs2, Word immediate) {
  return store | bits(immediate, 4, 0) << 7 | funct3 << 12 | rs1 << 15 | rs2 << 20 | bits(immediate, 11, 5) << 25;
}
constexpr Word b_type(Word funct3, Word rs1, Word offset) {
  return branch | bits(offset, 11, 11) << 7 | bits(offset, 4, 1) << 8 | funct3 << 12 | rs1 << 15 |
         bits(offset, 10, 5) << 25 | bits(offset, 12, 12) << 31;
}
constexpr Word j_type(Word rd, Word offset) {
  return jal | rd << 7 | bits(offset, 19, 12) << 12 | bits(offset, 11, 11) << 20 | bits(offset, 10, 1) << 21 |
         bits(offset, 20, 20) << 31;
}

// Registers: all 32, and the eight that short fields reach.
constexpr Word rd(Word c) { return bits(c, 11, 7); }
constexpr Word rs2(Word c) { return bits(c, 6, 2); }
constexpr Word short_high(Word c) { return bits(c, 9, 7) + 8; }
constexpr Word short_low(Word c) { return bits(c, 4, 2) + 8; }

// Immediates.
constexpr Word unsigned_6(Word c) { return bits(c, 12, 12) << 5 | bits(c, 6, 2); }
constexpr Word signed_6(Word c) { return static_cast<Word>(sign_extended(unsigned_6(c), 6)); }
constexpr Word wide_offset(Word c) {
  return bits(c, 10, 7) << 6 | bits(c, 12, 11) << 4 | bits(c, 5, 5) << 3 | bits(c, 6, 6) << 2;
}
constexpr Word word_offset(Word c) { return bits(c, 5, 5) << 6 | bits(c, 12, 10) << 3 | bits(c, 6, 6) << 2; }
constexpr Word double_offset(Word c) { return bits(c, 6, 5) << 6 | bits(c, 12, 10) << 3; }
constexpr Word word_from_stack(Word c) { return bits(c, 3, 2) << 6 | bits(c, 12, 12) << 5 | bits(c, 6, 4) << 2; }
constexpr Word double_from_stack(Word c) { return bits(c, 4, 2) << 6 | bits(c, 12, 12) << 5 | bits(c, 6, 5) << 3; }
constexpr Word word_to_stack(Word c) { return bits(c, 8, 7) << 6 | bits(c, 12, 9) << 2; }
constexpr Word double_to_stack(Word c) { return bits(c, 9, 7) << 6 | bits(c, 12, 10) << 3; }
constexpr Word stack_step(Word c) {
  return static_cast<Word>(sign_extended(
      bits(c, 12, 12) << 9 | bits(c, 4, 3) << 7 | bits(c, 5, 5) << 6 | bits(c, 2, 2) << 5 | bits(c, 6, 6) << 4, 10));
}
constexpr Word jump_offset(Word c) {
  return static_cast<Word>(sign_extended(bits(c, 12, 12) << 11 | bits(c, 8, 8) << 10 | bits(c, 10, 9) << 8 |
                                             bits(c, 6, 6) << 7 | bits(c, 7, 7) << 6 | bits(c, 2, 2) << 5 |
                                             bits(c, 11, 11) << 4 | bits(c, 5, 3) << 1,
                                         12));
}
constexpr Word branch_offset(Word c) {
  return static_cast<Word>(sign_extended(
      bits(c, 12, 12) << 8 | bits(c, 6, 5) << 6 | bits(c, 2, 2) << 5 | bits(c, 11, 10) << 3 | bits(c, 4, 3) << 1, 9));
}

constexpr Word unless(bool reserved, Word word) { return reserved ? illegal : word; }
constexpr Word in_place(Word c, Word opcode, Word funct3, Word funct7) {
  return r_type(opcode, funct3, funct7, short_high(c), short_high(c), short_low(c));
}

struct Row {
  const char* name;
  Word mask, match;
  Word (*expand)(Word c);
};

// The first row that matches counts.
constexpr Row rows[] = {
    // Quadrant 0.
    {"c.addi4spn", 0xE003, 0x0000,
     [](Word c) { return unless(wide_offset(c) == 0, i_type(op_imm, 0, short_low(c), sp, wide_offset(c))); }},
    {"c.lw", 0xE003, 0x4000, [](Word c) { return i_type(load, 2, short_low(c), short_high(c), word_offset(c)); }},
    {"c.ld", 0xE003, 0x6000, [](Word c) { return i_type(load, 3, short_low(c), short_high(c), double_offset(c)); }},
    {"c.sw", 0xE003, 0xC000, [](Word c) { return s_type(2, short_high(c), short_low(c), word_offset(c)); }},
    {"c.sd", 0xE003, 0xE000, [](Word c) { return s_type(3, short_high(c), short_low(c), double_offset(c)); }},
    // Quadrant 1.
    {"c.addi", 0xE003, 0x0001, [](Word c) { return i_type(op_imm, 0, rd(c), rd(c), signed_6(c)); }},
    {"c.addiw", 0xE003, 0x2001,
     [](Word c) { return unless(rd(c) == zero, i_type(op_imm_32, 0, rd(c), rd(c), signed_6(c))); }},
    {"c.li", 0xE003, 0x4001, [](Word c) { return i_type(op_imm, 0, rd(c), zero, signed_6(c)); }},
    {"c.addi16sp", 0xEF83, 0x6101,
     [](Word c) { return unless(stack_step(c) == 0, i_type(op_imm, 0, sp, sp, stack_step(c))); }},
    {"c.lui", 0xE003, 0x6001, [](Word c) { return unless(unsigned_6(c) == 0, lui | rd(c) << 7 | signed_6(c) << 12); }},
    {"c.srli", 0xEC03, 0x8001, [](Word c) { return i_type(op_imm, 5, short_high(c), short_high(c), unsigned_6(c)); }},
    {"c.srai", 0xEC03, 0x8401,
     [](Word c) { return i_type(op_imm, 5, short_high(c), short_high(c), 0x400 | unsigned_6(c)); }},
    {"c.andi", 0xEC03, 0x8801, [](Word c) { return i_type(op_imm, 7, short_high(c), short_high(c), signed_6(c)); }},
    {"c.sub", 0xFC63, 0x8C01, [](Word c) { return in_place(c, op, 0, 0x20); }},
    {"c.xor", 0xFC63, 0x8C21, [](Word c) { return in_place(c, op, 4, 0); }},
    {"c.or", 0xFC63, 0x8C41, [](Word c) { return in_place(c, op, 6, 0); }},
    {"c.and", 0xFC63, 0x8C61, [](Word c) { return in_place(c, op, 7, 0); }},
    {"c.subw", 0xFC63, 0x9C01, [](Word c) { return in_place(c, op_32, 0, 0x20); }},
    {"c.addw", 0xFC63, 0x9C21, [](Word c) { return in_place(c, op_32, 0, 0); }},
    {"c.j", 0xE003, 0xA001, [](Word c) { return j_type(zero, jump_offset(c)); }},
    {"c.beqz", 0xE003, 0xC001, [](Word c) { return b_type(0, short_high(c), branch_offset(c)); }},
    {"c.bnez", 0xE003, 0xE001, [](Word c) { return b_type(1, short_high(c), branch_offset(c)); }},
    // Quadrant 2.
    {"c.slli", 0xE003, 0x0002, [](Word c) { return i_type(op_imm, 1, rd(c), rd(c), unsigned_6(c)); }},
    {"c.lwsp", 0xE003, 0x4002,
     [](Word c) { return unless(rd(c) == zero, i_type(load, 2, rd(c), sp, word_from_stack(c))); }},
    {"c.ldsp", 0xE003, 0x6002,
     [](Word c) { return unless(rd(c) == zero, i_type(load, 3, rd(c), sp, double_from_stack(c))); }},
    {"c.jr", 0xF07F, 0x8002, [](Word c) { return unless(rd(c) == zero, i_type(jalr, 0, zero, rd(c), 0)); }},
    {"c.mv", 0xF003, 0x8002, [](Word c) { return r_type(op, 0, 0, rd(c), zero, rs2(c)); }},
    {"c.ebreak", 0xFFFF, 0x9002, [](Word) { return Word{0x00100073}; }},
    {"c.jalr", 0xF07F, 0x9002, [](Word c) { return i_type(jalr, 0, ra, rd(c), 0); }},
    {"c.add", 0xF003, 0x9002, [](Word c) { return r_type(op, 0, 0, rd(c), rd(c), rs2(c)); }},
    {"c.swsp", 0xE003, 0xC002, [](Word c) { return s_type(2, sp, rs2(c), word_to_stack(c)); }},
    {"c.sdsp", 0xE003, 0xE002, [](Word c) { return s_type(3, sp, rs2(c), double_to_stack(c)); }},
};

}  // namespace

std::uint32_t expand(std::uint32_t compressed) {
  for (const Row& row : rows)
    if ((compressed & row.mask) == row.match) return row.expand(compressed);
  return illegal;
}

}  // namespace t3vp::riscv
