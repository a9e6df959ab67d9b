// Every rule of the data path's checker is broken once, by an initiator or a target that breaks nothing else.
#include <catch2/catch.hpp>

#include "checker_bench.h"

namespace t3vp::test::protocol_checker_test {

TEST_CASE("traffic that keeps the rules passes the checker unchanged and unmentioned") {
  CheckerBench bench;
  std::vector<Payload*> seen;
  bench.target.non_blocking = [&](Payload& t, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    CHECK(phase == tlm::BEGIN_REQ);
    CHECK(from_sc_time(delay) == 500);
    seen.push_back(&t);
    t.set_response_status(tlm::TLM_OK_RESPONSE);
    delay += to_sc_time(300);
    return seen.size() == 1 ? tlm::TLM_COMPLETED : tlm::TLM_ACCEPTED;
  };
  Transaction &first = bench.make(), &second = bench.make(Operation::load), &third = bench.make();
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = to_sc_time(500);
  REQUIRE(bench.initiator.socket->nb_transport_fw(first, phase, delay) == tlm::TLM_COMPLETED);
  REQUIRE(from_sc_time(delay) == 800);
  REQUIRE(bench.initiator.request(second, 500) == tlm::TLM_ACCEPTED);
  REQUIRE(bench.initiator.request(third, 500) == tlm::TLM_ACCEPTED);
  REQUIRE(bench.probes.in_flight() == 2);
  second.get_data_ptr()[0] = 1;  // data of a load
  bench.target.respond(third, 500);
  bench.target.respond(second, 900);
  REQUIRE(bench.initiator.responses == 2);
  REQUIRE(bench.probes.in_flight() == 0);
  Transaction& blocking = bench.make();
  bench.block(blocking, 700);
  REQUIRE(bench.initiator.socket->transport_dbg(bench.make(Operation::load)) == 32);
  bench.found_nothing();
}

TEST_CASE("a block on the route may change some fields when it sends a request on and restore them") {
  RawInitiator<256, DataProtocol> next("next");
  RawTarget<256, DataProtocol> memory("memory");
  SocketProbes probes(true);
  probes.join(next.socket, memory.socket);
  CheckerBench bench;
  memory.non_blocking = [](Payload& t, tlm::tlm_phase&, sc_core::sc_time&) {
    t.set_response_status(tlm::TLM_OK_RESPONSE);
    return tlm::TLM_COMPLETED;
  };
  std::uint64_t responds_with = 0;
  bench.target.non_blocking = [&](Payload& t, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    DataExtension& extension = extension_of(t);
    t.set_address(0x1000);
    extension.operation = Operation::update;
    extension.stream = Stream::communication;
    extension.traffic = TrafficClass::rs_write;
    extension.cached = false;
    extension.producer.wg_id = 9;
    const auto answer = next.socket->nb_transport_fw(t, phase, delay);
    t.set_address(responds_with);
    return answer;
  };
  for (const unsigned address : {0x1000u, 0x40u}) {
    responds_with = address;
    bench.initiator.request(bench.make());
    bench.found_nothing();
  }
  responds_with = 0x2000;
  bench.initiator.request(bench.make());
  bench.found("address changed after the request was sent", by_target);
}

TEST_CASE("an address that is changed after the request was sent is reported with both addresses") {
  CheckerBench bench;
  bench.accept();
  Transaction& transaction = bench.make();
  bench.initiator.request(transaction);
  transaction.set_address(0x1000);
  bench.target.respond(transaction);
  const std::vector<Violation> list = bench.probes.violations().take();
  REQUIRE(list.size() == 1);
  CHECK(list[0].text() ==
        "initiator.socket -> target.socket: address changed after the request was sent: store of 32 bytes at 0x1000 at "
        "0.000 ns, sent to 0x40 at 0.000 ns");
}

TEST_CASE("the checker sees every malformed request and that a target answers it with OK") {
  CheckerBench bench;
  bool refuses = true;
  bench.target.non_blocking = [&](Payload& t, tlm::tlm_phase&, sc_core::sc_time& delay) {
    t.set_response_status(refuses ? tlm::TLM_GENERIC_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE);
    delay = sc_core::SC_ZERO_TIME;
    return tlm::TLM_COMPLETED;
  };
  const auto sent = [&](const char* rule, auto spoil) {
    Transaction& transaction = bench.make();
    spoil(transaction);
    bench.initiator.request(transaction);
    bench.found(rule, by_initiator);
  };
  sent("no data extension", [](Transaction& t) { t.clear_extension(&t.extension()); });
  sent("operation", [](Transaction& t) { t.extension().operation = static_cast<Operation>(9); });
  sent("command and operation", [](Transaction& t) { t.set_read(); });
  sent("element type", [](Transaction& t) { t.extension().element = static_cast<ElementType>(9); });
  sent("traffic class",
       [](Transaction& t) { t.extension().traffic = static_cast<TrafficClass>(traffic_classes_most); });
  sent("stream", [](Transaction& t) { t.extension().stream = static_cast<Stream>(9); });
  sent("byte enables", [&](Transaction& t) { t.set_byte_enable_ptr(&bench.byte); });
  sent("streaming width", [](Transaction& t) { t.set_streaming_width(1); });
  sent("no rows", [](Transaction& t) { t.extension().shape.rows = 0; });
  sent("data length", [](Transaction& t) { t.extension().shape.rows = 3; });
  sent("beyond its GPU", [](Transaction& t) { t.extension().shape.stride = ~std::uint64_t{0}; });

  Transaction& wrong = bench.make();
  bench.initiator.request(wrong, 0, tlm::END_RESP);
  bench.found("phase", by_initiator);
  bench.initiator.request(bench.make(), longest_delay + 1);
  bench.found("delay that wraps", by_initiator);
  Payload unowned;
  DataExtension extension;
  extension.operation = Operation::store;
  extension.shape = {1, 1, 0};
  unowned.set_extension(&extension);
  unowned.set_write();
  unowned.set_address(0x40);
  unowned.set_data_ptr(&bench.byte);
  unowned.set_data_length(1);
  unowned.set_streaming_width(1);
  bench.initiator.request(unowned);
  bench.found("memory manager", by_initiator);
  unowned.clear_extension(&extension);

  refuses = false;
  Transaction& accepted = bench.make();
  accepted.set_streaming_width(1);
  bench.initiator.request(accepted);
  const auto both = bench.probes.violations().take();
  REQUIRE(both.size() == 2);
  CHECK(both[1].by == by_target);
  CHECK_THAT(both[1].rule, Catch::Contains("malformed request answered with OK"));
}

TEST_CASE("the checker sees a request whose status is set and one sent twice and a response answered wrongly") {
  CheckerBench bench;
  Transaction& preset = bench.make();
  preset.set_response_status(tlm::TLM_OK_RESPONSE);
  bench.initiator.request(preset);
  bench.found("not INCOMPLETE", by_initiator);

  bench.accept();
  Transaction& twice = bench.make();
  bench.initiator.request(twice);
  twice.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  bench.initiator.request(twice);
  bench.found("sent again", by_initiator);
  bench.target.respond(twice);
  bench.found_nothing();

  bench.initiator.answer = tlm::TLM_ACCEPTED;
  Transaction& ended = bench.make();
  bench.initiator.request(ended);
  bench.target.respond(ended);
  bench.found("not answered with TLM_COMPLETED", by_initiator);
}

TEST_CASE("the checker sees answers of the request call that the protocol does not have") {
  CheckerBench bench;
  const auto answered = [&](tlm::tlm_sync_enum answer, tlm::tlm_phase phase_back) {
    bench.target.non_blocking = [=](Payload& t, tlm::tlm_phase& phase, sc_core::sc_time&) {
      t.set_response_status(tlm::TLM_OK_RESPONSE);
      phase = phase_back;
      return answer;
    };
    bench.initiator.request(bench.make());
    bench.found("neither TLM_ACCEPTED nor TLM_COMPLETED", by_target);
  };
  answered(tlm::TLM_UPDATED, tlm::BEGIN_RESP);
  answered(tlm::TLM_ACCEPTED, tlm::END_REQ);
}

TEST_CASE("the checker sees responses within a request call and twice and to nothing and with a wrong phase") {
  CheckerBench bench;
  bench.target.non_blocking = [&](Payload& t, tlm::tlm_phase&, sc_core::sc_time&) {
    t.set_response_status(tlm::TLM_OK_RESPONSE);
    bench.target.respond(t);
    return tlm::TLM_ACCEPTED;
  };
  bench.initiator.request(bench.make());
  bench.found("within a request call", by_target);
  bench.target.non_blocking = [&](Payload& t, tlm::tlm_phase&, sc_core::sc_time&) {
    t.set_response_status(tlm::TLM_OK_RESPONSE);
    bench.target.respond(t);
    return tlm::TLM_COMPLETED;
  };
  bench.initiator.request(bench.make());
  REQUIRE(bench.probes.violations().list().size() == 2);
  CHECK_THAT(bench.probes.violations().take()[1].rule, Catch::Contains("completed that has had its response"));

  bench.accept();
  Transaction& once = bench.make();
  bench.initiator.request(once);
  bench.target.respond(once, 0, tlm::END_RESP);
  bench.found("phase other than END_REQ and BEGIN_RESP", by_target);
  bench.target.respond(once);
  bench.found_nothing();
  bench.target.respond(once);
  bench.found("nothing that is under way", by_target);
}

TEST_CASE("the checker sees a response without a status and before its request and with a delay that wraps") {
  CheckerBench bench;
  bench.accept();
  const auto answered = [&](const char* rule, Picoseconds request, Picoseconds response, bool with_status = true) {
    Transaction& transaction = bench.make();
    bench.initiator.request(transaction, request);
    if (!with_status) transaction.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    bench.target.respond(transaction, response);
    bench.found(rule, by_target);
  };
  answered("status is INCOMPLETE", 0, 0, false);
  answered("before its request", 500, 499);
  answered("delay that wraps", 0, longest_delay + 1);
  bench.target.non_blocking = [](Payload& t, tlm::tlm_phase&, sc_core::sc_time& delay) {
    t.set_response_status(tlm::TLM_OK_RESPONSE);
    delay = sc_core::SC_ZERO_TIME;
    return tlm::TLM_COMPLETED;
  };
  bench.initiator.request(bench.make(), 500);
  bench.found("before its request", by_target);
}

TEST_CASE("the checker sees every field that is changed on the way") {
  CheckerBench bench;
  bench.accept();
  const auto changed = [&](const char* rule, auto change, Operation operation = Operation::store) {
    Transaction& transaction = bench.make(operation);
    bench.initiator.request(transaction);
    change(transaction);
    bench.target.respond(transaction);
    bench.found(rule, by_target);
  };
  const auto in_extension = [](auto change) { return [change](Transaction& t) { change(t.extension()); }; };
  DataExtension other;
  changed(
      "command changed", [](Transaction& t) { t.set_write(); }, Operation::load);
  changed(
      "data pointer changed", [&](Transaction& t) { t.set_data_ptr(&bench.byte); }, Operation::load);
  changed(
      "data length changed", [](Transaction& t) { t.set_data_length(8); }, Operation::load);
  changed("streaming width changed", [](Transaction& t) { t.set_streaming_width(8); });
  changed("byte enables changed", [&](Transaction& t) { t.set_byte_enable_ptr(&bench.byte); });
  changed("data of a write changed", [](Transaction& t) { t.get_data_ptr()[31] ^= 1; });
  changed("extension exchanged", [](Transaction& t) { t.clear_extension(&t.extension()); });
  changed("operation changed", in_extension([](DataExtension& e) { e.operation = Operation::wait; }));
  changed("address changed", [](Transaction& t) { t.set_address(0x1000); });
  changed("operation changed", in_extension([](DataExtension& e) { e.operation = Operation::update; }));
  changed("stream changed", in_extension([](DataExtension& e) { e.stream = Stream::communication; }));
  changed("traffic class changed", in_extension([](DataExtension& e) { e.traffic = TrafficClass::rs_write; }));
  changed("cached changed", in_extension([](DataExtension& e) { e.cached = !e.cached; }));
  changed("producer changed", in_extension([](DataExtension& e) { e.producer.wg_id = 9; }));
  changed("shape changed", in_extension([](DataExtension& e) { e.shape.stride = 128; }));
  changed("shape changed", in_extension([](DataExtension& e) { e.shape = {1, 32, 64}; }));
  changed("element type changed", in_extension([](DataExtension& e) { e.element = ElementType::fp32; }));
  changed("threshold changed", in_extension([](DataExtension& e) { e.threshold = 1; }));
  changed("addend changed", in_extension([](DataExtension& e) { e.addend = 1; }));
  changed("real changed", in_extension([](DataExtension& e) { e.real = true; }));
  changed("what a request or answer is about changed",
          in_extension([&](DataExtension& e) { e.fabric.asked = &bench.make(Operation::load); }));
  changed("token changed", in_extension([](DataExtension& e) { e.token = 1; }));
  changed("queue changed", in_extension([](DataExtension& e) { e.queue = 1; }));
}

TEST_CASE("the checker sees what is wrong with a blocking call") {
  CheckerBench bench;
  const auto served = [&](const char* rule, auto serve) {
    bench.target.blocking = [serve](Payload& t, sc_core::sc_time& delay) {
      t.set_response_status(tlm::TLM_OK_RESPONSE);
      serve(t, delay);
    };
    bench.block(bench.make(), 500);
    bench.found(rule, by_target);
  };
  served("status is INCOMPLETE",
         [](Payload& t, sc_core::sc_time&) { t.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE); });
  served("before its request", [](Payload&, sc_core::sc_time& delay) { delay = sc_core::SC_ZERO_TIME; });
  served("delay that wraps", [](Payload&, sc_core::sc_time& delay) { delay = to_sc_time(longest_delay + 1); });
  served("address changed", [](Payload& t, sc_core::sc_time&) { t.set_address(0x1000); });
  served("data length changed",
         [](Payload& t, sc_core::sc_time&) { t.set_data_length(8), t.set_read(), t.set_write(); });
  served("references held", [](Payload& t, sc_core::sc_time&) { t.acquire(); });

