// A wave of a workgroup that runs: its program on a fiber, the call that it waits in, and what it has in flight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compute/fenced_memory.h"
#include "compute/fiber.h"
#include "compute/kernel_host.h"
#include "compute/repeated_reads.h"
#include "t3/device.h"

namespace t3vp::compute {

struct Wave : FrontFence, t3_wave {
  /// The wave's loads, stores and updates in flight.
  struct InFlight {
    std::uint32_t loads = 0, stores = 0;  ///< that have not come back; stores and updates that have not been taken
    Picoseconds port_until = 0;           ///< when the most recent store has passed the port
    std::vector<std::uint32_t> stored;    ///< numbers of the accesses that are stores and updates in flight

    std::uint32_t count() const { return loads + stores; }
  };
  /// The poll that it waits in.
  struct Poll {
    Picoseconds sent_at = 0;              ///< when the latest read was sent
    std::uint64_t in_vain = 0, seen = 0;  ///< reads in vain; what the latest has brought
  };
  /// The current span of the program, as it names it.
  struct Part {
    std::string name;  ///< empty: by the plan's name
    Picoseconds since = 0;
    std::uint32_t tile = T3_NO_TILE;
  };

  t3_wave given{};                    ///< the same, as the program has got it
  const t3_kernel* kernel = nullptr;  ///< whose program it runs
  FiberStacks* stacks = nullptr;      ///< where its fiber's is from
  Fiber fiber;
  Slot slot = 0;
  std::uint32_t agent = 0;           ///< its number of the order observer's
  std::size_t place = 0;             ///< among the kernel's: by slot, then by number
  t3_call asked{};                   ///< a copy of the latest call, which the program may overwrite meanwhile
  const t3_call* waiting = nullptr;  ///< the call that has not returned
  bool ends_later = false;           ///< it only ends when somebody says so: work, a signal, a meeting
  InFlight in_flight;
  Poll poll;
  RepeatedReads reads;
  Part part;
};

inline KernelCode code_of(const Wave& wave) {
  return {wave.kernel->name, "its program", wave.given.workgroup, wave.given.wave, &wave.reads.latest()};
}

}  // namespace t3vp::compute
