// Instruction words for tests, put together from the fields of the specification's tables, apart from the models' own.
#pragma once

#include <cstdint>

namespace t3vp::test::assembler {

using Word = std::uint32_t;
using Immediate = std::int32_t;

enum Register : Word {
  zero = 0,
  ra = 1,
  sp = 2,
  t0 = 5,
  t1 = 6,
  t2 = 7,
  s0 = 8,
  s1 = 9,
  a0 = 10,
  a1 = 11,
  a2 = 12,
  a3 = 13
};

enum Csr : Word {
  mstatus = 0x300,
  misa = 0x301,
  mie = 0x304,
  mtvec = 0x305,
  mscratch = 0x340,
  mepc = 0x341,
  mcause = 0x342,
  mtval = 0x343,
  mip = 0x344,
  mcycle = 0xB00,
  minstret = 0xB02,
  cycle = 0xC00,
  time_csr = 0xC01,
  instret = 0xC02,
  mhartid = 0xF14
};

inline Word r(Word funct7, Word rs2, Word rs1, Word funct3, Word rd, Word opcode) {
  return funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}
inline Word i(Immediate immediate, Word rs1, Word funct3, Word rd, Word opcode) {
  return static_cast<Word>(immediate) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}
inline Word s(Immediate immediate, Word rs2, Word rs1, Word funct3) {
  const auto bits = static_cast<Word>(immediate);
  return (bits >> 5 & 0x7F) << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | (bits & 0x1F) << 7 | 0x23;
}
inline Word b(Immediate offset, Word rs2, Word rs1, Word funct3) {
  const auto bits = static_cast<Word>(offset);
  return (bits >> 12 & 1) << 31 | (bits >> 5 & 0x3F) << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 |
         (bits >> 1 & 0xF) << 8 | (bits >> 11 & 1) << 7 | 0x63;
}
inline Word jal(Word rd, Immediate offset) {
  const auto bits = static_cast<Word>(offset);
  return (bits >> 20 & 1) << 31 | (bits >> 1 & 0x3FF) << 21 | (bits >> 11 & 1) << 20 | (bits >> 12 & 0xFF) << 12 |
         rd << 7 | 0x6F;
}

inline Word lui(Word rd, Word upper) { return upper << 12 | rd << 7 | 0x37; }
inline Word auipc(Word rd, Word upper) { return upper << 12 | rd << 7 | 0x17; }
inline Word jalr(Word rd, Word rs1, Immediate offset) { return i(offset, rs1, 0, rd, 0x67); }
inline Word addi(Word rd, Word rs1, Immediate immediate) { return i(immediate, rs1, 0, rd, 0x13); }
inline Word li(Word rd, Immediate immediate) { return addi(rd, zero, immediate); }
inline Word nop() { return addi(zero, zero, 0); }
inline Word add(Word rd, Word rs1, Word rs2) { return r(0, rs2, rs1, 0, rd, 0x33); }
inline Word load(Word funct3, Word rd, Word rs1, Immediate offset) { return i(offset, rs1, funct3, rd, 0x03); }
inline Word lw(Word rd, Word rs1, Immediate offset) { return load(2, rd, rs1, offset); }
inline Word ld(Word rd, Word rs1, Immediate offset) { return load(3, rd, rs1, offset); }
inline Word sw(Word rs2, Word rs1, Immediate offset) { return s(offset, rs2, rs1, 2); }
inline Word sd(Word rs2, Word rs1, Immediate offset) { return s(offset, rs2, rs1, 3); }
/// funct5 of an atomic operation; 2 is LR, 3 SC. A word, or a double word.
inline Word atomic_w(Word funct5, Word rd, Word rs2, Word rs1) { return r(funct5 << 2, rs2, rs1, 2, rd, 0x2F); }
inline Word atomic_d(Word funct5, Word rd, Word rs2, Word rs1) { return r(funct5 << 2, rs2, rs1, 3, rd, 0x2F); }
inline Word csrrw(Word rd, Word csr, Word rs1) { return csr << 20 | rs1 << 15 | 1 << 12 | rd << 7 | 0x73; }
inline Word csrrs(Word rd, Word csr, Word rs1) { return csr << 20 | rs1 << 15 | 2 << 12 | rd << 7 | 0x73; }
inline Word csrrc(Word rd, Word csr, Word rs1) { return csr << 20 | rs1 << 15 | 3 << 12 | rd << 7 | 0x73; }
inline Word csrrwi(Word rd, Word csr, Word value) { return csr << 20 | value << 15 | 5 << 12 | rd << 7 | 0x73; }
inline Word csrrsi(Word rd, Word csr, Word value) { return csr << 20 | value << 15 | 6 << 12 | rd << 7 | 0x73; }
inline Word csrrci(Word rd, Word csr, Word value) { return csr << 20 | value << 15 | 7 << 12 | rd << 7 | 0x73; }
inline Word csrr(Word rd, Word csr) { return csrrs(rd, csr, zero); }
inline Word csrw(Word csr, Word rs1) { return csrrw(zero, csr, rs1); }
inline Word fence_i() { return 0x0000100F; }
inline Word ecall() { return 0x00000073; }
inline Word ebreak() { return 0x00100073; }
inline Word mret() { return 0x30200073; }
inline Word wfi() { return 0x10500073; }
inline Word self() { return jal(zero, 0); }  ///< for ever

}  // namespace t3vp::test::assembler
