// Free parameters of the control path. Values and sources: the system file and docs/timing.md.
#pragma once

#include <cstdint>

#include "protocol/picoseconds.h"

namespace t3vp::processor {

/// A RISC-V core in place of the command processor that runs firmware natively.
struct FirmwareCoreParameters {
  Picoseconds clock_period = 1'000;         ///< of an instruction
  std::uint64_t memory_bytes = 1ull << 30;  ///< taken from the host where it is used
};

struct ProcessorParameters {
  Picoseconds register_access = 100'000;  ///< command processor to a register, or to the fabric
  std::uint32_t error_log_entries = 64;
  Picoseconds exchange = 50'000'000;  ///< an all-gather of the hosts, from the last that comes to its end
  Picoseconds quantum = 1'000'000;    ///< how far firmware may run ahead; no result depends on it
  bool on_core = false;               ///< firmware runs on `core`; otherwise natively
  FirmwareCoreParameters core;
};

}  // namespace t3vp::processor