  bench.target.blocking = [](Payload& t, sc_core::sc_time&) { t.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE); };
  Transaction& malformed = bench.make();
  malformed.set_streaming_width(1);
  bench.block(malformed);
  bench.found("streaming width", by_initiator);
  bench.block(bench.make(), longest_delay + 1);
  const auto late = bench.probes.violations().take();  // and the response is as late
  REQUIRE(late.size() == 2);
  CHECK(late[0].by == by_initiator);
}

TEST_CASE("the checker sees what is wrong with debug and direct accesses of the data path") {
  CheckerBench bench;
  const auto served = [&](const char* rule, std::function<unsigned(Payload&)> serve) {
    bench.target.debug = std::move(serve);
    bench.initiator.socket->transport_dbg(bench.make());
    bench.found(rule, by_target);
  };
  served("more bytes", [](Payload&) { return 33u; });
  served("fewer bytes", [](Payload& t) {
    t.set_response_status(tlm::TLM_OK_RESPONSE);
    return 16u;
  });
  served("address of a debug access changed", [](Payload& t) {
    t.set_address(0x1000);
    return 32u;
  });
  served("data of a write changed", [](Payload& t) {
    t.get_data_ptr()[0] ^= 1;
    return 32u;
  });
  bench.target.debug = [](Payload&) {
    sc_core::wait(1, sc_core::SC_NS);
    return 32u;
  };
  sc_core::sc_spawn([&] { bench.initiator.socket->transport_dbg(bench.make()); });
  sc_core::sc_start(sc_core::sc_time(2, sc_core::SC_NS));
  bench.found("took time", by_target);

  bench.target.direct = [](Payload&, tlm::tlm_dmi&) { return true; };
  tlm::tlm_dmi dmi;
  bench.initiator.socket->get_direct_mem_ptr(bench.make(), dmi);
  bench.found("direct memory access granted", by_target);
}

TEST_CASE(
    "the list of violations is bounded and their count is not and without checks nothing is between the sockets") {
  Violations violations;
  for (int i = 0; i < 1000; ++i) violations.add({by_target, "place", "rule", "access"});
  REQUIRE(violations.count() == 1000);
  REQUIRE(violations.list().size() == Violations::kept);
  REQUIRE(violations.list()[0].text() == "place: rule: access");

  RawInitiator<256, DataProtocol> initiator("initiator");
  RawTarget<256, DataProtocol> target("target");
  SocketProbes probes(false);
  probes.join(initiator.socket, target.socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  REQUIRE(sc_core::sc_get_top_level_objects().size() == 2);
}

}  // namespace t3vp::test::protocol_checker_test
