// A switch forwards each packet from the link of its arrival to the link that its routing table names, after its
// latency.
//
// A packet waits for that link in the receive buffer of its arrival, so no packet is dropped.
//
// A switch that reduces also takes packets to all GPUs that it joins (address_map::all_gpus), the sender included. A
// store, update or signal goes to each of them, and keeps its slot until all links have taken it. A load's request goes
// to each of them for the same bytes, and the responses end here. Each element is their sum in fp32, in the order of
// the ports, rounded once. One response goes back (T3 7.4; NVLink SHARP's multimem.ld_reduce and multimem.st). The
// switch has room for the responses of every request that the receive buffers hold, so responses never wait here.
//
// A switch that merges (merging.h) adds updates of several GPUs to the same bytes of a GPU's memory in a table. The sum
// leaves as one update when all other GPUs' have come, at its timeout, or when the table is full: then the oldest sum
// leaves, and the update that has found no room goes on alone. An update is taken from its receive buffer when it has
// been added, and acknowledged when the owner has acknowledged the sum. A sum keeps its room until its link has taken
// it. Its extension's `addend` is the number of the other updates in it, by which the owner's Tracker counts them.
// Flags, signals and requests do not overtake sums that have updates of their sender to the same GPU, nor do stores to
// the same bytes: they wait in their receive buffer until the link has taken these. Nothing else waits, sums leave at
// their timeouts, and links to GPUs always drain, so there is no deadlock.
//
// It also fetches a GPU's bytes once for loads of several GPUs: a load of the same bytes joins one in flight. No load
// joins behind a write of that GPU or to it that has passed here, since it might have to see what is newer.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "interconnect/merging.h"
#include "interconnect/route.h"
#include "protocol/data_sockets.h"
#include "protocol/event_queue.h"
#include "protocol/order_observer.h"
#include "protocol/transaction_pool.h"

namespace t3vp::interconnect {

class Switch : public sc_core::sc_module, public OrderTeller {
 public:
  std::vector<std::unique_ptr<DataInitiatorSocket<Switch>>> egress;
  std::vector<std::unique_ptr<DataTargetSocket<Switch>>> ingress;

  /// `neighbours[i]` is the GPU behind port i.
  Switch(const sc_core::sc_module_name& name, Picoseconds latency, const std::vector<std::uint32_t>& neighbours,
         Route route, std::size_t receivers, bool reduces, const Merging& merging = {});

  /// One line for each sum whose parts have not all come; empty when there is none.
  std::vector<std::string> diagnosis() const;

 private:
  /// A packet that has been forwarded to every port.
  struct Multicast {
    tlm::tlm_generic_payload* original;
    std::size_t receiver;
    std::size_t untaken, unanswered;
    Picoseconds taken_at = 0, answered_at = 0;
    tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
    std::uint32_t refusal = 0;
  };
  struct Asked {
    tlm::tlm_generic_payload* request;
    std::size_t receiver;
  };
  /// A load of all GPUs: its request, and a load of each GPU's part. Or loads of one GPU, with one part.
  struct Sum {
    tlm::tlm_generic_payload* request;
    std::size_t receiver;
    std::vector<Transaction*> parts;
    std::size_t asked, missing;  ///< requests without a response, answers that may come
    Picoseconds latest = 0;      ///< of what has come so far
    tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
    std::uint32_t refusal = 0;
    std::vector<Asked> joined = {};  ///< further loads of the same bytes
    bool is_open = false;            ///< loads may join
  };

  /// Updates of several GPUs to the same bytes, and their sum so far.
  struct Merged {
    struct Part {
      tlm::tlm_generic_payload* update;
      std::size_t receiver;
    };
    Transaction* sum;
    std::vector<Part> parts;
    std::uint64_t number;
    Picoseconds ready = 0;  ///< when the last one has been added
    bool leaves = false, taken = false;
  };
  /// A packet that must not overtake sums, by their numbers.
  struct Held {
    tlm::tlm_generic_payload* packet;
    std::size_t receiver;
    std::vector<std::uint64_t> before;
    Picoseconds ready;
  };

