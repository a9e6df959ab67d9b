// The interface of a hart to its environment, and its observers.
#pragma once

#include <cstdint>

namespace t3vp::riscv {

class Hart;
struct Instruction;

class Environment {
 public:
  virtual ~Environment() = default;

  /// An aligned access of 1, 2, 4 or 8 bytes that direct memory does not serve. False: there is nothing, or it refuses,
  /// which raises the access fault.
  virtual bool read(std::uint64_t address, unsigned char* data, std::uint32_t bytes) = 0;
  virtual bool write(std::uint64_t address, const unsigned char* data, std::uint32_t bytes) = 0;

  virtual std::uint64_t cycles() = 0;  ///< since the start, for mcycle
  virtual std::uint64_t time() = 0;    ///< of the timer, for the CSR time
  /// Called before mip is read. Updates the hart's interrupt lines to this moment, which the hart may be ahead of.
  virtual void look_at_lines() {}
};

class Observer {
 public:
  virtual ~Observer() = default;
  /// After an instruction that has been retired; registers have what it wrote.
  virtual void retired(const Hart& hart, std::uint64_t pc, const Instruction& instruction) = 0;
  /// An exception of the instruction at `pc`, or an interrupt before it; `cause` and `value` are those of mcause and
  /// mtval.
  virtual void trapped(std::uint64_t pc, std::uint64_t cause, std::uint64_t value) = 0;
};

}  // namespace t3vp::riscv
