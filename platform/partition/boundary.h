// One rank's part of a node, as a simulator that others can drive: what leaves it is a message with its time, what
// enters it as well, and in between it runs until a time. windows.h drives it over MPI.
//
// Every rank has the whole node, and starts the programs of its own GPUs alone. A link between two ranks is cut at its
// latency (interconnect/link_boundary.h): the sender's rank has its arbitration and credits, the receiver's rank what
// follows the arrival. What crosses arrives in the order of links and times, so it has the same order at equal times as
// within one process. The NIC fabric is cut alike (nic/wire_boundary.h): the receiver's rank orders what arrives.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "node/node.h"
#include "partition/packet_codec.h"
#include "partition/partition.h"

namespace t3vp {

class Boundary {
 public:
  Boundary(Node& node, const NodeParameters& parameters, const Partition& partition, std::uint32_t rank);
  ~Boundary();
  Boundary(const Boundary&) = delete;
  Boundary& operator=(const Boundary&) = delete;

  /// The other ranks to which links or the NIC fabric lead, in order.
  const std::vector<std::uint32_t>& partners() const { return partners_; }
  /// The time of the earliest event here; `never` when there is none.
  static Picoseconds next_event_time();
  /// The earliest time of what has been sent and not taken yet.
  Picoseconds earliest_sent() const { return earliest_sent_; }
  /// Takes what has been sent, a message for each partner.
  std::vector<Message> take_sent();
  /// What a partner has sent. Its times are not before this simulator's.
  void deliver(const Message& message);

 private:
  class CutLink;
  class CutWire;
  MessageWriter& message_to(std::uint32_t rank, Picoseconds time);

  std::uint32_t rank_;
  std::vector<std::uint32_t> partners_;
  std::map<std::uint32_t, MessageWriter> sent_;  ///< by partner
  Picoseconds earliest_sent_ = never;
  TransactionPool pool_;
  std::vector<std::unique_ptr<CutLink>> links_;  ///< by number; null: both ends are here, or none is
  std::unique_ptr<CutWire> wire_;                ///< null: no NIC of this rank has one of another rank to talk to
};

}  // namespace t3vp
