#include "hardware/node.h"

#include <fmt/format.h>

namespace t3vp {

Node::Node(const sc_core::sc_module_name& name, const NodeParameters& parameters, const t3_kernel* const* kernels,
           Trace* trace)
    : Node(name, parameters, std::vector<const t3_kernel* const*>(parameters.topology.size(), kernels), trace) {}

Node::Node(const sc_core::sc_module_name& name, const NodeParameters& parameters,
           const std::vector<const t3_kernel* const*>& kernels, Trace* trace)
    : sc_module(name), joints_(parameters.options.check_protocol) {
  for (std::size_t g = 0; g < parameters.topology.size(); ++g) {
    const Placement& placement = parameters.topology[g];
    gpus_.push_back(std::make_unique<Gpu>(fmt::format("gpu{}", placement.gpu).c_str(), parameters.gpus[g], placement,
                                          parameters.options, kernels[g], trace));
  }
  if (parameters.mirrored)
    mirror(parameters, trace);
  else
    connect(parameters, trace);
}

void Node::connect(const NodeParameters& parameters, Trace* trace) {
  std::vector<std::size_t> received(gpus_.size(), 0);
  for (std::size_t g = 0; g < gpus_.size(); ++g) {
    const std::vector<std::uint32_t>& neighbours = parameters.topology[g].neighbours;
    for (std::size_t port = 0; port < neighbours.size(); ++port) {
      const std::uint32_t to = neighbours[port];
      interconnect::Link& link =
          add_link(fmt::format("link_{}_{}", g, to), parameters.links[links_.size()], *gpus_[g], port, to, trace);
      joints_.join(link.out, *gpus_[to]->fabric.ingress[received[to]++]);
    }
  }
}

void Node::mirror(const NodeParameters& parameters, Trace* trace) {
  const Placement& placement = parameters.topology[0];
  interconnect::Link& link = add_link("link", parameters.links[0], *gpus_[0], 0, placement.neighbours[0], trace);
  mirror_ = std::make_unique<interconnect::ChunkMirror>("mirror", *parameters.mirrored, placement.gpus, placement.gpu);
  joints_.join(link.out, mirror_->in);
  joints_.join(mirror_->out, *gpus_[0]->fabric.ingress[0]);
}

/// The sender's error log tells what a link refuses.
interconnect::Link& Node::add_link(const std::string& name, const interconnect::LinkParameters& parameters, Gpu& from,
                                   std::size_t port, std::uint32_t to, Trace* trace) {
  links_.push_back(std::make_unique<interconnect::Link>(name.c_str(), parameters, from.processor.gpu(),
                                                        static_cast<std::uint16_t>(to), trace));
  interconnect::Link& link = *links_.back();
  joints_.join(*from.fabric.egress[port], link.in);
  link.errors.bind(from.error_log.reports);
  return link;
}

std::vector<const Violations*> Node::violations() const {
  std::vector<const Violations*> lists;
  for (const auto& gpu : gpus_) lists.push_back(&gpu->violations());
  lists.push_back(&joints_.violations());
  return lists;
}

}  // namespace t3vp
