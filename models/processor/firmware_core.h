// A RISC-V core in place of the command processor. It executes the firmware in a memory of its own.
//
// Its address space is the node's. A part of it that no GPU uses holds the core's memory, timer, UART and host services
// (models/gpu.json, core_space). Accesses to the node behave as the native command processor's: writes to the GPU's own
// registers run ahead of simulated time within the quantum, all others are made at their own time. The GPU's interrupt
// is the core's external one. The first page of the node, where a null pointer leads, is refused as by physical memory
// protection. Software reaches that page at another address (core_first_page).
//
// Host services are functions that silicon does not have, such as firmware's entries in a report. Firmware requests one
// by a doorbell, which takes the address of a call in the core's memory (host_call.structure.json). The platform serves
// the call at that time. It takes no simulated time, unless the call's purpose is to wait.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

#include "processor/control_parameters.h"
#include "processor/core_memory.h"
#include "processor/core_timer.h"
#include "processor/processor.h"
#include "riscv/core.h"

namespace t3vp::processor {

class FirmwareCore : public Processor {
 public:
  FirmwareCore(const sc_core::sc_module_name& name, std::uint16_t gpu, const ProcessorParameters& parameters,
               Trace* trace = nullptr);
  ~FirmwareCore() override;

  static constexpr std::uint64_t first_page_bytes = 4096;

  riscv::Core core;

  /// Sets the address at which the core starts. To be called before the start of simulation. Without it the core does
  /// nothing.
  void run(std::uint64_t entry) { entry_ = entry; }
  /// Called at a ring of the doorbell, with what has been written there. It may wait.
  void on_call(std::function<void(std::uint64_t address)> callback) { on_call_ = std::move(callback); }

  /// Sets the function that returns the text for an address in the program: the name of its function. Without it,
  /// messages give the address alone.
  void name_places(std::function<std::string(std::uint64_t address)> callback) { name_of_place_ = std::move(callback); }
  std::string place(std::uint64_t address) const;

  CoreMemory& memory() { return memory_; }
  /// Calls of the host, so far.
  std::uint64_t calls() const { return calls_; }
  /// Bytes that the UART has been given, so far.
  std::uint64_t printed() const { return printed_; }
  std::vector<std::string> diagnosis() const override;
  void visit_statistics(const StatisticVisitor& visit) const override;

  // For host services, while a call lasts.

  /// The program has ended; `locks`: calls of lock() without an unlock().
  void end(Status status, std::uint32_t locks);
  /// The program cannot go on.
  void crash(const std::string& text);
  /// Returns the status of the last access that was refused.
  Status refusal() const { return refusal_; }
  /// The program waits for an interrupt from now on; what it waits for in words, and until when.
  void begin_wait(const std::string& reason, std::uint64_t deadline_ns);
  using Processor::is_given_up;
  void end_wait();
  /// It waits, and nothing will end that.
  void sleep_for_ever(const std::string& reason) { waits_for_ = reason; }
  /// It is about to call what takes interrupts, and is back.
  /// False: it is not up any more, and nothing is called.
  bool begin_interrupt();
  void end_interrupt(std::uint32_t locks);
  Status exchange(const char* name, const void* mine, std::uint64_t bytes, void* all, std::uint64_t deadline_ns);

 private:
  Picoseconds local_now() const override { return now(); }  // all calls are made at their own time
  void synchronize() override {}
  void transport(tlm::tlm_generic_payload& access, sc_core::sc_time& delay);
  void access_node(tlm::tlm_generic_payload& access, sc_core::sc_time& delay);
  void access_first_page(tlm::tlm_generic_payload& access, sc_core::sc_time& delay);
  void send(tlm::tlm_generic_payload& access);
  void ring(tlm::tlm_generic_payload& access, sc_core::sc_time& delay);
  bool give_directly(tlm::tlm_generic_payload& access, tlm::tlm_dmi& dmi);
  unsigned look(tlm::tlm_generic_payload& access);
  void end_line();
  void wake();
  void start_of_simulation() override;

  CoreMemory memory_;
  CoreTimer timer_;
  tlm_utils::simple_target_socket<FirmwareCore, 64> from_core_{"from_core"};
  sc_core::sc_signal<bool> timer_interrupt_{"timer_interrupt"}, software_interrupt_{"software_interrupt"};
  std::optional<std::uint64_t> entry_;
  std::function<void(std::uint64_t)> on_call_;
  std::function<std::string(std::uint64_t)> name_of_place_;
  std::uint64_t calls_ = 0, printed_ = 0;
  std::string line_;  ///< that the UART has not sent yet
  Status refusal_ = Status::ok;
  bool was_raised_ = false;       ///< the interrupt, when the wait began
  std::uint32_t interrupts_ = 0;  ///< that are being taken, one within the other
};

}  // namespace t3vp::processor
