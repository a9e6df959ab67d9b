#include "system/network.h"

#include <algorithm>

namespace t3vp {
namespace {

using interconnect::Hop;
using interconnect::no_port;
using interconnect::Route;

/// One dimension as a GPU sees it: its place there, and its port to the previous one; the next one's follows.
struct Axis {
  std::uint32_t size, step, place, port;  ///< `step`: numbers from one GPU to the next
  bool by_distance;                       ///< channels

  std::uint32_t place_of(std::uint32_t gpu) const { return gpu / step % size; }
  std::uint32_t ports() const { return size == 1 ? 0 : size == 2 ? 1 : 2; }

  std::uint32_t neighbour(std::uint32_t gpu, std::uint32_t distance) const {
    return gpu + ((place + distance) % size - place) * step;
  }
  Hop towards(std::uint32_t to) const {
    const std::uint32_t backward = (place + size - to) % size;
    const bool goes_back = backward <= size - backward;
    const bool begins_anew = size > 3 && (goes_back ? to > place : to < place);
    const std::uint32_t left = (goes_back ? backward : size - backward) - 1;
    return {port + (goes_back ? 0u : 1u), static_cast<std::uint8_t>(by_distance ? left : begins_anew ? 1 : 0)};
  }
};

std::vector<Axis> axes_of(const std::vector<std::uint32_t>& dimensions, std::uint32_t gpu, bool by_distance) {
  std::vector<Axis> axes;
  std::uint32_t step = 1, port = 0;
  for (const std::uint32_t size : dimensions) {
    axes.push_back({size, step, gpu / step % size, port, by_distance});
    port += axes.back().ports();
    step *= size;
  }
  return axes;
}

/// The networks inside nodes and between them, if links join nodes, and where their elements are in the whole.
class Nodes {
 public:
  Nodes(const LinkTier& tier, std::uint32_t gpus)
      : size_(tier.topology.gpus_per_node),
        count_(gpus / size_),
        one_port_(tier.topology.one_port_per_node),
        inside_(network_of(tier.topology.inside(), size_)),
        is_joined_(tier.topology.between() != nullptr),
        between_(is_joined_ ? network_of(*tier.topology.between(), count_) : Network(count_, 0)),
        whole_(gpus, std::size_t{count_} * inside_.switches() + std::size_t{planes()} * between_.switches()) {}

  Network join() {
    for (std::uint32_t node = 0; node < count_; ++node)
      for (std::uint32_t i = 0; i < inside_.elements.size(); ++i) add_inside(node, i);
    for (std::uint32_t plane = 0; plane < planes(); ++plane)
      for (std::uint32_t i = 0; i < between_.elements.size(); ++i) add_between(plane, i);
    return std::move(whole_);
  }

 private:
  std::uint32_t planes() const { return !is_joined_ ? 0 : one_port_ ? 1 : size_; }

  std::uint32_t place_inside(std::uint32_t node, std::uint32_t i) const {
    return i < size_ ? node * size_ + i : whole_.gpus + node * inside_.switches() + i - size_;
  }
  std::uint32_t place_between(std::uint32_t plane, std::uint32_t i) const {
    const std::uint32_t switches_before = count_ * inside_.switches() + plane * between_.switches();
    return i < count_ ? i * size_ + plane : whole_.gpus + switches_before + i - count_;
  }

  /// Returns the hop of packets that leave the node by its first GPU.
  Hop outwards(std::uint32_t i) const {
    Hop hop = inside_.elements[i].route[0];
    hop.channel = static_cast<std::uint8_t>(hop.channel + inside_.channels());
    return hop;
  }

  void add_inside(std::uint32_t node, std::uint32_t i) {
    const Network::Element& from = inside_.elements[i];
    Network::Element& to = whole_.elements[place_inside(node, i)];
    to.latency = from.latency;
    to.reduces = from.reduces;
    to.merging = from.merging;
    to.route.all = from.route.all;
    for (const Network::Port& port : from.ports) to.ports.push_back({place_inside(node, port.to), port.parameters});
    for (std::uint32_t gpu = 0; gpu < whole_.gpus; ++gpu) {
      if (gpu / size_ == node)
        to.route[gpu] = from.route[gpu % size_];
      else if (one_port_)
        to.route[gpu] = outwards(i);
    }
  }