  /// Generation of sums, which are the switch's own and no relays.
  static constexpr std::uint32_t own = 0xFFFFFFFF;

  void request(int receiver, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void pass(std::size_t receiver, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void forward(std::size_t receiver, tlm::tlm_generic_payload& transaction, const Hop& hop, Picoseconds delay);
  void refuse(std::size_t receiver, tlm::tlm_generic_payload& transaction, tlm::tlm_response_status status,
              Picoseconds delay);
  void taken(int, tlm::tlm_generic_payload& relay, Picoseconds delay);
  void response(int, tlm::tlm_generic_payload& relay, Picoseconds delay);
  unsigned debug(int, tlm::tlm_generic_payload& transaction);
  DataTargetSocket<Switch>& receiver_of(const Transaction& relay) { return *ingress[relay.generation]; }

  void pass_to_all(std::size_t receiver, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  Multicast* multicast_of(const tlm::tlm_generic_payload& original);
  void end_of(Multicast& multicast, Transaction& relay, Picoseconds delay);

  void ask(std::size_t receiver, tlm::tlm_generic_payload& request, const std::vector<std::uint32_t>& gpus,
           Picoseconds delay);
  void fetch_once(std::size_t receiver, tlm::tlm_generic_payload& request, Picoseconds delay);
  void close_loads(tlm::tlm_generic_payload& write);
  void send_answer(const Sum& sum, const Asked& to);
  Sum* sum_of(const tlm::tlm_generic_payload& request);
  Sum* sum_with(const tlm::tlm_generic_payload* part);
  void take_part(Sum& sum, std::size_t receiver, tlm::tlm_generic_payload& answer, Picoseconds delay);
  void part_asked(Sum& sum, Transaction& relay, Picoseconds delay);
  void end_if_complete(Sum& sum);
  void respond_to_ended();
  void send_sum(const Sum& sum);

  bool merges(tlm::tlm_generic_payload& transaction) const;
  bool merge(std::size_t receiver, tlm::tlm_generic_payload& update, Picoseconds delay);
  Merged* merged_with(const tlm::tlm_generic_payload& update);
  Merged* begin_merged(tlm::tlm_generic_payload& update, Picoseconds at);
  void add_part(Merged& merged, tlm::tlm_generic_payload& update);
  Picoseconds added_at(const tlm::tlm_generic_payload& update, Picoseconds at);
  void leave(Merged& merged);
  void leave_late();
  Merged& merged_of(const Transaction& sum);
  void sum_taken(const Transaction& sum, Picoseconds delay);
  void sum_answered(Transaction& sum, Picoseconds delay);
  bool hold(std::size_t receiver, tlm::tlm_generic_payload& packet, Picoseconds delay);
  bool hold_update(std::size_t receiver, tlm::tlm_generic_payload& update, Picoseconds delay);
  std::vector<std::uint64_t> held_before(std::size_t receiver, const tlm::tlm_generic_payload& packet) const;
  void release_held(std::uint64_t number, Picoseconds at);

  Picoseconds latency_;
  std::vector<std::uint32_t> neighbours_;
  Route route_;
  bool reduces_;
  Merging merging_;
  TransactionPool pool_;
  std::list<Multicast> multicasts_;
  std::list<Sum> sums_;
  std::list<Merged> merged_;  ///< the oldest first
  std::list<Held> held_;
  std::uint64_t merged_bytes_ = 0, next_merged_ = 0;
  std::vector<Picoseconds> adders_free_;  ///< by port
  EventQueue<std::uint64_t> timeouts_{[this] { leave_late(); }, Part::link_latency};
  /// The request of a complete sum, with its status.
  struct Ended {
    tlm::tlm_generic_payload* request;
    std::size_t receiver;
    Picoseconds at;
  };
  EventQueue<Ended> ended_{[this] { respond_to_ended(); }, Part::link_latency};
};

}  // namespace t3vp::interconnect
