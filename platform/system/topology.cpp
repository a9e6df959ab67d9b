#include "system/topology.h"

#include <algorithm>

#include "system/network.h"

namespace t3vp {
namespace {

interconnect::LinkEnd end_of(std::uint32_t element, std::uint32_t gpus) {
  if (element < gpus) return static_cast<std::uint16_t>(element);
  return interconnect::LinkEnd::of_switch(static_cast<std::uint16_t>(element - gpus));
}

/// The port of `to` that leads back.
std::uint32_t port_back(const Network& network, std::uint32_t from, std::uint32_t to) {
  const std::vector<Network::Port>& ports = network.elements[to].ports;
  const auto back =
      std::find_if(ports.begin(), ports.end(), [from](const Network::Port& port) { return port.to == from; });
  return static_cast<std::uint32_t>(back - ports.begin());
}

}  // namespace

Fabric lay_out(const LinkTier& tier, std::uint32_t gpus) {
  const Network network = network_of(tier, gpus);
  Fabric fabric;
  std::vector<std::uint32_t> receivers(network.elements.size(), 0);
  for (std::uint32_t i = 0; i < network.elements.size(); ++i)
    for (const Network::Port& port : network.elements[i].ports) {
      const std::uint32_t input = receivers[port.to]++;
      fabric.links.push_back({end_of(i, gpus), end_of(port.to, gpus), port.parameters,
                              network.is_alike ? port_back(network, i, port.to) : input});
    }
  for (std::uint32_t i = 0; i < network.elements.size(); ++i) {
    const Network::Element& element = network.elements[i];
    std::vector<std::uint32_t> neighbours;
    for (const Network::Port& port : element.ports) neighbours.push_back(port.to);
    if (i < gpus)
      fabric.gpus.push_back({static_cast<std::uint16_t>(i), gpus, neighbours, element.route, receivers[i]});
    else
      fabric.switches.push_back(
          {neighbours, element.route, receivers[i], element.latency, element.reduces, element.merging});
  }
  return fabric;
}

Fabric mirrored_ring(const interconnect::LinkParameters& links, std::uint32_t gpus) {
  interconnect::Route route(gpus, {0, 0});
  route[0].port = interconnect::no_port;
  return {{{0, gpus, {gpus - 1}, route, 1}}, {}, {{0, static_cast<std::uint16_t>(gpus - 1), links, 0}}};
}

Fabric mirrored_torus(Fabric torus) {
  torus.gpus.resize(1);
  torus.links.resize(torus.gpus[0].neighbours.size());
  return torus;
}

bool joins_all(const Fabric& fabric) {
  return std::all_of(fabric.gpus.begin(), fabric.gpus.end(), [](const Placement& from) {
    const auto ways = std::count_if(from.route.begin(), from.route.end(),
                                    [](const interconnect::Hop& hop) { return hop.port != interconnect::no_port; });
    return static_cast<std::uint32_t>(ways) + 1 == from.gpus;
  });
}

std::uint32_t channels_of(const Fabric& fabric) {
  std::uint32_t most = 0;
  const auto take = [&most](const interconnect::Route& route) {
    for (const interconnect::Hop& hop : route) most = std::max<std::uint32_t>(most, hop.channel);
  };
  for (const Placement& placement : fabric.gpus) take(placement.route);
  for (const SwitchPlacement& placement : fabric.switches) take(placement.route);
  return most + 1;
}

}  // namespace t3vp
