// A core's registers at its latest exception, for a debugger: when nobody handles the trap, they are shown as they
// were.
#pragma once

#include <cstdint>
#include <optional>

#include "hart/hart.h"

namespace t3vp {

class TrapSnapshot {
 public:
  /// Before an instruction.
  void before(const riscv::Hart& hart) { exceptions_ = exceptions_of(hart); }
  /// After it. An exception of the trap handler's own beginning does not replace the one that it was called for.
  void after(const riscv::Hart& hart);

  bool is_empty() const { return !at_; }
  /// Exchanges the hart's registers and pc with those of the exception. A second call restores them.
  void exchange(riscv::Hart& hart);
  /// Returns the number of the signal by which a Unix kernel would report the exception.
  unsigned signal() const;

 private:
  struct Registers {
    decltype(riscv::Hart::x) x;
    decltype(riscv::Hart::control) control;
    std::uint64_t pc;
  };
  static std::uint64_t exceptions_of(const riscv::Hart& hart) { return hart.steps() - hart.retired(); }

  std::uint64_t exceptions_ = 0;  ///< of the hart so far
  std::optional<Registers> at_;
};

}  // namespace t3vp
