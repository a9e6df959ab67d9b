#include "interconnect/link.h"

#include <catch2/catch.hpp>

#include "data_path/checked_sockets.h"
#include "data_path/foreign_access.h"
#include "data_path/random.h"
#include "data_path/target.h"

namespace t3vp::test::link_test {

using namespace interconnect;

namespace {

constexpr Picoseconds ns = 1000;

LinkParameters slow_link() {
  LinkParameters parameters;
  parameters.bandwidth_GBps = 10;  // a byte takes 100 ps
  parameters.latency = 500 * ns;
  parameters.header_bytes = 16;
  parameters.receive_buffer_bytes = 4096;
  return parameters;
}

struct LinkBench {
  LinkParameters parameters;
  Link link;
  DataInitiator sender{"sender"};
  DataTarget receiver{"receiver"};
  CheckedSockets checks;

  explicit LinkBench(const LinkParameters& p = slow_link()) : parameters(p), link("link", p, 1, 0, nullptr) {
    checks.join_test(sender.socket, link.in);
    checks.join(link.out, receiver.socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  static DataAccess packet(std::uint32_t bytes, std::uint32_t wg_id = 0) {
    DataAccess access;
    access.operation = Operation::update;
    access.address = 0x1000;
    access.shape = {1, bytes, 0};
    access.producer = {wg_id, 3, 1};
    return access;
  }
  std::size_t send(std::uint32_t bytes, Picoseconds delay = 0) { return sender.send(packet(bytes), delay); }
  Picoseconds wire_time(std::uint32_t bytes) const { return (bytes + parameters.header_bytes) * 100; }
  static void settle() { sc_core::sc_start(); }
};

}  // namespace

TEST_CASE("a packet takes its wire time with the header and is taken when it has left, then the latency") {
  LinkBench bench;
  const std::size_t number = bench.send(1000, 7 * ns);
  bench.settle();
  const DataAnswer& answer = bench.sender.answer(number);
  REQUIRE(answer.taken == 1);
  REQUIRE(answer.taken_at == answer.arrival + bench.wire_time(1000));
  REQUIRE(bench.receiver.arrivals().size() == 1);
  REQUIRE(bench.receiver.arrivals()[0].at == answer.taken_at + bench.parameters.latency);
  REQUIRE(bench.link.sent().payload_bytes == 1000);
  REQUIRE(bench.link.sent().wire_bytes == 1016);
  REQUIRE(bench.link.busy_time() == bench.wire_time(1000));
}

TEST_CASE("a link counts how long stores wait for their turn and how long it stands still for want of credits") {
  LinkParameters parameters = slow_link();
  parameters.receive_buffer_bytes = 1000;
  LinkBench bench(parameters);
  bench.send(1000);
  bench.send(1000);
  bench.settle();
  // The second store has to wait until the first one has left, has arrived and its credits are back.
  const Picoseconds first = bench.wire_time(1000), back = 2 * parameters.latency;
  CHECK(bench.link.sent().stores == 2);
  CHECK(bench.link.sent().waited == first + back);
  CHECK(bench.link.sent().stalled == back);
  CHECK(bench.link.begun().stalled == back);
}

TEST_CASE("a link that sends one store after the other does not stand still") {
  LinkBench bench;
  for (int i = 0; i < 3; ++i) bench.send(1000);
  bench.settle();
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS));  // in which no packet waits
  bench.send(1000);
  bench.settle();
  CHECK(bench.link.sent().waited == (1 + 2) * bench.wire_time(1000));
  CHECK(bench.link.sent().stalled == 0);
}

namespace {

struct Cut {
  Shape shape;
  std::uint64_t packets;
};

void require_packets(std::uint32_t max_payload_bytes, const std::vector<Cut>& cuts) {
  LinkParameters parameters = slow_link();
  parameters.max_payload_bytes = max_payload_bytes;
  LinkBench bench(parameters);
  LinkTraffic expected;
  Picoseconds busy = 0;
  for (const Cut& cut : cuts) {
    CAPTURE(cut.shape.rows, cut.shape.row_bytes, cut.shape.stride, max_payload_bytes);
    DataAccess access = LinkBench::packet(0);
    access.shape = cut.shape;
    const std::size_t number = bench.sender.send(access, 0);
    LinkBench::settle();
    const std::uint64_t wire = cut.shape.bytes() + cut.packets * parameters.header_bytes;
    expected += {cut.shape.bytes(), wire, cut.packets, 1, 0, 0};
    busy += wire * 100;
    CHECK(bench.sender.answer(number).taken_at == bench.sender.answer(number).arrival + wire * 100);
    for (const LinkTraffic& traffic : {bench.link.begun(), bench.link.sent()}) {
      CHECK(traffic.packets == expected.packets);
      CHECK(traffic.payload_bytes == expected.payload_bytes);
      CHECK(traffic.wire_bytes == expected.wire_bytes);
    }
    CHECK(bench.link.packets() == expected.packets);
    CHECK(bench.link.busy_time() == busy);
  }
}

}  // namespace

TEST_CASE("without max_payload_bytes a store of any shape is one packet") {
  require_packets(0, {{{1, 1000, 0}, 1}, {{16, 512, 512}, 1}, {{16, 512, 4096}, 1}});
}

TEST_CASE("a store has a header for each max_payload_bytes that it begins") {
  require_packets(256, {{{1, 8, 0}, 1}, {{1, 255, 0}, 1}, {{1, 256, 0}, 1}, {{1, 257, 0}, 2}, {{1, 1000, 0}, 4}});
}

TEST_CASE("rows that follow one another share packets and others have packets of their own") {
  require_packets(
      1024,
      {{{16, 512, 512}, 8}, {{16, 544, 544}, 9}, {{16, 512, 4096}, 16}, {{16, 1056, 4096}, 32}, {{1, 512, 4096}, 1}});
}

TEST_CASE("updates of fp16 elements travel as packets of half_update_bytes, each at least a sector") {
  LinkParameters parameters = slow_link();
  parameters.max_payload_bytes = 256;
  parameters.half_update_bytes = 4;
  LinkBench bench(parameters);
  struct Sent {
    Operation operation;
    ElementType element;
    std::uint64_t packets, carried;
  };
  for (const Sent& sent :
       {Sent{Operation::update, ElementType::fp16, 256, 256 * 32}, Sent{Operation::update, ElementType::fp32, 4, 1024},
        Sent{Operation::store, ElementType::fp16, 4, 1024}}) {
    const LinkTraffic before = bench.link.sent();
    DataAccess access = LinkBench::packet(1024);
    access.operation = sent.operation;
    access.element = sent.element;
    const std::size_t number = bench.sender.send(access, 0);
    LinkBench::settle();
    const std::uint64_t wire = sent.carried + sent.packets * parameters.header_bytes;
    CHECK(bench.link.sent().packets - before.packets == sent.packets);
    CHECK(bench.link.sent().payload_bytes - before.payload_bytes == 1024);
    CHECK(bench.link.sent().wire_bytes - before.wire_bytes == wire);
    CHECK(bench.sender.answer(number).taken_at == bench.sender.answer(number).arrival + wire * 100);
  }
}

TEST_CASE("a store is lost with any of its packets") {
  LinkParameters parameters = slow_link();
  parameters.max_payload_bytes = 256;
  parameters.drop_packet = 6;  // the last of the second store's
  LinkBench bench(parameters);
  for (const std::uint32_t bytes : {1000u, 700u, 64u}) bench.send(bytes);
  LinkBench::settle();
  REQUIRE(bench.link.packets() == 8);
  REQUIRE_FALSE(bench.link.dropped().empty());
  REQUIRE(bench.receiver.arrivals().size() == 2);
  CHECK(bench.receiver.arrivals()[0].extension.shape.bytes() == 1000);
  CHECK(bench.receiver.arrivals()[1].extension.shape.bytes() == 64);
}

TEST_CASE("a sender is answered with what the far end says, one latency after it") {
  LinkBench bench;
  bench.receiver.latency = 30 * ns;
  for (const tlm::tlm_response_status status :
       {tlm::TLM_OK_RESPONSE, tlm::TLM_ADDRESS_ERROR_RESPONSE, tlm::TLM_GENERIC_ERROR_RESPONSE}) {
    bench.receiver.serve = [status](tlm::tlm_generic_payload&) { return status; };
    const std::size_t number = bench.send(1000);
    bench.settle();
    const DataAnswer& answer = bench.sender.answer(number);
    REQUIRE(answer.count == 1);
    REQUIRE(answer.status == status);
    REQUIRE(answer.at == bench.receiver.arrivals().back().at + 30 * ns + bench.parameters.latency);
    REQUIRE(bench.link.diagnosis().empty());
  }
}

TEST_CASE("a far end that takes a packet gives its credits back and may answer much later") {
  LinkBench bench;
  bench.receiver.holds = true;
  for (int i = 0; i < 5; ++i) bench.send(1000);  // four fit
  bench.settle();
  REQUIRE(bench.receiver.arrivals().size() == 4);
  const Picoseconds taken = now();
  bench.receiver.take_all();
  bench.settle();
  REQUIRE(bench.receiver.arrivals().size() == 5);
  REQUIRE(bench.receiver.arrivals()[4].at ==
          taken + bench.parameters.latency + bench.wire_time(1000) + bench.parameters.latency);
  REQUIRE(bench.sender.unanswered() == 5);
  bench.receiver.answer_all();
  bench.settle();
  REQUIRE(bench.sender.unanswered() == 0);
  for (int i = 0; i < 5; ++i) bench.send(1000);  // nor have the answers given credits again
  bench.settle();
  REQUIRE(bench.receiver.arrivals().size() == 9);
}

TEST_CASE("the diagnosis tells what waits for credits and what is not acknowledged") {
  LinkBench bench;
  REQUIRE(bench.link.diagnosis().empty());
  bench.receiver.holds = true;
  for (int i = 0; i < 6; ++i) bench.send(1000);
  bench.settle();
  const auto lines = bench.link.diagnosis();
  REQUIRE(lines.size() == 2);
  CHECK_THAT(lines[0], Catch::Contains("Link from GPU 1 to GPU 0: 2 packets wait for credits, the first is the update "
                                       "of 1000 bytes at 0x1000 of GPU 1's workgroup 0 wavefront 3; 4000 of the "
                                       "receive buffer's 4096 bytes are taken"));
  CHECK_THAT(lines[1], Catch::Contains("4 packets that have left are not acknowledged by GPU 0"));
}

TEST_CASE("a packet arrives with its address, shape, ids and data") {
  LinkBench bench;
  Random random(1);
  DataAccess access = bench.packet(0, 42);
  access.shape = {4, 32, 256};
  access.data = random.bytes(128);
  access.element = ElementType::bf16;
  access.traffic = TrafficClass::rs_write;
  access.stream = Stream::communication;
  bench.sender.send(access);
  bench.settle();
  const DataTarget::Arrival& arrival = bench.receiver.arrivals().at(0);
  REQUIRE(arrival.address == access.address);
  REQUIRE(arrival.data == access.data);
  REQUIRE(arrival.extension.operation == Operation::update);
  REQUIRE(arrival.extension.shape.rows == 4);
  REQUIRE(arrival.extension.shape.stride == 256);
  REQUIRE(arrival.extension.producer.wg_id == 42);
  REQUIRE(arrival.extension.producer.wf_id == 3);
  REQUIRE(arrival.extension.element == ElementType::bf16);
  REQUIRE(arrival.extension.traffic == TrafficClass::rs_write);
  REQUIRE(arrival.extension.stream == Stream::communication);
}

TEST_CASE("packets leave in the order of their arrival, back to back, and none beats the bandwidth") {
  LinkParameters parameters = slow_link();
  parameters.receive_buffer_bytes = 1 << 20;
  LinkBench bench(parameters);
  Random random(2);
  std::vector<std::uint32_t> sizes;
  Picoseconds wire = 0;
  for (std::uint32_t i = 0; i < 200; ++i) {
    sizes.push_back(1 + random.below(64));
    DataAccess access = bench.packet(sizes.back(), i);
    bench.sender.send(access);
    wire += bench.wire_time(sizes.back());
  }
  bench.settle();
  const auto& arrivals = bench.receiver.arrivals();
  REQUIRE(arrivals.size() == sizes.size());
  Picoseconds left = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    REQUIRE(arrivals[i].extension.producer.wg_id == i);
    left += bench.wire_time(sizes[i]);
    REQUIRE(arrivals[i].at >= left + bench.parameters.latency);
  }
  REQUIRE(bench.link.busy_time() == wire);
  REQUIRE(arrivals.back().at == wire + bench.parameters.latency);
}

