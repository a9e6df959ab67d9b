// A decoded instruction: what the decode cache holds.
#pragma once

#include <cstdint>

namespace t3vp::riscv {

class Hart;
struct Instruction;

/// Does what the instruction at `pc` says and returns where the hart goes on.
using Handler = std::uint64_t (*)(Hart& hart, const Instruction& instruction, std::uint64_t pc);

struct Instruction {
  static constexpr std::uint64_t nowhere = 1;  ///< no instruction has an odd address
  /// Writes to x0 go to this register, so that no handler has to check for it.
  static constexpr std::uint8_t sink = 32;

  std::uint64_t pc = nowhere;
  Handler execute = nullptr;
  std::int32_t immediate = 0;  ///< of an access to a CSR its number
  std::uint8_t rd = sink, rs1 = 0, rs2 = 0;
  std::uint8_t length = 4;  ///< bytes
  std::uint32_t word = 0;   ///< as fetched, of a compressed one 16 bits
};

constexpr bool is_compressed(std::uint32_t word) { return (word & 3) != 3; }

/// Decodes a word. Every word has an instruction; that of a word without a meaning raises the exception.
Instruction decode(std::uint32_t word);

/// The mnemonic; of a compressed one that of the instruction that it stands for. "illegal" if there is none.
const char* name_of(std::uint32_t word);

/// The 32-bit instruction that a compressed one stands for; 0, which is illegal, if there is none.
std::uint32_t expand(std::uint32_t compressed);

}  // namespace t3vp::riscv
