#include "run/node_parameters.h"

#include <algorithm>

#include "run/jitter.h"

namespace t3vp {
namespace {

GpuParameters gpu_parameters(const RunConfiguration& configuration, std::uint32_t gpu) {
  const Faults& faults = configuration.faults;
  GpuParameters parameters = parameters_of(configuration.system, gpu);
  if (faults.lose_updates && faults.lose_updates->gpu == gpu)
    parameters.memory.faults.lose_updates = faults.lose_updates->what;
  if (faults.flip_bit && faults.flip_bit->gpu == gpu) parameters.memory.faults.flip_bit = faults.flip_bit->what;
  parameters.memory.faults.wrong_rounding = faults.wrong_rounding == gpu;
  parameters.compute.wrong_rounding = faults.wrong_rounding == gpu;
  return parameters;
}

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
void tell_memories_of_links(const RunConfiguration& configuration, const Fabric& fabric,
                            std::vector<GpuParameters>& gpus) {
  std::vector<double> GBps(configuration.gpus);
  for (const LinkPlacement& link : whole_fabric_of(configuration.system, configuration.gpus).links)
    for (const interconnect::LinkEnd& end : {link.from, link.to})
      if (!end.is_switch) GBps.at(end.number) += link.parameters.bandwidth_GBps;
  for (std::size_t i = 0; i < gpus.size(); ++i) gpus[i].memory.links_GBps = GBps.at(fabric.gpus[i].gpu);
}

Mirrored mirrored_by(const RunConfiguration& configuration) {
  const Topology& topology = configuration.system.topology;
  if (topology.channels_by_distance) return {{}, topology.dimensions};
  return {configuration.workload->mirrored_chunks(configuration), {}};
}

}  // namespace

NodeParameters node_parameters(const RunConfiguration& configuration) {
  NodeParameters node;
  node.fabric = fabric_of(configuration);
  if (const auto& fault = configuration.faults.drop_packet)
    node.fabric.links[fault->link].parameters.drop_packet = fault->packet;
  for (const Placement& placement : node.fabric.gpus) node.gpus.push_back(gpu_parameters(configuration, placement.gpu));
  tell_kernels_of_links(configuration.system, node.gpus);
  tell_memories_of_links(configuration, node.fabric, node.gpus);
  node.wire = configuration.system.wire;
  if (const auto& fault = configuration.faults.drop_packets)
    node.wire.loss = {static_cast<std::uint16_t>(fault->gpu), fault->count};
  if (configuration.jitter) apply(*configuration.jitter, node);
  if (configuration.mirror && configuration.gpus > 1) node.mirrored = mirrored_by(configuration);
  node.options = {configuration.functional, configuration.checks};
  return node;
}

}  // namespace t3vp