TEST_CASE("a receiver that does not answer stops the sender after the receive buffer is full") {
  LinkBench bench;
  bench.receiver.holds = true;
  for (int i = 0; i < 20; ++i) bench.send(1000);
  bench.settle();
  REQUIRE(bench.receiver.arrivals().size() == 4);  // 4 x 1000 of 4096 bytes
  REQUIRE(bench.sender.untaken() == 16);

  const Picoseconds answered = now();
  bench.receiver.answer_one();
  bench.settle();
  REQUIRE(bench.receiver.arrivals().size() == 5);  // the credit travels back, the packet there
  REQUIRE(bench.receiver.arrivals()[4].at ==
          answered + bench.parameters.latency + bench.wire_time(1000) + bench.parameters.latency);
  bench.receiver.holds = false;
  bench.receiver.answer_all();
  bench.settle();
  REQUIRE(bench.receiver.arrivals().size() == 20);
  REQUIRE(bench.receiver.most_bytes_held() <= bench.parameters.receive_buffer_bytes);
  REQUIRE(bench.sender.unanswered() == 0);
}

TEST_CASE("a packet larger than the receive buffer goes when the buffer is empty") {
  LinkBench bench;
  bench.receiver.holds = true;
  bench.send(100);
  bench.send(10'000);
  bench.settle();
  REQUIRE(bench.receiver.arrivals().size() == 1);
  bench.receiver.answer_one();
  bench.settle();
  REQUIRE(bench.receiver.arrivals().size() == 2);
}

TEST_CASE("signals use the wire but are no payload") {
  LinkBench bench;
  DataAccess signal = bench.packet(8, no_workgroup);
  signal.traffic = TrafficClass::control;
  bench.sender.send(signal);
  bench.settle();
  REQUIRE(bench.link.sent().payload_bytes == 0);
  REQUIRE(bench.link.sent().wire_bytes == 24);
}

TEST_CASE("data of no wavefront tile are payload") {
  LinkBench bench;
  bench.sender.send(bench.packet(1000, no_workgroup));
  bench.settle();
  REQUIRE(bench.link.sent().payload_bytes == 1000);
}

TEST_CASE("a link answers what is no packet with an error and carries on") {
  LinkBench bench;
  DataAccess load = bench.packet(64);
  load.operation = Operation::load;
  const std::size_t refused = bench.sender.send(load);
  BarePayload bare(tlm::TLM_WRITE_COMMAND, 0x1000, 64);
  const std::size_t without = bench.sender.send(bare.payload());
  DataExtension longer;
  longer.operation = Operation::store;
  longer.shape = {1, 128, 0};
  REQUIRE(blocking_access(bench.sender.socket, tlm::TLM_WRITE_COMMAND, 0x1000, std::vector<unsigned char>(64), &longer)
              .status == tlm::TLM_GENERIC_ERROR_RESPONSE);
  const std::size_t good = bench.send(64);
  bench.settle();
  REQUIRE(bench.sender.answer(refused).status == tlm::TLM_COMMAND_ERROR_RESPONSE);
  REQUIRE(bench.sender.answer(without).status == tlm::TLM_GENERIC_ERROR_RESPONSE);
  for (const std::size_t number : {refused, without}) REQUIRE(bench.sender.answer(number).count == 1);
  REQUIRE(bench.sender.answer(good).ok());
  REQUIRE(bench.receiver.arrivals().size() == 1);
}

TEST_CASE("a foreign initiator's b_transport returns when the far end has answered") {
  LinkBench bench;
  DataExtension extension;
  extension.operation = Operation::store;
  extension.shape = {1, 64, 0};
  const Picoseconds begin = now();
  const ForeignAnswer answer = blocking_access(bench.sender.socket, tlm::TLM_WRITE_COMMAND, 0x1000,
                                               std::vector<unsigned char>(64, 5), &extension);
  REQUIRE(answer.status == tlm::TLM_OK_RESPONSE);
  REQUIRE(answer.at == begin + bench.wire_time(64) + 2 * bench.parameters.latency);
  REQUIRE(bench.receiver.arrivals().at(0).data == std::vector<unsigned char>(64, 5));
}

TEST_CASE("what a link refuses is answered when it arrives, not when it was sent") {
  LinkBench bench;
  DataAccess load = bench.packet(64);
  load.operation = Operation::load;
  const std::size_t number = bench.sender.send(load, 7 * ns);
  bench.settle();
  REQUIRE(bench.sender.answer(number).at == bench.sender.answer(number).arrival);
}

TEST_CASE("a link serves blocking initiators between others") {
  LinkBench bench;
  bench.receiver.latency = 3 * ns;
  const std::vector<DataAccess> accesses(5, bench.packet(1000));
  const auto answers = blocking_accesses(bench.sender.socket, accesses, [&] {
    for (int i = 0; i < 10; ++i) bench.send(500);
  });
  REQUIRE(all_ok(answers));
  REQUIRE(bench.receiver.arrivals().size() == 25);
  for (const DataAnswer& answer : bench.sender.answers()) REQUIRE(answer.ok());
}

}  // namespace t3vp::test::link_test
