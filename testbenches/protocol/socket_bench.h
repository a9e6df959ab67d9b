// A data socket of each side, with what they were given. The target does with a request what the test says.
#pragma once

#include <catch2/catch.hpp>

#include <functional>
#include <string>
#include <vector>

#include "data_path/checked_sockets.h"
#include "protocol/data_sockets.h"
#include "protocol/transaction_pool.h"

namespace t3vp {

struct SocketInitiator : sc_core::sc_module {
  DataInitiatorSocket<SocketInitiator> socket{"socket", this, &SocketInitiator::response, 7};
  TransactionPool pool;
  unsigned responses = 0, notices = 0;
  Picoseconds response_delay = 0, notice_delay = 0;

  explicit SocketInitiator(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.on_taken(&SocketInitiator::taken);
  }
  void taken(int id, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
    REQUIRE(id == 7);
    REQUIRE(extension_of(transaction).taken);
    ++notices;
    notice_delay = delay;
  }
  void response(int id, tlm::tlm_generic_payload&, Picoseconds delay) {
    REQUIRE(id == 7);
    ++responses;
    response_delay = delay;
  }
};

/// Does with a request what the test says.
struct SocketTarget : sc_core::sc_module, ErrorReport {
  DataTargetSocket<SocketTarget> socket{"socket", this, &SocketTarget::request, 9};
  ErrorPort errors{"errors"};
  std::function<void(tlm::tlm_generic_payload&, Picoseconds)> serve;
  std::vector<tlm::tlm_generic_payload*> seen;
  std::vector<ErrorRecord> reported;

  explicit SocketTarget(const sc_core::sc_module_name& name) : sc_module(name) {
    errors.bind(*this);
    socket.report_to(errors, "target");
  }
  void request(int id, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
    REQUIRE(id == 9);
    seen.push_back(&transaction);
    if (serve) serve(transaction, delay);
  }
  void report(const char* block, const ErrorRecord& record) override {
    REQUIRE(std::string(block) == "target");
    reported.push_back(record);
  }
  void answer_at_once(Picoseconds latency) {
    serve = [this, latency](tlm::tlm_generic_payload& transaction, Picoseconds delay) {
      transaction.set_response_status(tlm::TLM_OK_RESPONSE);
      socket.respond(transaction, delay + latency);
    };
  }
};

struct SocketBench {
  SocketInitiator initiator{"initiator"};
  SocketTarget target{"target"};
  CheckedSockets checks;
  SocketBench() {
    checks.join_test(initiator.socket, target.socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  Transaction& make(Operation operation = Operation::store, const Shape& shape = {1, 32, 0}) {
    return initiator.pool.make(operation, 64, shape);
  }
};

}  // namespace t3vp
