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
  for (const SwitchPlacement& placement : parameters.switches)
    switches_.push_back(std::make_unique<interconnect::Switch>(fmt::format("switch{}", switches_.size()).c_str(),
                                                               parameters.switch_latency, placement.neighbours.size(),
                                                               placement.route, placement.receivers));
  received_.assign(gpus_.size() + switches_.size(), 0);
  const auto end_of = [this](std::size_t number) {
    return number < gpus_.size() ? interconnect::LinkEnd(static_cast<std::uint16_t>(number))
                                 : interconnect::LinkEnd::of_switch(static_cast<std::uint16_t>(number - gpus_.size()));
  };
  for (std::size_t g = 0; g < gpus_.size(); ++g) {
    const std::vector<std::uint32_t>& neighbours = parameters.topology[g].neighbours;
    for (std::size_t port = 0; port < neighbours.size(); ++port) {
      interconnect::Link& link = add_link(fmt::format("link_{}_{}", g, neighbours[port]),
                                          parameters.links[links_.size()], end_of(g), end_of(neighbours[port]), trace);
      joints_.join(*gpus_[g]->fabric.egress[port], link.in);
      link.errors.bind(gpus_[g]->error_log.reports);  // the sender's log tells what a link refuses
      lead_to(link);
    }
  }
  for (std::size_t s = 0; s < switches_.size(); ++s) {
    const std::vector<std::uint32_t>& neighbours = parameters.switches[s].neighbours;
    for (std::size_t port = 0; port < neighbours.size(); ++port) {
      interconnect::Link& link =
          add_link(fmt::format("link_{}_{}", gpus_.size() + s, neighbours[port]), parameters.links[links_.size()],
                   end_of(gpus_.size() + s), end_of(neighbours[port]), trace);
      joints_.join(*switches_[s]->egress[port], link.in);
      lead_to(link);
    }
  }
}

void Node::mirror(const NodeParameters& parameters, Trace* trace) {
  const Placement& placement = parameters.topology[0];
  interconnect::Link& link =
      add_link("link", parameters.links[0], placement.gpu, static_cast<std::uint16_t>(placement.neighbours[0]), trace);
  joints_.join(*gpus_[0]->fabric.egress[0], link.in);
  link.errors.bind(gpus_[0]->error_log.reports);
  mirror_ = std::make_unique<interconnect::ChunkMirror>("mirror", *parameters.mirrored, placement.gpus, placement.gpu);
  joints_.join(link.out, mirror_->in);
  joints_.join(mirror_->out, *gpus_[0]->fabric.ingress[0]);
}

interconnect::Link& Node::add_link(const std::string& name, const interconnect::LinkParameters& parameters,
                                   const interconnect::LinkEnd& from, const interconnect::LinkEnd& to, Trace* trace) {
  links_.push_back(std::make_unique<interconnect::Link>(name.c_str(), parameters, from, to, trace));
  return *links_.back();
}

/// Ends the link at the next receiver of its end.
void Node::lead_to(interconnect::Link& link) {
  const std::size_t number = link.to().number;
  if (link.to().is_switch)
    joints_.join(link.out, *switches_[number]->ingress[received_[gpus_.size() + number]++]);
  else
    joints_.join(link.out, *gpus_[number]->fabric.ingress[received_[number]++]);
}

std::vector<const Violations*> Node::violations() const {
  std::vector<const Violations*> lists;
  for (const auto& gpu : gpus_) lists.push_back(&gpu->violations());
  lists.push_back(&joints_.violations());
  return lists;
}

}  // namespace t3vp
