// A RISC-V core's timer and software interrupt, as a CLINT of one hart has them (SiFive FU540-C000, chapter 9): mtime
// counts nanoseconds of simulated time.
#pragma once

#include <cstdint>
#include <systemc>
#include <tlm>

#include "protocol/units.h"

namespace t3vp::processor {

class CoreTimer : public sc_core::sc_module {
 public:
  static constexpr std::uint64_t msip = 0, mtimecmp = 0x4000, mtime = 0xBFF8;  ///< offsets
  static constexpr std::uint64_t window_bytes = 0xC000;

  sc_core::sc_out<bool> timer_interrupt{"timer_interrupt"};        ///< mtime has reached mtimecmp
  sc_core::sc_out<bool> software_interrupt{"software_interrupt"};  ///< msip is set, or raise() has been called
  /// A write to a register takes `write_time`: a cycle of the core.
  CoreTimer(const sc_core::sc_module_name& name, Picoseconds write_time);

  /// An access of a whole register, or of an aligned half of one of 64 bits, in a thread. Behind the time of a
  /// write the lines are as it wants them.
  void transport(std::uint64_t offset, tlm::tlm_generic_payload& access, sc_core::sc_time& delay);
  /// A read by a debugger. False: there is no such register.
  bool look(std::uint64_t offset, tlm::tlm_generic_payload& access);

  /// Raises the software interrupt, which lasts until lower(). Not by software.
  void raise();
  void lower();

 private:
  /// The part of a register's value that an access covers.
  struct Place {
    std::uint64_t* value = nullptr;
    std::uint64_t offset = 0;
  };
  Place place(std::uint64_t offset, std::uint64_t bytes);
  void drive();

  std::uint64_t msip_ = 0, mtimecmp_ = ~std::uint64_t{0}, mtime_ = 0;  ///< mtime_: of the access in flight
  const Picoseconds write_time_;
  bool raised_ = false;
  sc_core::sc_event changed_;
};

}  // namespace t3vp::processor
