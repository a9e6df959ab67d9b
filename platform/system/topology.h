// GPUs and switches, what their links join, and the routes. A fabric is laid out from a tier of links.
//
// Routes are fixed, and there is no cyclic dependency between links. Dimensions of a torus (a ring has one) are
// travelled in their order. The dateline of a dimension is the link between its last and its first position. In a
// dimension a packet takes virtual channel 1 until its route has crossed the dateline, and channel 0 from there on; a
// route that does not cross it takes channel 0 alone (Dally and Seitz, Deadlock-Free Message Routing, 1987). The
// buffers of a direction can then be numbered so that every packet goes from lower to higher numbers: those of channel
// 1 in the order of the route up to the dateline, then those of channel 0. No packet of channel 0 enters the dateline's
// link, so there is no cycle. In a dimension of up to three GPUs no route has two links, and there is channel 0 alone.
//
// The dateline makes GPUs differ by their position. With channels by distance, the channel in each dimension is the
// number of links that remain after this one. Every GPU then sees the same torus from its position, so one can
// represent all (mirrored_torus). Each packet goes down through the channels of a direction, and the buffers are
// numbered in this order.
//
// Between nodes a packet keeps its sender's local rank: it goes first to the receiver's node, then inside that node to
// the receiver. Once a packet has entered a node, it never waits for links between nodes again. When a node has one
// port, at its first GPU, packets for other nodes reach that GPU by channels of their own, which packets from other
// nodes do not use.
//
// Loads and fetch-and-adds of other GPUs' memory make a request wait for links twice: its slot in the last receive
// buffer is free when its response has left. Responses therefore have virtual channels of their own, above all others,
// over the same routes (interconnect/link_packet.h). Among themselves their buffers are in order by the same argument.
// The last one waits for nothing, because the requesting GPU has reserved space for the data. All buffers of responses
// are numbered above all others. A request therefore still goes from lower to higher numbers: along its route, into a
// memory that waits for no link, and along the route of its response. In one class both would deadlock: two GPUs whose
// buffers are full of each other's requests could not send a response.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "system/gpu_parameters.h"

namespace t3vp {

struct LinkTier;

/// A torus of one dimension is a ring. Fully connected GPUs have a link to each other one, switched ones a link in each
/// direction to the one switch, where no way has more than two links. Nodes are groups of GPUs of successive numbers,
/// joined inside by one tier of links and with each other by another one, or by none: then only NICs reach further.
struct Topology {
  enum class Kind { torus, fully_connected, switched, nodes } kind = Kind::torus;
  std::vector<std::uint32_t> dimensions;  ///< of a torus; empty: one, of all GPUs
  bool channels_by_distance = false;      ///< of a torus: the channel is the number of remaining links, not chosen by
                                          ///< the dateline
  Picoseconds switch_latency = 0;
  std::uint32_t switch_queue_bytes = 0;  ///< receive buffer of each link that leads to the switch; 0: as the links have
  bool reduces = false;                  ///< of a switch: adds what its GPUs have, and stores to all of them (T3 7.4)
  interconnect::Merging merging;         ///< of a switch
  std::uint32_t gpus_per_node = 0;       ///< of nodes, of whose number that of the GPUs is a multiple
  /// For nodes: only the first GPU of each node is joined with those of the other nodes. Otherwise the GPUs of the same
  /// local rank in all nodes are joined by a network of their own.
  bool one_port_per_node = false;
  std::vector<LinkTier> tiers;  ///< of nodes: inside each, and between them where links join them

  const LinkTier& inside() const;
  const LinkTier* between() const;  ///< null: no link joins nodes
};

/// Links of one kind and what they join.
struct LinkTier {
  interconnect::LinkParameters links;
  Topology topology;
};

inline const LinkTier& Topology::inside() const { return tiers[0]; }
inline const LinkTier* Topology::between() const { return tiers.size() > 1 ? &tiers[1] : nullptr; }

/// The most links that a GPU has.
inline constexpr std::uint32_t most_ports = 64;

/// For 1 GPU or more, as many as the dimensions' product.
///
/// In each dimension of a torus a GPU's ports lead to the previous one, then to the next one; of two there is one link
/// in each direction, of one there is none. Numbers count the first dimension first. Packets take the shorter way, that
/// of the previous GPU when both are as long. Fully connected GPUs have their ports in the order of the others'
/// numbers. Of nodes the ports inside are first.
Fabric lay_out(const LinkTier& tier, std::uint32_t gpus);

/// GPU 0 of a ring in which it stands for all of them: its only port leads to the previous GPU.
Fabric mirrored_ring(const interconnect::LinkParameters& links, std::uint32_t gpus);

/// Returns GPU 0 of a torus with channels by distance, which represents all, and the links that leave it. What it sends
/// to a neighbour arrives at its own input, as what its opposite neighbour sends to it.
Fabric mirrored_torus(Fabric torus);

/// Whether every GPU has a way to every other one.
bool joins_all(const Fabric& fabric);

/// Virtual channels that the routes of a fabric name.
std::uint32_t channels_of(const Fabric& fabric);

}  // namespace t3vp
