// Small GPUs with links, NICs and endpoint engines, for what may do anything to them: a reset of many lines and compute
// units would take most of the time.
#pragma once

#include <cstdint>

#include "node/node.h"
#include "system/topology.h"

namespace t3vp::test {

inline constexpr std::uint64_t small_memory_bytes = std::uint64_t{16} << 20;

inline NodeParameters small_gpus(std::uint32_t gpus) {
  NodeParameters parameters;
  parameters.fabric = lay_out(LinkTier(), gpus);
  parameters.gpus.resize(gpus);
  parameters.options = {true, true};
  for (GpuParameters& gpu : parameters.gpus) {
    gpu.compute.compute_units = 2;
    gpu.compute.launch_latency = 100'000;
    gpu.cache.capacity_bytes = std::uint64_t{128} << 10;
    gpu.cache.banks = 4;
    gpu.memory.channels = 4;
    gpu.memory.capacity_bytes = small_memory_bytes;
    gpu.processor.quantum = 0;
    gpu.nic = nic::NicParameters();
    gpu.endpoint = endpoint::EndpointParameters();
  }
  return parameters;
}

}  // namespace t3vp::test
