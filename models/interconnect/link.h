// One direction of a link between two GPUs or switches: bandwidth, latency, header bytes, and a receive buffer at the
// far end for each virtual channel, whose space the sender holds as credits.
//
// A store, an update or the response to a load is a train of packets, each with a header. Their number follows from
// max_payload_bytes. They have one lane, so "packet" below means all of them. The request for a load is the same train
// without payload, each of whose packets takes request_bytes of the receive buffer. Packets of one lane leave in the
// order of their arrival. Lanes whose first packet has its credits are arbitrated round-robin, by arbitration_bytes of
// a packet or by whole packets. Packets that pass through go first, since they hold receive buffers that others wait
// for; packets that begin here go next. A packet that has begun holds its credits, so its next part waits only for
// arbitration. A sender is notified that its packet is taken when the last byte has left. The packet reaches the far
// end one latency later, as a relay of the sender's. When the far end has taken it, its credits return after another
// latency, and with them (over several hops later) the far end's response, which is the sender's: it takes no
// bandwidth. The ends of a link know nothing of each other but by that: they may be in two processes
// (link_boundary.h). Data that a GPU has requested do take bandwidth: they come as a response, which is a packet of its
// own over the links that lead back.
//
// A GPU or switch forwards the first packets of a train as they arrive. When this link has been free since then, and
// has not waited for credits, its time counts from there. It ends one packet after the last one has arrived.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "interconnect/link_boundary.h"
#include "interconnect/link_parameters.h"
#include "interconnect/route.h"
#include "protocol/data_sockets.h"
#include "protocol/event_queue.h"
#include "protocol/recent_values.h"
#include "protocol/trace.h"
#include "protocol/transaction_pool.h"

namespace t3vp::interconnect {

/// The traffic of a link.
struct LinkTraffic {
  std::uint64_t payload_bytes = 0;  ///< tensor data: of a traffic class other than control
  std::uint64_t wire_bytes = 0;     ///< with headers and signals
  std::uint64_t packets = 0;        ///< of data and signals; a header each
  std::uint64_t stores = 0;         ///< trains of packets: stores, updates and signals
  Picoseconds waited = 0;           ///< by all stores from their arrival to their first byte
  Picoseconds stalled = 0;          ///< in which stores waited for credits and the link sent nothing

  LinkTraffic& operator+=(const LinkTraffic& more) {
    payload_bytes += more.payload_bytes;
    wire_bytes += more.wire_bytes;
    packets += more.packets;
    stores += more.stores;
    waited += more.waited;
    stalled += more.stalled;
    return *this;
  }
};

class Link : public sc_core::sc_module {
 public:
  DataTargetSocket<Link> in{"in", this, &Link::request};
  DataInitiatorSocket<Link> out{"out", this, &Link::response};
  ErrorPort errors{"errors"};

  Link(const sc_core::sc_module_name& name, const LinkParameters& parameters, const LinkEnd& from, const LinkEnd& to,
       Trace* trace);

  const LinkEnd& from() const { return from_; }
  const LinkEnd& to() const { return to_; }
  LinkTraffic begun() const { return with_stall(counters_.begun, counters_, now()); }  ///< whose first byte has left
  LinkTraffic sent() const { return with_stall(counters_.sent, counters_, now()); }    ///< whose last byte has left
  /// The same before the events of that time, which is since_when_asked() or later (recent_values.h).
  LinkTraffic begun_before(Picoseconds time) const;
  LinkTraffic sent_before(Picoseconds time) const;
  Picoseconds busy_time() const { return busy_time_; }
  std::uint64_t packets() const { return packets_; }  ///< that have left, signals among them
  /// The packet that the injected fault took, in words; empty while it has taken none.
  const std::string& dropped() const { return dropped_; }
  /// A fault from now on: the packet of this number, from 0 at the run's start, does not arrive.
  void drop(std::uint64_t packet) { parameters_.drop_packet = packet; }
  /// The lanes that wait for credits and the packets in flight, a line each. It is empty when there are none.
  std::vector<std::string> diagnosis() const;

  /// One of its ends is in another process, to which the boundary leads. It outlives the simulation.
  void cut(LinkBoundary& boundary) { boundary_ = &boundary; }
  /// A packet is at the far end, which owns it.
  void arrive(Crossing crossing, Transaction& packet);
  /// The sender has so many bytes of the receive buffer again.
  void credited(Crossing crossing, std::uint64_t bytes, std::uint8_t channel);
  /// The response to a packet of the sender's is back.
  void answered(Crossing crossing, Transaction& packet);

