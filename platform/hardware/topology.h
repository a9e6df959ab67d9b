// GPUs and what their links join: a topology is a list of placements, with a route to every GPU in each.
//
// Routes are fixed, and nothing that waits for links can wait for itself. Dimensions of a torus (a ring has one) are
// travelled in their order. In a dimension a packet takes virtual channel 1 as long as its way leads over the place
// where the numbers begin anew, and channel 0 from there on, or everywhere when it does not lead over it (Dally and
// Seitz, Deadlock-Free Message Routing, 1987). The buffers of a direction can be numbered then so that every packet
// goes from lower to higher numbers: those of channel 1 in the order of the way up to that place, then those of channel
// 0. No packet of channel 0 enters the link that leads over it, so that none follows again. In a dimension of up to
// three GPUs no way has two links, and there is channel 0 alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hardware/parameters.h"

namespace t3vp {

/// A torus of one dimension is a ring. Fully connected GPUs have a link to each other one, switched ones a link in each
/// direction to the one switch, where no way has more than two links.
struct Topology {
  enum class Kind { torus, fully_connected, switched } kind = Kind::torus;
  std::vector<std::uint32_t> dimensions;  ///< of a torus; empty: one, of all GPUs
  Picoseconds switch_latency = 0;
  std::uint32_t switch_queue_bytes = 0;  ///< receive buffer of each link that leads to the switch
};

/// The most links that a GPU has.
inline constexpr std::uint32_t most_ports = 64;

/// For 1 GPU or more, as many as the dimensions' product.
///
/// In each dimension of a torus a GPU's ports lead to the previous one, then to the next one; of two there is one link
/// in each direction, of one there is none. Numbers count the first dimension first. Packets take the shorter way, that
/// of the previous GPU when both are as long. Fully connected GPUs have their ports in the order of the others'
/// numbers.
std::vector<Placement> place(const Topology& topology, std::uint32_t gpus);

std::vector<SwitchPlacement> place_switches(const Topology& topology, std::uint32_t gpus);

/// What the links of a node join: those of the first GPU's ports, of the next one's, and then of the switches'.
struct LinkEnds {
  interconnect::LinkEnd from, to;
};
std::vector<LinkEnds> link_ends(const std::vector<Placement>& gpus, const std::vector<SwitchPlacement>& switches);

/// GPU 0 of a ring in which it stands for all of them: its only port leads to the previous GPU.
std::vector<Placement> mirrored_ring(std::uint32_t gpus);

}  // namespace t3vp
