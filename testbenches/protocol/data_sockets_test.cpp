#include "protocol/data_sockets.h"

#include <catch2/catch.hpp>

#include <functional>

#include "data_path/foreign_access.h"
#include "raw_sockets.h"
#include "socket_bench.h"

namespace t3vp::test::data_sockets_test {

namespace {

constexpr Picoseconds ns = 1000;

using Bench = SocketBench;
using Initiator = SocketInitiator;

}  // namespace

TEST_CASE("a request arrives with its delay and is answered by a call with the answer's delay") {
  Bench bench;
  Picoseconds seen = 0;
  bench.target.serve = [&](tlm::tlm_generic_payload& request, Picoseconds delay) {
    seen = delay;
    request.set_response_status(tlm::TLM_OK_RESPONSE);
  };
  Transaction& transaction = bench.make(Operation::load);
  bench.initiator.socket.send(transaction, 1'234'567);
  REQUIRE(seen == 1'234'567);
  REQUIRE(bench.target.seen == std::vector<tlm::tlm_generic_payload*>{&transaction});
  REQUIRE(bench.initiator.responses == 0);
  bench.target.socket.respond(transaction, 7'000'000'000'000);
  REQUIRE(bench.initiator.responses == 1);
  REQUIRE(bench.initiator.response_delay == 7'000'000'000'000);
  transaction.release();
}

TEST_CASE("an answer within the request call completes the call and the handler gets it afterwards") {
  Bench bench;
  unsigned responses_in_the_call = 0;
  bench.target.serve = [&](tlm::tlm_generic_payload& transaction, Picoseconds delay) {
    transaction.set_response_status(tlm::TLM_OK_RESPONSE);
    bench.target.socket.respond(transaction, delay + 500);
    responses_in_the_call = bench.initiator.responses;
  };
  Transaction& transaction = bench.make();
  bench.initiator.socket.send(transaction, 100);
  REQUIRE(responses_in_the_call == 0);
  REQUIRE(bench.initiator.responses == 1);
  REQUIRE(bench.initiator.response_delay == 600);

  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay(3, sc_core::SC_PS);
  REQUIRE(bench.initiator.socket->nb_transport_fw(transaction, phase, delay) == tlm::TLM_COMPLETED);
  REQUIRE(phase == tlm::BEGIN_REQ);
  REQUIRE(from_sc_time(delay) == 503);
  REQUIRE(bench.initiator.responses == 1);
  transaction.release();
}

TEST_CASE("blocking calls are served one after the other and at once and in any order and between others") {
  Bench bench;
  // The first six requests are answered in the opposite order, later ones within their call.
  std::vector<tlm::tlm_generic_payload*> held;
  bench.target.serve = [&](tlm::tlm_generic_payload& transaction, Picoseconds delay) {
    transaction.set_response_status(tlm::TLM_OK_RESPONSE);
    if (bench.target.seen.size() > 6) return bench.target.socket.respond(transaction, delay + 2 * ns);
    transaction.acquire();
    held.push_back(&transaction);
    if (held.size() < 6) return;
    sc_core::sc_spawn([&] {
      sc_core::wait(to_sc_time(10 * ns));
      while (!held.empty()) {
        tlm::tlm_generic_payload* last = held.back();
        held.pop_back();
        bench.target.socket.respond(*last, 5 * ns);
        last->release();
      }
    });
  };
  std::vector<DataAccess> accesses(4);
  for (DataAccess& access : accesses) access.shape = {1, 16, 0};
  const std::vector<ForeignAnswer> answers = blocking_accesses(bench.initiator.socket, accesses, [&] {
    for (int i = 0; i < 3; ++i) bench.initiator.socket.send(bench.make(), 0);
  });
  REQUIRE(all_ok(answers));
  REQUIRE(bench.initiator.responses == 3);
  REQUIRE(bench.target.seen.size() == 15);
  for (std::size_t i = 0; i < answers.size(); ++i) REQUIRE(answers[i].at == (15 + i % 4 * 2) * ns);
}

TEST_CASE("a blocking call returns when no block holds its payload any more") {
  Bench bench;
  bench.target.serve = [&](tlm::tlm_generic_payload& transaction, Picoseconds) {
    transaction.acquire();
    transaction.set_response_status(tlm::TLM_OK_RESPONSE);
    bench.target.socket.respond(transaction, 0);
    sc_core::sc_spawn([&transaction] {
      sc_core::wait(to_sc_time(20 * ns));
      transaction.release();
    });
  };
  std::vector<DataAccess> one(1);
  one[0].shape = {1, 16, 0};
  const std::vector<ForeignAnswer> answers = blocking_accesses(bench.initiator.socket, one, [] {});
  REQUIRE(all_ok(answers));
  REQUIRE(answers[0].at == 20 * ns);
}

TEST_CASE("a blocking call from outside a thread is refused") {
  Bench bench;
  DataExtension extension;
  extension.shape = {1, 4, 0};
  tlm::tlm_generic_payload payload;
  payload.set_extension(&extension);
  payload.set_command(tlm::TLM_READ_COMMAND);
  payload.set_data_length(4);
  payload.set_streaming_width(4);
  sc_core::sc_time delay;
  bench.initiator.socket->b_transport(payload, delay);
  payload.clear_extension(&extension);
  REQUIRE(payload.get_response_status() == tlm::TLM_GENERIC_ERROR_RESPONSE);
  REQUIRE(bench.target.reported.size() == 1);
}

namespace {

struct Fault {
  const char* what;
  tlm::tlm_response_status response;
  std::uint32_t code;
  std::function<void(Transaction&)> spoil;
};

/// One of each kind that request_check.h knows, apart from those of a call.
std::vector<Fault> faults() {
  constexpr auto generic = tlm::TLM_GENERIC_ERROR_RESPONSE, command = tlm::TLM_COMMAND_ERROR_RESPONSE,
                 burst = tlm::TLM_BURST_ERROR_RESPONSE, place = tlm::TLM_ADDRESS_ERROR_RESPONSE;
  const auto in_extension = [](auto change) { return [change](Transaction& t) { change(t.extension()); }; };
  return {
      {"no extension", generic, malformed_argument, [](Transaction& t) { t.clear_extension(&t.extension()); }},
      {"operation", command, malformed_argument,
       in_extension([](DataExtension& e) { e.operation = static_cast<Operation>(7); })},
      {"fetch-and-add that writes", command, malformed_argument,
       in_extension([](DataExtension& e) { e.operation = Operation::fetch_add; })},
      {"fetch-and-add of 32 bytes", burst, malformed_access,
       [](Transaction& t) {
         t.set_read();
         t.extension().operation = Operation::fetch_add;
       }},
      {"fetch-and-add of two integers", burst, malformed_access,
       [](Transaction& t) {
         t.set_read();
         t.set_data_length(8);
         t.extension().operation = Operation::fetch_add;
         t.extension().shape = {2, 4, 4};
       }},
      {"fetch-and-add without data", generic, malformed_argument,
       [](Transaction& t) {
         t.set_read();
         t.set_data_length(8);
         t.set_data_ptr(nullptr);
         t.extension().operation = Operation::fetch_add;
         t.extension().shape = {1, 8, 0};
       }},
      {"request for nothing", generic, malformed_argument,
       in_extension([](DataExtension& e) { e.operation = Operation::request; })},
      {"answer to nothing", generic, malformed_argument,
       in_extension([](DataExtension& e) { e.operation = Operation::answer; })},
      {"load that writes", command, malformed_argument,
       in_extension([](DataExtension& e) { e.operation = Operation::load; })},
      {"wait that writes", command, malformed_argument,
       in_extension([](DataExtension& e) { e.operation = Operation::wait; })},
      {"store that reads", command, malformed_argument, [](Transaction& t) { t.set_read(); }},
      {"ignore", command, malformed_argument, [](Transaction& t) { t.set_command(tlm::TLM_IGNORE_COMMAND); }},
      {"element", generic, malformed_argument,
       in_extension([](DataExtension& e) { e.element = static_cast<ElementType>(3); })},
      {"traffic class", generic, malformed_argument,
       in_extension([](DataExtension& e) { e.traffic = static_cast<TrafficClass>(traffic_classes_most); })},
      {"stream", generic, malformed_argument,
       in_extension([](DataExtension& e) { e.stream = static_cast<Stream>(2); })},
      {"byte enables", tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE, malformed_access,
       [](Transaction& t) { t.set_byte_enable_ptr(t.get_data_ptr()); }},
      {"streaming", burst, malformed_access, [](Transaction& t) { t.set_streaming_width(16); }},
      {"no rows", generic, malformed_argument, in_extension([](DataExtension& e) { e.shape.rows = 0; })},
      {"other length", generic, malformed_argument, in_extension([](DataExtension& e) { e.shape.row_bytes = 31; })},
      {"length that only 32 bits agree with", generic, malformed_argument, in_extension([](DataExtension& e) {
         e.shape = {0x80000001, 32, 0};
       })},
      {"no bytes", generic, malformed_argument,
       [](Transaction& t) {
         t.set_data_length(0);
         t.extension().shape.row_bytes = 0;
       }},
      {"wraps", place, malformed_address, in_extension([](DataExtension& e) {
         e.shape = {2, 16, std::uint64_t{1} << 63};
       })},
      {"wraps by its stride", place, malformed_address, in_extension([](DataExtension& e) {
         e.shape = {8, 4, std::uint64_t{1} << 61};
       })},
      {"leaves the GPU", place, malformed_address, in_extension([](DataExtension& e) {
         e.shape = {2, 16, 0xFFF'FFFF'FFC0};
       })},
      {"no data", generic, malformed_argument, [](Transaction& t) { t.set_data_ptr(nullptr); }},
  };
}

void check_refused(const Bench& bench, const Fault& fault, tlm::tlm_response_status status) {
  CAPTURE(fault.what);
  CHECK(status == fault.response);
  CHECK(bench.target.seen.empty());
  REQUIRE(bench.target.reported.size() == 1);
  CHECK(bench.target.reported[0].code == fault.code);
  CHECK(bench.target.reported[0].address == 64);
  CHECK_THAT(bench.target.reported[0].text, Catch::Contains("bytes at 0x40: "));
}

}  // namespace

TEST_CASE("every malformed request is answered with its status at its arrival and logged and no block sees it") {
  Bench bench;
  bench.target.socket.expect({true, false});
  for (const Fault& fault : faults()) {
    Transaction& transaction = bench.make();
    transaction.attach_buffer();
    fault.spoil(transaction);
    const unsigned before = bench.initiator.responses;
    bench.initiator.socket.send(transaction, 300);
    CHECK(bench.initiator.responses == before + 1);
    CHECK(bench.initiator.response_delay == 300);
    check_refused(bench, fault, transaction.get_response_status());
    bench.target.reported.clear();
    transaction.set_extension(&transaction.extension());
    transaction.release();
  }
}

TEST_CASE("a malformed blocking request is refused likewise") {
  Bench bench;
  bench.target.socket.expect({true, false});
  for (const Fault& fault : faults()) {
    Transaction& transaction = bench.make();
    transaction.attach_buffer();
    fault.spoil(transaction);
    sc_core::sc_spawn([&] {
      sc_core::sc_time delay(300, sc_core::SC_PS);
      bench.initiator.socket->b_transport(transaction, delay);
      CHECK(from_sc_time(delay) == 300);
    });
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    check_refused(bench, fault, transaction.get_response_status());
    bench.target.reported.clear();
    transaction.set_extension(&transaction.extension());
    transaction.release();
  }
}

TEST_CASE("a call with a wrong phase and a delay that wraps or a payload that nobody owns is refused") {
  Bench bench;
  Transaction& transaction = bench.make();
  const auto refused = [&](tlm::tlm_generic_payload& payload, tlm::tlm_phase phase, std::uint64_t picoseconds) {
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    sc_core::sc_time delay = to_sc_time(picoseconds);
    CAPTURE(static_cast<unsigned>(phase), picoseconds);
    CHECK(bench.initiator.socket->nb_transport_fw(payload, phase, delay) == tlm::TLM_COMPLETED);
    CHECK(payload.get_response_status() == tlm::TLM_GENERIC_ERROR_RESPONSE);
    CHECK(bench.target.reported.size() == 1);
    CHECK(bench.target.seen.empty());
    bench.target.reported.clear();
  };
  refused(transaction, tlm::END_REQ, 0);
  refused(transaction, tlm::BEGIN_RESP, 0);
  refused(transaction, tlm::END_RESP, 0);
  refused(transaction, tlm::tlm_phase(77), 0);
  refused(transaction, tlm::BEGIN_REQ, longest_delay + 1);
  refused(transaction, tlm::BEGIN_REQ, ~std::uint64_t{0});
  tlm::tlm_generic_payload unowned;
  unowned.set_extension(&transaction.extension());
  unowned.set_write();
  unowned.set_data_length(32);
  unowned.set_streaming_width(32);
  refused(unowned, tlm::BEGIN_REQ, 0);
  unowned.set_mm(&bench.initiator.pool);
  refused(unowned, tlm::BEGIN_REQ, 0);  // never acquired
  unowned.clear_extension(&transaction.extension());
  bench.initiator.socket.send(transaction, longest_delay);
  REQUIRE(bench.target.seen.size() == 1);
  transaction.release();
}

TEST_CASE("a response with a phase that the protocol does not have is a warning and no response") {
  Initiator initiator("initiator");
  RawTarget<256, DataProtocol> target("target");
  initiator.socket.bind(target.socket);
  target.non_blocking = [](tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) { return tlm::TLM_ACCEPTED; };
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  Transaction& transaction = initiator.pool.make(Operation::load, 64, {1, 32, 0});
  initiator.socket.send(transaction, 0);
  const int before = sc_core::sc_report_handler::get_count(sc_core::SC_WARNING);
  for (const unsigned phase : {unsigned{tlm::END_REQ}, 77u}) target.respond(transaction, 0, tlm::tlm_phase(phase));
  REQUIRE(sc_core::sc_report_handler::get_count(sc_core::SC_WARNING) == before + 2);
  REQUIRE(initiator.responses == 0);
  target.respond(transaction);
  REQUIRE(initiator.responses == 1);
  transaction.release();
}

TEST_CASE("a target without data takes null data and one for messages takes no bytes") {
  Bench bench;
  bench.target.answer_at_once(0);
  Transaction& transaction = bench.make();
  bench.initiator.socket.send(transaction, 0);
  REQUIRE(bench.target.seen.size() == 1);
  bench.target.socket.expect({true, true});
  Transaction& message = bench.make(Operation::store, {1, 0, 0});
  bench.initiator.socket.send(message, 0);
  Transaction& wait = bench.make(Operation::wait, {1, 8, 0});
  bench.initiator.socket.send(wait, 0);
  REQUIRE(bench.target.seen.size() == 3);
  REQUIRE(bench.target.reported.empty());
}

TEST_CASE("a debug access of no bytes tells whether there is a way and a target without a handler has none") {
  Bench bench;
  REQUIRE_FALSE(bench.initiator.socket.reaches(64));
  tlm::tlm_dmi dmi;
  Transaction& transaction = bench.make(Operation::load);
  REQUIRE_FALSE(bench.initiator.socket->get_direct_mem_ptr(transaction, dmi));
  transaction.release();
}

}  // namespace t3vp::test::data_sockets_test
