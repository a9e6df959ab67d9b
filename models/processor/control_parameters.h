// Free parameters of the control path. A system's: *.parameters.json. Sources: docs/models/timing.md.
#pragma once

#include <cstdint>

#include "processor/core_parameters.h"
#include "processor/processor_parameters.h"

namespace t3vp::processor {

/// A RISC-V core in place of the command processor that runs firmware natively.
struct FirmwareCoreParameters : CoreFileParameters {
  std::uint64_t memory_bytes = 1ull << 30;  ///< taken from the host where it is used
};

struct ProcessorParameters : ProcessorFileParameters {
  Picoseconds quantum = 1'000'000;  ///< how far firmware may run ahead; no result depends on it
  bool on_core = false;             ///< firmware runs on `core`; otherwise natively
  FirmwareCoreParameters core;
};

}  // namespace t3vp::processor
