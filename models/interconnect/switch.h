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
#pragma once

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "interconnect/route.h"
#include "protocol/data_sockets.h"
#include "protocol/event_queue.h"
#include "protocol/transaction_pool.h"

namespace t3vp::interconnect {

class Switch : public sc_core::sc_module {
 public:
  std::vector<std::unique_ptr<DataInitiatorSocket<Switch>>> egress;
  std::vector<std::unique_ptr<DataTargetSocket<Switch>>> ingress;

  /// `neighbours[i]` is the GPU behind port i.
  Switch(const sc_core::sc_module_name& name, Picoseconds latency, const std::vector<std::uint32_t>& neighbours,
         Route route, std::size_t receivers, bool reduces);

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
  /// A load of all GPUs: its request, and a load of each GPU's part.
  struct Sum {
    tlm::tlm_generic_payload* request;
    std::size_t receiver;
    std::vector<Transaction*> parts;
    std::size_t asked, missing;  ///< requests without a response, answers that may come
    Picoseconds latest = 0;      ///< of what has come so far
    tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
    std::uint32_t refusal = 0;
  };

  /// Generation of answers that are the switch's own, and not passed on.
  static constexpr std::uint32_t own = 0xFFFFFFFF;

  void request(int receiver, tlm::tlm_generic_payload& transaction, Picoseconds delay);
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

  void ask_all(std::size_t receiver, tlm::tlm_generic_payload& request, Picoseconds delay);
  Sum* sum_of(const tlm::tlm_generic_payload& request);
  Sum* sum_with(const tlm::tlm_generic_payload* part);
  void take_part(Sum& sum, std::size_t receiver, tlm::tlm_generic_payload& answer, Picoseconds delay);
  void part_asked(Sum& sum, Transaction& relay, Picoseconds delay);
  void end_if_complete(Sum& sum);
  void respond_to_ended();
  void send_sum(const Sum& sum);

  Picoseconds latency_;
  std::vector<std::uint32_t> neighbours_;
  Route route_;
  bool reduces_;
  TransactionPool pool_;
  std::list<Multicast> multicasts_;
  std::list<Sum> sums_;
  /// The request of a complete sum, with its status.
  struct Ended {
    tlm::tlm_generic_payload* request;
    std::size_t receiver;
    Picoseconds at;
  };
  EventQueue<Ended> ended_{[this] { respond_to_ended(); }, Part::link_latency};
};

}  // namespace t3vp::interconnect