  void add_between(std::uint32_t plane, std::uint32_t i) {
    const Network::Element& from = between_.elements[i];
    Network::Element& to = whole_.elements[place_between(plane, i)];
    const auto ports_inside = static_cast<std::uint32_t>(to.ports.size());
    if (i >= count_) {
      to.latency = from.latency;
      to.reduces = from.reduces;
      to.merging = from.merging;
    }
    if (to.route.all.port == no_port && from.route.all.port != no_port)
      to.route.all = {from.route.all.port + ports_inside, from.route.all.channel};
    for (const Network::Port& port : from.ports) to.ports.push_back({place_between(plane, port.to), port.parameters});
    for (std::uint32_t gpu = 0; gpu < whole_.gpus; ++gpu) {
      const std::uint32_t node = gpu / size_;
      if (i == node) continue;
      to.route[gpu] = from.route[node];
      to.route[gpu].port += ports_inside;
    }
  }

  std::uint32_t size_, count_;
  bool one_port_;
  Network inside_;
  bool is_joined_;
  Network between_, whole_;
};

Network torus(const LinkTier& tier, std::uint32_t gpus) {
  std::vector<std::uint32_t> dimensions = tier.topology.dimensions;
  if (dimensions.empty()) dimensions = {gpus};
  Network network(gpus, 0);
  network.is_alike = tier.topology.channels_by_distance;
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
    Network::Element& element = network.elements[gpu];
    const std::vector<Axis> axes = axes_of(dimensions, gpu, network.is_alike);
    for (const Axis& axis : axes) {
      if (axis.ports() > 0) element.ports.push_back({axis.neighbour(gpu, axis.size - 1), tier.links});
      if (axis.ports() > 1) element.ports.push_back({axis.neighbour(gpu, 1), tier.links});
    }
    for (std::uint32_t to = 0; to < gpus; ++to)
      for (const Axis& axis : axes) {
        if (axis.place_of(to) == axis.place) continue;
        element.route[to] = axis.towards(axis.place_of(to));
        break;
      }
  }
  return network;
}

Network full_connection(const LinkTier& tier, std::uint32_t gpus) {
  Network network(gpus, 0);
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
    Network::Element& element = network.elements[gpu];
    for (std::uint32_t to = 0; to < gpus; ++to) {
      if (to == gpu) continue;
      element.route[to].port = static_cast<std::uint32_t>(element.ports.size());
      element.ports.push_back({to, tier.links});
    }
  }
  return network;
}

Network switched(const LinkTier& tier, std::uint32_t gpus) {
  Network network(gpus, 1);
  Network::Element& middle = network.elements[gpus];
  middle.latency = tier.topology.switch_latency;
  middle.reduces = tier.topology.reduces;
  middle.merging = tier.topology.merging;
  interconnect::LinkParameters upwards = tier.links;
  if (tier.topology.switch_queue_bytes != 0) upwards.receive_buffer_bytes = tier.topology.switch_queue_bytes;
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
    Network::Element& element = network.elements[gpu];
    element.ports.push_back({gpus, upwards});
    element.route.assign(gpus, {0, 0});
    element.route[gpu].port = no_port;
    if (middle.reduces) element.route.all = {0, 0};
    middle.ports.push_back({gpu, tier.links});
    middle.route[gpu] = {gpu, 0};
  }
  return network;
}

}  // namespace

std::uint32_t Network::channels() const {
  std::uint32_t most = 0;
  for (const Element& element : elements)
    for (const Hop& hop : element.route) most = std::max<std::uint32_t>(most, hop.channel);
  return most + 1;
}

Network network_of(const LinkTier& tier, std::uint32_t gpus) {
  switch (tier.topology.kind) {
    case Topology::Kind::fully_connected:
      return full_connection(tier, gpus);
    case Topology::Kind::switched:
      return switched(tier, gpus);
    case Topology::Kind::nodes:
      return Nodes(tier, gpus).join();
    default:
      return torus(tier, gpus);
  }
}

}  // namespace t3vp
