// The GPU's command processor, which runs firmware natively. A program is a function on the simulating machine that
// does everything through this class, so that all its time is simulated time.
//
// Loosely timed. Only writes to the GPU's own registers run ahead of simulated time, as far as the quantum allows. No
// other block sees them before the command that follows, and registers that act on a write synchronize. Reads, memory
// and other GPUs are accessed at their own time, so no result of a program depends on the quantum.
//
// A program can enable interrupts. The processor then checks the line after each access, while time passes and when
// interrupts are enabled again, always at the program's own time. It calls the program's entry on its stack for as long
// as the line is raised.
#pragma once

#include <systemc>
#include <tlm>
// The quantum keeper needs SystemC to be included before it.
#include <tlm_utils/tlm_quantumkeeper.h>

#include <cstdint>
#include <functional>
#include <string>

#include "processor/control_parameters.h"
#include "processor/processor.h"
#include "protocol/float_environment.h"

namespace t3vp::processor {

class CommandProcessor : public Processor {
 public:
  using Program = std::function<Status(CommandProcessor&)>;

  /// The program's stack. The page below is inaccessible, so that an overflow is no silent corruption.
  static constexpr std::size_t stack_bytes = 256 << 10;

  CommandProcessor(const sc_core::sc_module_name& name, std::uint16_t gpu, const ProcessorParameters& parameters,
                   Trace* trace = nullptr);
  ~CommandProcessor() override;

  /// Sets the program that runs from the start of simulation on. To be called before the start.
  void run(Program program) { program_ = std::move(program); }
  /// Called when control passes to the program (true) and from it (false): the host computes what it does in between,
  /// and nothing else can happen.
  void on_control(std::function<void(bool program)> callback) { on_control_ = std::move(callback); }
  /// For what stands between a program and this class, such as its HAL. What the program has made of the host's floats
  /// is the program's alone.
  void tell_control(bool program) {
    if (!program) restore_floats();
    if (!program && has_left_entry(__builtin_frame_address(0))) tell_left_entry();
    if (on_control_) on_control_(program);
  }

  /// Returns the end of the program's own stack, above all its frames; 0 before it runs.
  std::uintptr_t stack_end() const { return stack_end_; }

  // For programs, from here on. A failed access is a status, never an exception.
  Status read32(std::uint64_t address, std::uint32_t& value);
  Status read64(std::uint64_t address, std::uint64_t& value);
  Status write32(std::uint64_t address, std::uint32_t value);
  Status write64(std::uint64_t address, std::uint64_t value);
  Status read_memory(std::uint64_t address, void* data, std::uint32_t bytes);
  Status write_memory(std::uint64_t address, const void* data, std::uint32_t bytes);

  /// The program's own time, which may be ahead of the simulation's.
  std::uint64_t time_ns() const { return local_now() / 1000; }
  /// Returns at once while the interrupt is raised; Status::timeout when time_ns() reaches the deadline first,
  /// Status::stuck by give_up_waiting(). The reason is no string object: one would not be destroyed on the stack of a
  /// program that waits for ever.
  Status wait_for_interrupt(const char* reason, std::uint64_t deadline_ns = forever);
  /// An all-gather with the programs of all GPUs, which come to the same ones in the same order. `all` has room for the
  /// bytes of each. Status::mismatch when they differ in name or bytes, which is a mistake of each; Status::timeout and
  /// Status::stuck as of other waits: the next call goes on with the same one. Status::no_peer without a network.
  Status exchange(const char* name, const void* mine, std::uint64_t bytes, void* all, std::uint64_t deadline_ns);
  using InterruptEntry = void (*)(void* argument);
  /// Sets the interrupt entry; null: none. Interrupts are held off until it returns, as by lock().
  void take_interrupts(InterruptEntry entry, void* argument);
  /// Holds interrupts off until unlock() has been called as often. Other numbers, in the program as a whole or in what
  /// takes an interrupt, are mistakes; behind an interrupt its own are forgotten.
  void lock() { ++locks_; }
  void unlock();
  /// Memory writes before it take effect before everything after it. Those of this processor do anyway; it only sees to
  /// it that the program does not rely on that: a doorbell and writes to other GPUs' registers are refused in between.
  void order_writes() { unordered_writes_ = false; }

  /// A wait beyond the last point in simulated time never returns.
  void wait_ns(std::uint64_t ns);

 private:
  /// Keeps to the processor's own quantum, so that processors with different ones can live in one simulation.
  class Keeper : public tlm_utils::tlm_quantumkeeper {
   public:
    explicit Keeper(Picoseconds quantum) : quantum_(quantum) {}

   protected:
    sc_core::sc_time compute_local_quantum() override {
      return quantum_ == 0 ? sc_core::SC_ZERO_TIME : to_sc_time(quantum_ - now() % quantum_);
    }

   private:
    Picoseconds quantum_;
  };

  void main();
  Status write_register(std::uint64_t address, std::uint64_t value, unsigned char* data, std::uint32_t bytes);
  bool announces(std::uint64_t address) const;
  bool is_interrupted();
  void serve_interrupts() override;
  void enter(const void* frame);
  bool has_left_entry(const void* frame) const;
  void tell_left_entry();
  Status access(tlm::tlm_command command, std::uint64_t address, unsigned char* data, std::uint32_t bytes);
  Picoseconds local_now() const override;
  void synchronize() override { keeper_.sync(); }

  Keeper keeper_;
  const Picoseconds interrupt_entry_;
  Program program_;
  /// The transaction of the access in flight. None is on the stack of a program, where its destructor would not run
  /// when the program never returns.
  tlm::tlm_generic_payload transaction_;
  std::function<void(bool)> on_control_;
  InterruptEntry entry_ = nullptr;
  void* entry_argument_ = nullptr;
  std::uint32_t locks_ = 0;
  const void* entry_frame_ = nullptr;  ///< from which the entry has been called; null while it does not run
  bool unordered_writes_ = false;      ///< memory has been written since order_writes()
  std::uintptr_t stack_end_ = 0;
};

}  // namespace t3vp::processor
