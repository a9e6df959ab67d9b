// Free parameters of the output map. Values and sources: the system file and docs/timing.md.
#pragma once

#include <cstdint>

namespace t3vp::output_map {

struct OutputMapParameters {
  std::uint32_t entries = 128;
  std::uint32_t posted_bytes = 16u << 20;  ///< mapped stores that may wait for the link without their workgroup
};

}  // namespace t3vp::output_map
