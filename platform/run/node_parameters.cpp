#include "run/node_parameters.h"

#include "run/jitter.h"
#include "system/node_of_system.h"

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
  tell_gpus_of_links(configuration.system, configuration.gpus, node);
  node.wire = configuration.system.wire;
  if (const auto& fault = configuration.faults.drop_packets)
    node.wire.loss = {static_cast<std::uint16_t>(fault->gpu), fault->count};
  if (configuration.jitter) apply(*configuration.jitter, node);
  if (configuration.mirror && configuration.gpus > 1) node.mirrored = mirrored_by(configuration);
  node.options = {configuration.functional, configuration.checks};
  return node;
}

}  // namespace t3vp