 private:
  struct Event {
    enum What : std::uint8_t { arrival, sent, credit, answer } what;
    tlm::tlm_generic_payload* transaction;  ///< of an answer the relay
    std::uint64_t bytes;                    ///< of a credit; of what is sent, the number of its slice
    std::uint8_t channel;                   ///< of a credit
  };
  struct Waiting {
    tlm::tlm_generic_payload* packet;
    Picoseconds since;
  };
  /// Packets that have come one way and go one way.
  struct Queue {
    Lane lane;
    std::deque<Waiting> packets;
    std::uint64_t left = 0;  ///< wire bytes of the first packet when it has begun, 0 before
    Picoseconds waited = 0;  ///< by the packet that has begun
    Picoseconds begun = 0;   ///< time of its first byte
  };

  void request(int, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  unsigned debug(int, tlm::tlm_generic_payload& transaction) { return out->transport_dbg(transaction); }
  void taken(int, tlm::tlm_generic_payload& packet, Picoseconds delay);
  void response(int, tlm::tlm_generic_payload& packet, Picoseconds delay);
  void step();
  void deliver();
  Queue& queue_of(const Lane& lane);
  bool may_go(const Queue& queue) const;
  bool has_room(tlm::tlm_generic_payload& packet, std::uint64_t buffered) const;
  static bool passes_through(const Queue& queue) { return queue.lane.input != 0; }
  bool another_may_go() const;
  std::optional<std::size_t> next_to_go() const;
  bool is_anyone_waiting() const;
  void start();
  Picoseconds begin(Queue& queue);
  Picoseconds first_possible(const Queue& queue) const;
  void send_slice(Picoseconds begin, std::uint64_t bytes);
  void shorten();
  void slice_sent();
  void finish(tlm::tlm_generic_payload& transaction, Picoseconds lead);
  void answer(Transaction& packet);
  LinkTraffic traffic_of(tlm::tlm_generic_payload& transaction) const;
  bool is_half_update(const DataExtension& extension) const;
  std::uint64_t payload_limit(const DataExtension& extension) const;
  std::uint64_t packets_of(const DataExtension& extension) const;
  Picoseconds time_of_one_packet(tlm::tlm_generic_payload& transaction) const;
  std::uint64_t buffered_by(tlm::tlm_generic_payload& transaction) const;

  LinkParameters parameters_;
  LinkEnd from_, to_;
  Trace* trace_;
  Trace::Track track_ = 0;
  TransactionPool pool_;
  EventQueue<Event> events_{[this] { step(); }, Part::link_latency};
  EventQueue<Transaction*> arrivals_{[this] { deliver(); }, Part::link_latency, Turn::delivery};  ///< at the far end
  LinkBoundary* boundary_ = nullptr;  ///< null: both ends are here
  std::vector<Queue> queues_;
  std::size_t served_ = 0;  ///< queue whose packet is being sent, or was the last time
  std::size_t next_ = 0;    ///< queue whose turn it is then
  bool sending_ = false;
  Picoseconds slice_begin_ = 0;
  Cause slice_cause_;                          ///< of its begin
  std::uint64_t slice_bytes_ = 0, slice_ = 0;  ///< on the wire; its number, which stale events do not have
  std::vector<std::uint64_t> buffered_;        ///< by channel, bytes on their way or in the receive buffer
  struct Counters {
    LinkTraffic begun, sent;  ///< without stalls
    Picoseconds stalled = 0;
    Picoseconds stalled_since = never;  ///< never: the link sends, or no packet waits
  };
  static LinkTraffic with_stall(LinkTraffic traffic, const Counters& counters, Picoseconds time);
  Counters& changing_counters();
  Counters counters_;
  RecentValues<Counters> recent_counters_;
  struct Credit {
    Picoseconds time;
    std::uint64_t bytes;
    std::uint8_t channel;
  };
  Picoseconds idle_since_ = 0;    ///< end of what was sent last
  std::vector<Credit> credits_;   ///< that have come since then
  Cause stall_cause_;             ///< of the start of a stall
  bool by_credit_ = false;        ///< credits have come in this step
  std::uint64_t packets_ = 0;     ///< that have left
  std::uint64_t unanswered_ = 0;  ///< stores and signals
  std::string dropped_;
  Picoseconds busy_time_ = 0;
};

}  // namespace t3vp::interconnect
