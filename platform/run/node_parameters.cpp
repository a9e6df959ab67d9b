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

/// `to_switch`: its receive buffer is the switch's queue.
interconnect::LinkParameters link_parameters(const RunConfiguration& configuration, std::size_t link, bool to_switch) {
  interconnect::LinkParameters parameters = configuration.system.links;
  if (to_switch) parameters.receive_buffer_bytes = configuration.system.topology.switch_queue_bytes;
  const auto& fault = configuration.faults.drop_packet;
  if (fault && fault->link == link) parameters.drop_packet = fault->packet;
  return parameters;
}

}  // namespace

NodeParameters node_parameters(const RunConfiguration& configuration) {
  NodeParameters node;
  const bool mirrored = configuration.mirror && configuration.gpus > 1;
  node.topology =
      mirrored ? mirrored_ring(configuration.gpus) : place(configuration.system.topology, configuration.gpus);
  for (const Placement& placement : node.topology) {
    node.gpus.push_back(gpu_parameters(configuration, placement.gpu));
    for (const std::uint32_t neighbour : placement.neighbours)
      node.links.push_back(link_parameters(configuration, node.links.size(), neighbour >= configuration.gpus));
  }
  node.switches = place_switches(configuration.system.topology, configuration.gpus);
  node.switch_latency = configuration.system.topology.switch_latency;
  for (const SwitchPlacement& placement : node.switches)
    for (std::size_t port = 0; port < placement.neighbours.size(); ++port)
      node.links.push_back(link_parameters(configuration, node.links.size(), false));
  if (mirrored) node.mirrored = output_grid(configuration);
  node.options = {configuration.functional, configuration.check_protocol};
  return node;
}

}  // namespace t3vp
