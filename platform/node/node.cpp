#include "node/node.h"

#include <fmt/format.h>

#include <algorithm>

#include "node/node_checks.h"

namespace t3vp {

Node::Node(const sc_core::sc_module_name& name, const NodeParameters& parameters, const t3_kernel* const* kernels,
           Trace* trace)
    : Node(name, parameters, std::vector<const t3_kernel* const*>(parameters.fabric.gpus.size(), kernels), trace) {}

Node::Node(const sc_core::sc_module_name& name, const NodeParameters& parameters,
           const std::vector<const t3_kernel* const*>& kernels, Trace* trace)
    : sc_module(name), probes_(parameters.options.has_checkers(), !parameters.options.checks.protocol) {
  check_node(ParameterCheck(this->name()), parameters, kernels.size());
  if (parameters.options.checks.races && parameters.options.functional)
    races_ = std::make_unique<races::RaceDetector>(static_cast<std::uint32_t>(parameters.fabric.gpus.size()));
  for (std::size_t g = 0; g < parameters.fabric.gpus.size(); ++g) {
    const Placement& placement = parameters.fabric.gpus[g];
    gpus_.push_back(std::make_unique<Gpu>(fmt::format("gpu{}", placement.gpu).c_str(), parameters.gpus[g], placement,
                                          parameters.options, kernels[g], trace, races_.get()));
  }
  if (!parameters.mirrored)
    connect(parameters, trace);
  else if (parameters.mirrored->torus.empty())
    mirror_ring(parameters, trace);
  else
    mirror_torus(parameters, trace);
  join_nics(parameters);
  hosts_ = std::make_unique<processor::HostNetwork>("hosts", gpus_.size(), parameters.gpus[0].processor.exchange);
  for (const auto& gpu : gpus_) gpu->processor.join(*hosts_);
}

Node::~Node() = default;

void Node::connect(const NodeParameters& parameters, Trace* trace) {
  for (const SwitchPlacement& placement : parameters.fabric.switches) {
    switches_.push_back(std::make_unique<interconnect::Switch>(
        fmt::format("switch{}", switches_.size()).c_str(), placement.latency, placement.neighbours, placement.route,
        placement.receivers, placement.reduces, placement.merging));
    switches_.back()->tell_order_to(races_.get());
  }
  std::vector<std::size_t> sent(gpus_.size() + switches_.size(), 0);  // links so far of each GPU, then of each switch
  const auto place_of = [this](const interconnect::LinkEnd& end) {
    return end.number + (end.is_switch ? gpus_.size() : 0);
  };
  for (const LinkPlacement& ends : parameters.fabric.links) {
    const std::size_t from = place_of(ends.from), port = sent[from]++;
    interconnect::Link& link = add_link(fmt::format("link_{}_{}", from, place_of(ends.to)), ends, trace);
    if (ends.from.is_switch) {
      probes_.join(*switches_[ends.from.number]->egress[port], link.in);
    } else {
      probes_.join(*gpus_[from]->fabric.egress[port], link.in);
      link.errors.bind(gpus_[from]->error_log.reports);  // the sender's log has a link's refusals
    }
    if (ends.to.is_switch)
      probes_.join(link.out, *switches_[ends.to.number]->ingress[ends.receiver]);
    else
      probes_.join(link.out, *gpus_[ends.to.number]->fabric.ingress[ends.receiver]);
  }
}

void Node::mirror_ring(const NodeParameters& parameters, Trace* trace) {
  const Placement& placement = parameters.fabric.gpus[0];
  interconnect::Link& link = add_link("link", parameters.fabric.links[0], trace);
  probes_.join(*gpus_[0]->fabric.egress[0], link.in);
  link.errors.bind(gpus_[0]->error_log.reports);
  mirror_ =
      std::make_unique<interconnect::ChunkMirror>("mirror", parameters.mirrored->chunks, placement.gpus, placement.gpu);
  probes_.join(link.out, mirror_->in);
  probes_.join(mirror_->out, *gpus_[0]->fabric.ingress[0]);
  mirror_->errors.bind(gpus_[0]->error_log.reports);
}

void Node::mirror_torus(const NodeParameters& parameters, Trace* trace) {
  interconnect::FabricPort& fabric = gpus_[0]->fabric;
  torus_ = std::make_unique<interconnect::TorusMirror>("torus", parameters.mirrored->torus,
                                                       parameters.fabric.gpus[0].neighbours);
  for (std::size_t port = 0; port < parameters.fabric.links.size(); ++port) {
    const LinkPlacement& ends = parameters.fabric.links[port];
    interconnect::Link& link = add_link(fmt::format("link_0_{}", ends.to.number), ends, trace);
    probes_.join(*fabric.egress[port], link.in);
    link.errors.bind(gpus_[0]->error_log.reports);
    probes_.join(link.out, *torus_->in[port]);
    probes_.join(*torus_->out[port], *fabric.ingress[ends.receiver]);
  }
}

/// The numbers of NICs are those of their GPUs.
void Node::join_nics(const NodeParameters& parameters) {
  if (std::none_of(gpus_.begin(), gpus_.end(), [](const auto& gpu) { return gpu->nic != nullptr; })) return;
  wire_ = std::make_unique<nic::Wire>("wire", parameters.wire);
  for (const auto& gpu : gpus_) {
    wire_->receivers.bind(gpu->packets());
    if (gpu->nic) gpu->nic->wire.bind(*wire_);
  }
}

interconnect::Link& Node::add_link(const std::string& name, const LinkPlacement& link, Trace* trace) {
  links_.push_back(std::make_unique<interconnect::Link>(name.c_str(), link.parameters, link.from, link.to, trace));
  return *links_.back();
}

void Node::wake_checkers() {
  for (const auto& gpu : gpus_) gpu->wake_checkers();
  probes_.wake();
}

std::vector<const Violations*> Node::violations() const {
  std::vector<const Violations*> lists;
  for (const auto& gpu : gpus_) lists.push_back(&gpu->violations());
  lists.push_back(&probes_.violations());
  return lists;
}

}  // namespace t3vp
