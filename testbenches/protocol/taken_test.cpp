// The notice that a store is taken: how sockets give and get it, and what the checker says when it is given wrongly.
#include <catch2/catch.hpp>

#include "checker_bench.h"
#include "data_path/foreign_access.h"
#include "socket_bench.h"

namespace t3vp::test::taken_test {

namespace {

constexpr Picoseconds ns = 1000;

}  // namespace

TEST_CASE("a store is taken once before its answer whether by a call or within the request call") {
  SocketBench bench;
  SocketInitiator& initiator = bench.initiator;
  bench.target.serve = [&](tlm::tlm_generic_payload& request, Picoseconds delay) {
    bench.target.socket.taken(request, delay + 3 * ns);
    CHECK(initiator.notices == 0);  // the notice is the call's own answer
  };
  Transaction& within = bench.make();
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = to_sc_time(2 * ns);
  REQUIRE(initiator.socket->nb_transport_fw(within, phase, delay) == tlm::TLM_UPDATED);
  REQUIRE(phase == tlm::END_REQ);
  REQUIRE(from_sc_time(delay) == 5 * ns);
  within.set_response_status(tlm::TLM_OK_RESPONSE);
  bench.target.socket.respond(within, 9 * ns);
  REQUIRE(initiator.responses == 1);

  Transaction& sent = bench.make(Operation::update);
  initiator.socket.send(sent, 2 * ns);
  REQUIRE(initiator.notices == 1);
  REQUIRE(initiator.notice_delay == 5 * ns);
  REQUIRE(initiator.responses == 1);
  sent.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  bench.target.socket.respond(sent, 5 * ns);
  REQUIRE(initiator.responses == 2);
  REQUIRE(initiator.response_delay == 5 * ns);

  bench.target.serve = nullptr;
  Transaction& later = bench.make();
  REQUIRE_FALSE(later.extension().taken);
  initiator.socket.send(later, 0);
  REQUIRE(initiator.notices == 1);
  bench.target.socket.taken(later, 4 * ns);
  REQUIRE(initiator.notices == 2);
  REQUIRE(initiator.notice_delay == 4 * ns);
  later.set_response_status(tlm::TLM_OK_RESPONSE);
  bench.target.socket.respond(later, 4 * ns);
  REQUIRE(initiator.responses == 3);
}

TEST_CASE("a store that is taken and answered within the request call is answered by it") {
  SocketBench bench;
  bench.target.serve = [&](tlm::tlm_generic_payload& request, Picoseconds delay) {
    bench.target.socket.taken(request, delay);
    request.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    bench.target.socket.respond(request, delay + ns);
  };
  bench.initiator.socket.send(bench.make(), 2 * ns);
  REQUIRE(bench.initiator.notices == 0);
  REQUIRE(bench.initiator.responses == 1);
  REQUIRE(bench.initiator.response_delay == 3 * ns);
}

TEST_CASE("a blocking initiator waits for the answer whenever its store is taken") {
  SocketBench bench;
  bool takes_later = false;
  bench.target.serve = [&](tlm::tlm_generic_payload& request, Picoseconds delay) {
    request.acquire();
    if (!takes_later) bench.target.socket.taken(request, delay);
  };
  DataExtension extension;
  extension.operation = Operation::store;
  extension.shape = {1, 32, 0};
  for (int run = 0; run < 2; ++run, takes_later = true) {
    ForeignAnswer answer;
    answer.data.resize(32);
    sc_core::sc_spawn([&] { access_blocking(bench.initiator.socket, tlm::TLM_WRITE_COMMAND, 64, &extension, answer); });
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
    tlm::tlm_generic_payload& request = *bench.target.seen.back();
    if (takes_later) bench.target.socket.taken(request, 0);
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
    REQUIRE_FALSE(answer.returned);
    request.set_response_status(tlm::TLM_OK_RESPONSE);
    bench.target.socket.respond(request, 0);
    request.release();
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
    REQUIRE(answer.ok());
  }
  REQUIRE(bench.initiator.notices == 0);
}

TEST_CASE("the checker lets a store be taken once before its response and sees what is wrong with a notice") {
  CheckerBench bench;
  bench.accept();
  bench.initiator.answer = tlm::TLM_ACCEPTED;
  const auto incomplete = [&] {
    bench.target.non_blocking = [](Payload&, tlm::tlm_phase&, sc_core::sc_time&) { return tlm::TLM_ACCEPTED; };
  };
  incomplete();
  const auto sent = [&](Operation operation = Operation::store, Picoseconds delay = 0) -> Transaction& {
    Transaction& transaction = bench.make(operation);
    bench.initiator.request(transaction, delay);
    return transaction;
  };
  const auto take = [&](Payload& t, Picoseconds delay = 0) { bench.target.respond(t, delay, tlm::END_REQ); };
  const auto answer = [&](Payload& t, Picoseconds delay = 0) {
    t.set_response_status(tlm::TLM_OK_RESPONSE);
    bench.initiator.answer = tlm::TLM_COMPLETED;
    bench.target.respond(t, delay);
    bench.initiator.answer = tlm::TLM_ACCEPTED;
  };
  for (const Operation operation : {Operation::store, Operation::update}) {
    Transaction& right = sent(operation, 500);
    take(right, 600);
    answer(right, 600);
  }
  bench.target.non_blocking = [](Payload&, tlm::tlm_phase& phase, sc_core::sc_time&) {
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  };
  Transaction& at_once = sent();
  answer(at_once);
  bench.found_nothing();

  Transaction& twice = sent();  // within the call, and again
  take(twice);
  bench.found("taken twice", by_target);
  answer(twice);
  sent(Operation::load);
  bench.found("neither store nor update", by_target);
  incomplete();
  take(sent(Operation::wait));
  bench.found("neither store nor update", by_target);
  Transaction& late = sent();
  answer(late);
  take(late);
  bench.found("notice of nothing that is under way", by_target);
  take(sent(Operation::store, 500), 499);
  bench.found("taken before it arrives", by_target);
  take(sent(), longest_delay + 1);
  bench.found("notice with a delay that wraps", by_target);
  Transaction& early = sent();
  take(early, 700);
  answer(early, 699);
  bench.found("response before its request is taken", by_target);
  Transaction& with_status = sent();
  with_status.set_response_status(tlm::TLM_OK_RESPONSE);
  take(with_status);
  bench.found("notice with a response status", by_target);
  bench.initiator.answer = tlm::TLM_COMPLETED;
  take(sent());
  bench.found("notice not answered with TLM_ACCEPTED", by_initiator);
  bench.initiator.answer = tlm::TLM_ACCEPTED;
  bench.target.non_blocking = [&](Payload& t, tlm::tlm_phase&, sc_core::sc_time&) {
    take(t);
    return tlm::TLM_ACCEPTED;
  };
  sent();
  bench.found("within a request call", by_target);
}

}  // namespace t3vp::test::taken_test
