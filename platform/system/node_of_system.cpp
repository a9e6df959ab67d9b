#include "system/node_of_system.h"

#include <algorithm>

namespace t3vp {
namespace {

/// From a signal to the store behind it a workgroup takes the time of a step and a load's latency.
double hand_on_ns(const GpuParameters& gpu) {
  return gpu.kernels.ring.step_ns + static_cast<double>(gpu.cache.latency + gpu.memory.path_latency) / 1000;
}

/// A load goes to the switch, to all GPUs and back, and its store to the switch and to all GPUs.
double by_switch_ns(const SystemConfiguration& system, const GpuParameters& gpu) {
  const Picoseconds there = 2 * system.links.latency + system.topology.switch_latency;
  return static_cast<double>(3 * there + gpu.cache.latency + gpu.memory.path_latency) / 1000;
}

/// All GPUs cut a transfer in the same way, for the slowest of them.
void tell_kernels_of_links(const SystemConfiguration& system, std::vector<GpuParameters>& gpus) {
  double slowest = 0, by_switch = 0;
  for (const GpuParameters& gpu : gpus) {
    slowest = std::max(slowest, hand_on_ns(gpu));
    by_switch = std::max(by_switch, by_switch_ns(system, gpu));
  }
  for (GpuParameters& gpu : gpus) {
    gpu.compute.link_GBps = system.links.bandwidth_GBps;
    gpu.compute.hand_on_ns = slowest;
    gpu.compute.by_switch_ns = by_switch;
  }
}

/// What the links of each GPU bring and take, those too that a GPU which stands for all does not have.
void tell_memories_of_links(const SystemConfiguration& system, std::uint32_t all_gpus, const Fabric& fabric,
                            std::vector<GpuParameters>& gpus) {
  std::vector<double> GBps(all_gpus);
  for (const LinkPlacement& link : whole_fabric_of(system, all_gpus).links)
    for (const interconnect::LinkEnd& end : {link.from, link.to})
      if (!end.is_switch) GBps.at(end.number) += link.parameters.bandwidth_GBps;
  for (std::size_t i = 0; i < gpus.size(); ++i) gpus[i].memory.links_GBps = GBps.at(fabric.gpus[i].gpu);
}

}  // namespace

void tell_gpus_of_links(const SystemConfiguration& system, std::uint32_t gpus, NodeParameters& node) {
  tell_kernels_of_links(system, node.gpus);
  tell_memories_of_links(system, gpus, node.fabric, node.gpus);
}

NodeParameters node_of(const SystemConfiguration& system, std::uint32_t gpus) {
  NodeParameters node;
  node.fabric = whole_fabric_of(system, gpus);
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) node.gpus.push_back(parameters_of(system, gpu));
  tell_gpus_of_links(system, gpus, node);
  node.wire = system.wire;
  return node;
}

}  // namespace t3vp
