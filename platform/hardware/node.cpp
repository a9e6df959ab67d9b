#include "hardware/node.h"

#include <fmt/format.h>

#include <algorithm>

namespace t3vp {
namespace {

/// The GPUs next to one of a ring, the previous one first; none for one GPU, one for two.
std::vector<std::uint32_t> ring_neighbours(std::uint32_t gpu, std::uint32_t gpus) {
  const std::uint32_t previous = (gpu + gpus - 1) % gpus, next = (gpu + 1) % gpus;
  if (gpus == 1) return {};
  if (gpus == 2) return {previous};
  return {previous, next};
}

/// The port on the shorter way to each GPU, the previous neighbour's when both are as long.
std::vector<std::uint32_t> ring_route(std::uint32_t gpu, std::uint32_t gpus) {
  std::vector<std::uint32_t> route(gpus, FabricPort::no_route);
  for (std::uint32_t to = 0; to < gpus; ++to) {
    if (to == gpu) continue;
    const std::uint32_t backward = (gpu + gpus - to) % gpus;
    route[to] = backward <= gpus - backward ? 0 : 1;
  }
  return route;
}

LinkParameters parameters_of(const RunConfiguration& configuration, std::size_t link) {
  LinkParameters parameters = configuration.system.links;
  const auto& fault = configuration.faults.drop_packet;
  if (fault && fault->link == link) parameters.drop_packet = fault->packet;
  return parameters;
}

}  // namespace

Node::Node(const sc_core::sc_module_name& name, const RunConfiguration& configuration, Trace* trace)
    : sc_module(name), joints_(configuration.check_protocol) {
  if (configuration.mirror && configuration.gpus > 1)
    make_mirror(configuration, trace);
  else
    make_ring(configuration, trace);
}

void Node::make_ring(const RunConfiguration& configuration, Trace* trace) {
  const std::uint32_t gpus = configuration.gpus;
  for (std::uint32_t g = 0; g < gpus; ++g) {
    Placement placement;
    placement.gpu = static_cast<std::uint16_t>(g);
    placement.gpus = gpus;
    placement.neighbours = ring_neighbours(g, gpus);
    placement.route = ring_route(g, gpus);
    placement.receivers = static_cast<std::uint32_t>(placement.neighbours.size());
    gpus_.push_back(std::make_unique<Gpu>(fmt::format("gpu{}", g).c_str(), configuration, placement, trace));
  }
  std::vector<std::size_t> received(gpus, 0);
  for (std::uint32_t g = 0; g < gpus; ++g) {
    const std::vector<std::uint32_t> neighbours = ring_neighbours(g, gpus);
    for (std::size_t port = 0; port < neighbours.size(); ++port) {
      const std::uint32_t to = neighbours[port];
      links_.push_back(std::make_unique<Link>(fmt::format("link_{}_{}", g, to).c_str(),
                                              parameters_of(configuration, links_.size()),
                                              static_cast<std::uint16_t>(g), static_cast<std::uint16_t>(to), trace));
      join(*gpus_[g], port, *links_.back());
      joints_.join(links_.back()->out, *gpus_[to]->fabric.ingress[received[to]++]);
    }
  }
}

void Node::make_mirror(const RunConfiguration& configuration, Trace* trace) {
  Placement placement;
  placement.gpus = configuration.gpus;
  placement.neighbours = {configuration.gpus - 1};
  placement.route.assign(configuration.gpus, 0);
  placement.route[0] = FabricPort::no_route;
  placement.receivers = 1;
  gpus_.push_back(std::make_unique<Gpu>("gpu0", configuration, placement, trace));
  links_.push_back(std::make_unique<Link>("link", parameters_of(configuration, 0), std::uint16_t{0},
                                          static_cast<std::uint16_t>(configuration.gpus - 1), trace));
  mirror_ = std::make_unique<ChunkMirror>("mirror", output_grid(configuration), configuration.gpus, std::uint16_t{0});
  join(*gpus_[0], 0, *links_[0]);
  joints_.join(links_[0]->out, mirror_->in);
  joints_.join(mirror_->out, *gpus_[0]->fabric.ingress[0]);
}

/// The sender's error log tells what a link refuses.
void Node::join(Gpu& sender, std::size_t port, Link& link) {
  joints_.join(*sender.fabric.egress[port], link.in);
  link.errors.bind(sender.error_log.reports);
}

std::vector<const Violations*> Node::violations() const {
  std::vector<const Violations*> lists;
  for (const auto& gpu : gpus_) lists.push_back(&gpu->violations());
  lists.push_back(&joints_.violations());
  return lists;
}

}  // namespace t3vp
