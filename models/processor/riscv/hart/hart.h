// One RV64IMAC hart with Zicsr, Zifencei and machine mode: its registers and how it goes from one instruction to the
// next, in plain C++. The host is little-endian, as the hart is.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "hart/control_registers.h"
#include "hart/direct_memory.h"
#include "hart/environment.h"
#include "hart/instruction.h"

namespace t3vp::riscv {

class Hart {
 public:
  Hart(Environment& environment, std::uint64_t hart_id, std::uint64_t start);
  Hart(const Hart&) = delete;
  Hart& operator=(const Hart&) = delete;

  std::array<std::uint64_t, Instruction::sink + 1> x{};  ///< x[0] is always 0
  std::uint64_t pc;                                      ///< of the next instruction, between runs
  ControlRegisters control;

  /// Takes this number of steps, or fewer when it is asked to pause or sleeps. Each step is an instruction that retires
  /// or raises an exception.
  void run(std::uint64_t steps);
  std::uint64_t steps() const { return steps_; }  ///< without the one in flight
  std::uint64_t retired() const { return steps_ - exceptions_; }

  /// Ends run() when the instruction in flight ends. For the environment.
  void pause();
  /// Returns whether the last run() was asked to pause.
  bool is_paused() const { return paused_; }
  /// Waits for an interrupt (WFI), one that is pending and enabled, whether or not mstatus.MIE has it taken.
  bool sleeps() const { return sleeps_ && (control.mip & control.mie) == 0; }
  /// The trap handler raises an exception with its first instruction, and will for ever, or where it begins to save
  /// registers on a stack that is not there: what it has been called for is lost.
  bool is_lost() const { return lost_; }
  struct Trap {
    std::uint64_t cause, pc;
    std::uint64_t retired;  ///< instructions before it
  };
  /// Returns the trap that the handler of a lost hart was called for before it raised exceptions; nothing when it was
  /// not.
  const std::optional<Trap>& first_trap() const { return first_trap_; }
  /// The lines of this moment, a bit of mip each.
  void set_interrupts(std::uint64_t pending) { control.mip = pending & all_interrupts; }
  /// Goes on with the handler if there is one to be taken, as run() does; between runs, for who looks at each
  /// instruction.
  void take_interrupt();
  /// No interrupt is taken, though it is pending: for a debugger that steps.
  void hold_interrupts(bool hold) { holds_interrupts_ = hold; }
  /// Sleeps no more, without an interrupt: for a debugger that goes on elsewhere.
  void wake() { sleeps_ = false; }

  DirectMemory& direct_memory() { return direct_memory_; }
  /// Discards decoded instructions, so that they are fetched again. For fence.i, and for software that changes code or
  /// direct memory without the hart.
  void forget_instructions();
  /// Returns the instruction as it was decoded last; null when it is not in the cache. For an address in direct memory
  /// it may be outdated only if memory has changed without a notification to the hart.
  const Instruction* decoded(std::uint64_t address) const;
  /// Sets the observer; null means none. To be set between runs.
  void set_observer(Observer* observer) { observer_ = observer; }

  // For instructions.
  Environment& environment() { return environment_; }
  /// False: the access fault has to be raised.
  template <typename T>
  bool load(std::uint64_t address, T& value) {
    const unsigned char* const data = direct_memory_.readable(address, sizeof value);
    if (data == nullptr) return load_elsewhere(address, reinterpret_cast<unsigned char*>(&value), sizeof value);
    std::memcpy(&value, data, sizeof value);
    return true;
  }
  template <typename T>
  bool store(std::uint64_t address, T value) {
    unsigned char* const data = direct_memory_.writable(address, sizeof value);
    if (data == nullptr) return store_elsewhere(address, reinterpret_cast<const unsigned char*>(&value), sizeof value);
    std::memcpy(data, &value, sizeof value);
    return true;
  }
  /// An exception of the instruction at `at`, which thereby does not retire. Returns where the handler begins.
  std::uint64_t raise(Cause cause, std::uint64_t at, std::uint64_t value);
  /// mret: returns where the hart goes on.
  std::uint64_t return_from_trap();
  void sleep();
  /// Interrupts may have become enabled: they are looked at before the next instruction.
  void look_at_interrupts() { limit_ = steps_ + 1; }

  /// The value that the last LR has loaded. SC succeeds when memory still holds it.
  struct Reservation {
    std::uint32_t bytes = 0;  ///< 0: none
    std::uint64_t address = 0, value = 0;
  };
  Reservation reservation;

 private:
  template <bool observed>
  void execute();
  const Instruction& instruction_at(std::uint64_t address);
  const Instruction& fetch(std::uint64_t address);
  bool fetch_parcel(std::uint64_t address, std::uint32_t& parcel, bool& is_direct);
  bool load_elsewhere(std::uint64_t address, unsigned char* data, std::uint32_t bytes);
  bool store_elsewhere(std::uint64_t address, const unsigned char* data, std::uint32_t bytes);
  std::uint64_t enter_trap(std::uint64_t cause, std::uint64_t at, std::uint64_t value);
  bool is_begin_of_handler(Cause cause, std::uint64_t at, std::uint64_t value) const;
  void look_at_handler(Cause cause, std::uint64_t at);
  std::uint64_t handler() const { return control.mtvec & ~std::uint64_t{3}; }

  static constexpr std::size_t cached_instructions = 1 << 13;

  Environment& environment_;
  Observer* observer_ = nullptr;
  DirectMemory direct_memory_;
  std::vector<Instruction> cache_;  ///< an instruction's index follows from its address
  Instruction uncached_;
  std::uint64_t steps_ = 0, limit_ = 0, exceptions_ = 0;
  std::optional<Trap> last_trap_, first_trap_;
  bool paused_ = false, sleeps_ = false, lost_ = false, holds_interrupts_ = false;
};

}  // namespace t3vp::riscv
