// The table of a switch that adds updates of several GPUs to the same bytes on their way.
#pragma once

#include <cstdint>

#include "protocol/picoseconds.h"

namespace t3vp::interconnect {

struct Merging {
  std::uint64_t bytes = 0;  ///< of sums in the table
  Picoseconds timeout = 0;  ///< after a sum's first update, when it leaves without the others
  double GBps = 0;          ///< of updates that the adders of a port take; 0: as fast as they arrive

  bool works() const { return bytes != 0 && timeout != 0; }
};

}  // namespace t3vp::interconnect
