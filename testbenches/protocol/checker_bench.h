// A data path's checker between an initiator and a target that keep the rules unless the test breaks one.
#pragma once

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "protocol/socket_probes.h"
#include "protocol/transaction_pool.h"
#include "raw_sockets.h"

namespace t3vp {

inline constexpr auto by_initiator = Violation::By::initiator, by_target = Violation::By::target;
using Payload = tlm::tlm_generic_payload;

struct CheckerBench {
  RawInitiator<256, DataProtocol> initiator{"initiator"};
  RawTarget<256, DataProtocol> target{"target"};
  SocketProbes probes{true};
  TransactionPool pool;
  unsigned char byte = 0;

  CheckerBench() {
    probes.join(initiator.socket, target.socket);
    target.non_blocking = [](Payload& t, tlm::tlm_phase&, sc_core::sc_time&) {
      t.set_response_status(tlm::TLM_OK_RESPONSE);
      return tlm::TLM_COMPLETED;
    };
    target.blocking = [](Payload& t, sc_core::sc_time&) { t.set_response_status(tlm::TLM_OK_RESPONSE); };
    target.debug = [](Payload& t) {
      t.set_response_status(tlm::TLM_OK_RESPONSE);
      return t.get_data_length();
    };
    target.direct = [](Payload&, tlm::tlm_dmi&) { return false; };
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  Transaction& make(Operation operation = Operation::store) {
    Transaction& transaction = pool.make(operation, 0x40, {2, 16, 64});
    transaction.attach_buffer();
    return transaction;
  }
  /// The target accepts and answers nothing by itself.
  void accept() {
    target.non_blocking = [](Payload& t, tlm::tlm_phase&, sc_core::sc_time&) {
      t.set_response_status(tlm::TLM_OK_RESPONSE);
      return tlm::TLM_ACCEPTED;
    };
  }
  /// In a thread of its own.
  void block(Payload& transaction, Picoseconds delay = 0) {
    sc_core::sc_spawn([&transaction, delay, this] {
      sc_core::sc_time time = to_sc_time(delay);
      initiator.socket->b_transport(transaction, time);
    });
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
  }
  /// One violation since the last call, and which.
  void found(const std::string& rule, Violation::By by) {
    const std::vector<Violation> list = probes.violations().take();
    CAPTURE(rule);
    for (const Violation& violation : list) UNSCOPED_INFO(violation.text());
    REQUIRE(list.size() == 1);
    CHECK_THAT(list[0].rule, Catch::Contains(rule));
    CHECK(list[0].by == by);
    CHECK(list[0].place == "initiator.socket -> target.socket");
    CHECK_THAT(list[0].access, Catch::Contains("bytes at 0x"));
  }
  void found_nothing() {
    for (const Violation& violation : probes.violations().take()) FAIL_CHECK(violation.text());
  }
};

}  // namespace t3vp
