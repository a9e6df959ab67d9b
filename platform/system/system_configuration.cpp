#include "system/system_configuration.h"

namespace t3vp {

const GpuParameters& parameters_of(const SystemConfiguration& system, std::uint32_t gpu) {
  for (const OtherGpu& other : system.other_gpus)
    if (other.gpu == gpu) return other.parameters;
  return system;
}

bool is_of(const LinkOverride& o, const LinkPlacement& link) { return link.from == o.from && link.to == o.to; }

Fabric whole_fabric_of(const SystemConfiguration& system, std::uint32_t gpus) {
  Fabric fabric = lay_out({system.links, system.topology}, gpus);
  for (LinkPlacement& link : fabric.links)
    for (const LinkOverride& o : system.overrides) {
      if (!is_of(o, link)) continue;
      link.parameters.bandwidth_GBps = o.bandwidth_GBps.value_or(link.parameters.bandwidth_GBps);
      link.parameters.latency = o.latency.value_or(link.parameters.latency);
      link.parameters.receive_buffer_bytes = o.receive_buffer_bytes.value_or(link.parameters.receive_buffer_bytes);
    }
  return fabric;
}

Fabric fabric_of(const SystemConfiguration& system, std::uint32_t gpus, bool mirror) {
  if (!mirror || gpus == 1) return whole_fabric_of(system, gpus);
  if (system.topology.channels_by_distance) return mirrored_torus(whole_fabric_of(system, gpus));
  return mirrored_ring(system.links, gpus);
}

}  // namespace t3vp
