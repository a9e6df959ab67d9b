// A switch: passes on what comes in by one link to the link that its table names, after its latency.
//
// A packet waits for the link in the receive buffer by which it has come in, so that nothing is lost or dropped.
#pragma once

#include <memory>
#include <vector>

#include "interconnect/route.h"
#include "protocol/data_sockets.h"
#include "protocol/transaction_pool.h"

namespace t3vp::interconnect {

class Switch : public sc_core::sc_module {
 public:
  std::vector<std::unique_ptr<DataInitiatorSocket<Switch>>> egress;
  std::vector<std::unique_ptr<DataTargetSocket<Switch>>> ingress;

  Switch(const sc_core::sc_module_name& name, Picoseconds latency, std::size_t ports, Route route,
         std::size_t receivers);

 private:
  void request(int receiver, tlm::tlm_generic_payload& transaction, Picoseconds delay);
  void taken(int, tlm::tlm_generic_payload& relay, Picoseconds delay);
  void response(int, tlm::tlm_generic_payload& relay, Picoseconds delay);
  unsigned debug(int, tlm::tlm_generic_payload& transaction);
  DataTargetSocket<Switch>& receiver_of(const Transaction& relay) { return *ingress[relay.generation]; }

  Picoseconds latency_;
  Route route_;
  TransactionPool pool_;
};

}  // namespace t3vp::interconnect
