// Free parameters of the control path. Values and sources: the system file and docs/timing.md.
#pragma once

#include <cstdint>

#include "protocol/picoseconds.h"

namespace t3vp::processor {

struct ProcessorParameters {
  Picoseconds register_access = 100'000;  ///< command processor to a register, or to the fabric
  std::uint32_t error_log_entries = 64;
  Picoseconds exchange = 50'000'000;  ///< an all-gather of the hosts, from the last that comes to its end
  Picoseconds quantum = 1'000'000;    ///< how far firmware may run ahead; no result depends on it
};

}  // namespace t3vp::processor
