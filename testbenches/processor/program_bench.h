// A command processor whose program is the test itself: it accesses whatever is bound to its socket.
#pragma once

#include <catch2/catch.hpp>

#include "data_path/checked_sockets.h"
#include "processor/command_processor.h"

namespace t3vp::processor {

struct ProgramBench {
  sc_core::sc_signal<bool> interrupt{"interrupt_line"};
  CommandProcessor processor;
  CheckedSockets checks;

  explicit ProgramBench(std::uint16_t gpu = 0, const ProcessorParameters& parameters = {})
      : processor("processor", gpu, parameters) {
    processor.interrupt.bind(interrupt);
  }

  void run(const std::function<void(CommandProcessor&)>& program) {
    processor.run([program](CommandProcessor& p) {
      program(p);
      return Status::ok;
    });
    sc_core::sc_start();
    REQUIRE(processor.finished());
  }
};

inline std::uint64_t read32(CommandProcessor& p, std::uint64_t address) {
  std::uint32_t value = 0;
  REQUIRE(p.read32(address, value) == Status::ok);
  return value;
}

inline std::uint64_t read64(CommandProcessor& p, std::uint64_t address) {
  std::uint64_t value = 0;
  REQUIRE(p.read64(address, value) == Status::ok);
  return value;
}

/// Lets signals and the methods behind them settle.
inline void settle(CommandProcessor& p) { p.wait_ns(5); }

}  // namespace t3vp::processor
