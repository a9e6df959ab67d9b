// The name of an address's GPU in messages.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/address_map.h"

namespace t3vp {

/// "GPU 3", or "all GPUs" of a switch that reduces.
inline std::string gpu_name(std::uint64_t gpu) {
  return gpu == address_map::all_gpus ? "all GPUs" : "GPU " + std::to_string(gpu);
}

}  // namespace t3vp
