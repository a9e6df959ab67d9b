#include "run/node_parameters.h"

#include "hardware/topology.h"

namespace t3vp {
namespace {

GpuParameters gpu_parameters(const RunConfiguration& configuration, std::uint32_t gpu) {
  const Faults& faults = configuration.faults;
  GpuParameters parameters = configuration.system;
  if (faults.lose_updates && faults.lose_updates->gpu == gpu)
    parameters.memory.faults.lose_updates = faults.lose_updates->what;
  if (faults.flip_bit && faults.flip_bit->gpu == gpu) parameters.memory.faults.flip_bit = faults.flip_bit->what;
  parameters.memory.faults.wrong_rounding = faults.wrong_rounding == gpu;
  parameters.compute.wrong_rounding = faults.wrong_rounding == gpu;
  return parameters;
}

interconnect::LinkParameters link_parameters(const RunConfiguration& configuration, std::size_t number,
                                             const LinkEnds& ends) {
  const SystemConfiguration& system = configuration.system;
  interconnect::LinkParameters parameters = system.links;
  if (ends.to.is_switch) parameters.receive_buffer_bytes = system.topology.switch_queue_bytes;
  for (const LinkOverride& link : system.overrides) {
    if (!(link.from == ends.from && link.to == ends.to)) continue;
    parameters.bandwidth_GBps = link.bandwidth_GBps.value_or(parameters.bandwidth_GBps);
    parameters.latency = link.latency.value_or(parameters.latency);
    parameters.receive_buffer_bytes = link.receive_buffer_bytes.value_or(parameters.receive_buffer_bytes);
  }
  const auto& fault = configuration.faults.drop_packet;
  if (fault && fault->link == number) parameters.drop_packet = fault->packet;
  return parameters;
}

}  // namespace

NodeParameters node_parameters(const RunConfiguration& configuration) {
  NodeParameters node;
  const bool mirrored = configuration.mirror && configuration.gpus > 1;
  node.topology =
      mirrored ? mirrored_ring(configuration.gpus) : place(configuration.system.topology, configuration.gpus);
  if (!mirrored) node.switches = place_switches(configuration.system.topology, configuration.gpus);
  node.switch_latency = configuration.system.topology.switch_latency;
  for (const Placement& placement : node.topology) node.gpus.push_back(gpu_parameters(configuration, placement.gpu));
  for (const LinkEnds& ends : link_ends(node.topology, node.switches))
    node.links.push_back(link_parameters(configuration, node.links.size(), ends));
  if (mirrored) node.mirrored = output_grid(configuration);
  node.options = {configuration.functional, configuration.check_protocol};
  return node;
}

}  // namespace t3vp
