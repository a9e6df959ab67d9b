// Free parameters of the DMA engine. Values and sources: the system file and docs/timing.md.
#pragma once

#include <cstdint>

#include "protocol/picoseconds.h"

namespace t3vp::dma {

struct DmaParameters {
  std::uint32_t commands = 128;            ///< dma_map entries
  Picoseconds latency = 71'400;            ///< trigger to the read request at the DRAM queues
  std::uint32_t bytes_in_flight = 131072;  ///< read but not yet taken by the link
};

}  // namespace t3vp::dma
