// GPUs and switches, what their links join, and the routes: a fabric is laid out from a tier of links.
//
// Routes are fixed, and nothing that waits for links can wait for itself. Dimensions of a torus (a ring has one) are
// travelled in their order. In a dimension a packet takes virtual channel 1 as long as its way leads over the place
// where the numbers start again, and channel 0 from there on, or everywhere when it does not lead over it (Dally and
// Seitz, Deadlock-Free Message Routing, 1987). The buffers of a direction can be numbered then so that every packet
// goes from lower to higher numbers: those of channel 1 in the order of the way up to that place, then those of channel
// 0. No packet of channel 0 enters the link that leads over it, so that none follows again. In a dimension of up to
// three GPUs no way has two links, and there is channel 0 alone.
//
// That place makes GPUs differ by where they are. With channels by distance a packet takes in each dimension the
// channel of the links that are left behind this one, so that every GPU sees the same torus from its place: then one
// can stand for all (mirrored_torus). Each packet goes down through the channels of a direction, whose buffers are
// numbered so.
//
// Between nodes a packet changes over at its sender's place: first to the receiver's node, then inside that to the
// receiver, so that links between nodes never wait for links between nodes again once a packet has entered a node. When
// a node has one port, at its first GPU, packets for other nodes reach that GPU inside by channels of their own, which
// packets that come from other nodes do not use.
//
// Loads and fetch-and-adds of other GPUs' memory make a request wait for links twice: its place in the last receive
// buffer is free when its answer has left. Answers therefore have virtual channels of their own, behind those of
// everything else, over the same routes (interconnect/link_packet.h): among themselves their buffers are in order by
// the same argument, and the last one waits for nothing, because the GPU that has asked has the place for the data. All
// buffers of responses are numbered above all others, and a request goes from lower to higher numbers still: along its
// way, into a memory that waits for no link, and along the way of its answer. In one class both would wait for each
// other: two GPUs whose buffers are full of each other's requests could not send an answer.
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
  bool channels_by_distance = false;      ///< of a torus: not by the place where numbers start again
  Picoseconds switch_latency = 0;
  std::uint32_t switch_queue_bytes = 0;  ///< receive buffer of each link that leads to the switch; 0: as the links have
  bool reduces = false;                  ///< of a switch: adds what its GPUs have, and stores to all of them (T3 7.4)
  std::uint32_t gpus_per_node = 0;       ///< of nodes, of whose number that of the GPUs is a multiple
  /// Of nodes: only the first GPU of each is joined with the other nodes'. Otherwise every GPU is joined with those
  /// that have the same place in their nodes, by a network of their own.
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

/// Of a torus with channels by distance GPU 0, which stands for all, and the links that leave it: what it sends to a
/// neighbour arrives at the input there, as what its opposite neighbour sends to it.
Fabric mirrored_torus(Fabric torus);

/// Whether every GPU has a way to every other one.
bool joins_all(const Fabric& fabric);

/// Virtual channels that the routes of a fabric name.
std::uint32_t channels_of(const Fabric& fabric);

}  // namespace t3vp
