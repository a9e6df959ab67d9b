// The networks that a fabric is laid out from: GPUs that are numbered from 0, and switches after them.
#pragma once

#include <vector>

#include "system/topology.h"

namespace t3vp {

struct Network {
  struct Port {
    std::uint32_t to;                         ///< a GPU, or from `gpus` on a switch
    interconnect::LinkParameters parameters;  ///< of the link that leads there
  };
  /// A GPU or a switch.
  struct Element {
    std::vector<Port> ports;
    interconnect::Route route;  ///< by GPU
    Picoseconds latency = 0;    ///< of a switch
    bool reduces = false;       ///< of a switch
    interconnect::Merging merging;
  };
  std::uint32_t gpus;
  bool is_alike = false;          ///< from each GPU: inputs are in the order of the ports that lead back
  std::vector<Element> elements;  ///< the GPUs, then the switches

  Network(std::uint32_t gpu_count, std::size_t switch_count) : gpus(gpu_count), elements(gpus + switch_count) {
    for (Element& element : elements) element.route.resize(gpus);
  }
  std::uint32_t switches() const { return static_cast<std::uint32_t>(elements.size()) - gpus; }
  std::uint32_t channels() const;
};

/// Returns the network of the tier's kind.
Network network_of(const LinkTier& tier, std::uint32_t gpus);

}  // namespace t3vp
