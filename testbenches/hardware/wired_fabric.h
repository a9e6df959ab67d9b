// Switches and links of a fabric between GPUs that have a fabric port each.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "interconnect/fabric_port.h"
#include "interconnect/link.h"
#include "interconnect/switch.h"
#include "system/topology.h"

namespace t3vp::test {

class WiredFabric {
 public:
  std::vector<std::unique_ptr<interconnect::Switch>> switches;
  std::vector<std::unique_ptr<interconnect::Link>> links;

  /// `ports` are those of the GPUs in the order of their numbers.
  WiredFabric(const std::string& name, const Fabric& fabric, const std::vector<interconnect::FabricPort*>& ports)
      : gpus_(ports.size()), sent_(ports.size() + fabric.switches.size(), 0) {
    for (const SwitchPlacement& placement : fabric.switches)
      switches.push_back(std::make_unique<interconnect::Switch>(
          (name + "_switch" + std::to_string(switches.size())).c_str(), placement.latency, placement.neighbours,
          placement.route, placement.receivers, placement.reduces, placement.merging));
    for (const LinkPlacement& link : fabric.links) {
      links.push_back(std::make_unique<interconnect::Link>((name + "_link" + std::to_string(links.size())).c_str(),
                                                           link.parameters, link.from, link.to, nullptr));
      const std::size_t port = sent_[place_of(link.from)]++;
      if (link.from.is_switch)
        switches[link.from.number]->egress[port]->bind(links.back()->in);
      else
        ports[link.from.number]->egress[port]->bind(links.back()->in);
      if (link.to.is_switch)
        links.back()->out.bind(*switches[link.to.number]->ingress[link.receiver]);
      else
        links.back()->out.bind(*ports[link.to.number]->ingress[link.receiver]);
    }
  }

 private:
  std::size_t place_of(const interconnect::LinkEnd& end) const { return end.number + (end.is_switch ? gpus_ : 0); }

  std::size_t gpus_;
  std::vector<std::size_t> sent_;  ///< links so far of each GPU, then of each switch
};

/// Returns the GPUs' ports.
template <typename Gpu>
std::vector<interconnect::FabricPort*> ports_of(const std::vector<std::unique_ptr<Gpu>>& gpus) {
  std::vector<interconnect::FabricPort*> ports;
  for (const auto& gpu : gpus) ports.push_back(&gpu->port);
  return ports;
}

}  // namespace t3vp::test
