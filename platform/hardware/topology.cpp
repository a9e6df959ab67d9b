#include "hardware/topology.h"

namespace t3vp {
namespace {

using interconnect::Hop;
using interconnect::no_port;
using interconnect::Route;

/// One dimension as a GPU sees it: its place there, and its port to the previous one; the next one's follows.
struct Axis {
  std::uint32_t size, step, place, port;  ///< `step`: numbers from one GPU to the next

  std::uint32_t place_of(std::uint32_t gpu) const { return gpu / step % size; }
  std::uint32_t ports() const { return size == 1 ? 0 : size == 2 ? 1 : 2; }

  std::uint32_t neighbour(std::uint32_t gpu, std::uint32_t distance) const {
    return gpu + ((place + distance) % size - place) * step;
  }
  Hop towards(std::uint32_t to) const {
    const std::uint32_t backward = (place + size - to) % size;
    const bool goes_back = backward <= size - backward;
    const bool begins_anew = size > 3 && (goes_back ? to > place : to < place);
    return {port + (goes_back ? 0u : 1u), static_cast<std::uint8_t>(begins_anew ? 1 : 0)};
  }
};

std::vector<Axis> axes_of(const std::vector<std::uint32_t>& dimensions, std::uint32_t gpu) {
  std::vector<Axis> axes;
  std::uint32_t step = 1, port = 0;
  for (const std::uint32_t size : dimensions) {
    axes.push_back({size, step, gpu / step % size, port});
    port += axes.back().ports();
    step *= size;
  }
  return axes;
}

void place_in_torus(const std::vector<std::uint32_t>& dimensions, Placement& placement) {
  const std::vector<Axis> axes = axes_of(dimensions, placement.gpu);
  for (const Axis& axis : axes) {
    if (axis.ports() > 0) placement.neighbours.push_back(axis.neighbour(placement.gpu, axis.size - 1));
    if (axis.ports() > 1) placement.neighbours.push_back(axis.neighbour(placement.gpu, 1));
  }
  for (std::uint32_t to = 0; to < placement.gpus; ++to)
    for (const Axis& axis : axes) {
      if (axis.place_of(to) == axis.place) continue;
      placement.route[to] = axis.towards(axis.place_of(to));
      break;
    }
}

void connect_fully(Placement& placement) {
  for (std::uint32_t to = 0; to < placement.gpus; ++to) {
    if (to == placement.gpu) continue;
    placement.route[to].port = static_cast<std::uint32_t>(placement.neighbours.size());
    placement.neighbours.push_back(to);
  }
}

void connect_to_switch(Placement& placement) {
  placement.neighbours = {placement.gpus};
  placement.route.assign(placement.gpus, {0, 0});
  placement.route[placement.gpu].port = no_port;
}

}  // namespace

std::vector<Placement> place(const Topology& topology, std::uint32_t gpus) {
  std::vector<std::uint32_t> dimensions = topology.dimensions;
  if (dimensions.empty()) dimensions = {gpus};
  std::vector<Placement> placements;
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
    Placement placement{static_cast<std::uint16_t>(gpu), gpus, {}, Route(gpus), 0};
    if (topology.kind == Topology::Kind::fully_connected)
      connect_fully(placement);
    else if (topology.kind == Topology::Kind::switched)
      connect_to_switch(placement);
    else
      place_in_torus(dimensions, placement);
    placement.receivers = static_cast<std::uint32_t>(placement.neighbours.size());
    placements.push_back(std::move(placement));
  }
  return placements;
}

std::vector<SwitchPlacement> place_switches(const Topology& topology, std::uint32_t gpus) {
  if (topology.kind != Topology::Kind::switched) return {};
  SwitchPlacement placement{{}, {}, gpus};
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
    placement.neighbours.push_back(gpu);
    placement.route.push_back({gpu, 0});
  }
  return {placement};
}

std::vector<LinkEnds> link_ends(const std::vector<Placement>& gpus, const std::vector<SwitchPlacement>& switches) {
  std::vector<LinkEnds> links;
  for (const Placement& placement : gpus)
    for (const std::uint32_t to : placement.neighbours)
      links.push_back({placement.gpu, to < placement.gpus ? interconnect::LinkEnd(static_cast<std::uint16_t>(to))
                                                          : interconnect::LinkEnd::of_switch(
                                                                static_cast<std::uint16_t>(to - placement.gpus))});
  for (std::size_t s = 0; s < switches.size(); ++s)
    for (const std::uint32_t to : switches[s].neighbours)
      links.push_back(
          {interconnect::LinkEnd::of_switch(static_cast<std::uint16_t>(s)), static_cast<std::uint16_t>(to)});
  return links;
}

std::vector<Placement> mirrored_ring(std::uint32_t gpus) {
  Route route(gpus, {0, 0});
  route[0].port = no_port;
  return {{0, gpus, {gpus - 1}, route, 1}};
}

}  // namespace t3vp
