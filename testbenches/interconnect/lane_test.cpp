// Sharing of a link: lanes with round-robin arbitration, and virtual channels that do not wait for each other's
// credits.
#include <catch2/catch.hpp>

#include "data_path/checked_sockets.h"
#include "data_path/initiator.h"
#include "data_path/target.h"
#include "interconnect/link.h"

namespace t3vp::test::lane_test {

using namespace interconnect;

namespace {

constexpr Picoseconds ns = 1000;

struct LaneBench {
  Link link;
  DataInitiator sender{"sender"};
  DataTarget receiver{"receiver"};
  CheckedSockets checks;

  static LinkParameters parameters(std::uint32_t arbitration_bytes) {
    LinkParameters p;
    p.bandwidth_GBps = 1;  // a byte takes a nanosecond
    p.latency = 100 * ns;
    p.receive_buffer_bytes = 4096;
    p.arbitration_bytes = arbitration_bytes;
    return p;
  }
  explicit LaneBench(std::uint32_t arbitration_bytes) : link("link", parameters(arbitration_bytes), 1, 0, nullptr) {
    checks.join_test(sender.socket, link.in);
    checks.join(link.out, receiver.socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  std::size_t send(Lane lane, std::uint32_t bytes, Picoseconds delay = 0) {
    DataAccess access;
    access.operation = Operation::store;
    access.shape = {1, bytes, 0};
    access.lane = lane;
    access.traffic = TrafficClass::gemm_write;
    return sender.send(access, delay);
  }
  double taken_ns(std::size_t number) const { return to_ns(sender.answer(number).taken_at); }
};

}  // namespace

TEST_CASE("lanes take turns by whole packets when there is no arbitration quantum") {
  LaneBench bench(0);
  std::vector<std::size_t> numbers;
  for (const std::uint16_t input : std::vector<std::uint16_t>{1, 1, 1, 2, 2, 3})
    numbers.push_back(bench.send({0, input}, 500));
  sc_core::sc_start();
  const double taken[] = {500, 2000, 3000, 1000, 2500, 1500};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    INFO(i);
    CHECK(bench.taken_ns(numbers[i]) == taken[i]);
  }
}

TEST_CASE("what passes through goes before packets that begin here") {
  LaneBench bench(0);
  std::vector<std::size_t> numbers;
  for (const std::uint16_t input : std::vector<std::uint16_t>{0, 0, 0, 1, 1, 2})
    numbers.push_back(bench.send({0, input}, 500));
  sc_core::sc_start();
  const double taken[] = {2000, 2500, 3000, 500, 1500, 1000};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    INFO(i);
    CHECK(bench.taken_ns(numbers[i]) == taken[i]);
  }
}

TEST_CASE(
    "what passes through takes the link of a packet that has begun here at its next quantum until it is through") {
  LaneBench bench(100);
  const std::size_t own = bench.send({0, 0}, 1000), passing = bench.send({0, 1}, 500, 150 * ns);
  sc_core::sc_start();
  CHECK(bench.taken_ns(passing) == 700);
  CHECK(bench.taken_ns(own) == 1500);
}

TEST_CASE("what comes later waits for one quantum of another lane's packet and none of its own") {
  LaneBench bench(64);
  const std::size_t long_one = bench.send({0, 0}, 2000);
  const std::size_t other = bench.send({0, 1}, 64, 100 * ns);  // at 100 of 2000: the quantum ends at 128
  const std::size_t own = bench.send({0, 0}, 64, 100 * ns);
  sc_core::sc_start();
  CHECK(bench.taken_ns(other) == 192);
  CHECK(bench.taken_ns(long_one) == 2064);
  CHECK(bench.taken_ns(own) == 2128);
  CHECK(bench.link.busy_time() == 2128 * ns);
  CHECK(bench.link.sent().wire_bytes == 2128);
}

TEST_CASE("two long packets share the bandwidth by quanta") {
  LaneBench bench(100);
  const std::size_t first = bench.send({0, 1}, 1000), second = bench.send({0, 2}, 1000);
  sc_core::sc_start();
  CHECK(bench.taken_ns(first) == 1900);
  CHECK(bench.taken_ns(second) == 2000);
  CHECK(bench.link.busy_time() == 2000 * ns);
}

TEST_CASE("a virtual channel without credits holds up no other one") {
  LaneBench bench(0);
  bench.receiver.holds = true;
  for (int i = 0; i < 6; ++i) bench.send({0, 0}, 1024);
  const std::size_t other = bench.send({1, 0}, 1024);
  sc_core::sc_start();
  CHECK(bench.receiver.arrivals().size() == 5);  // four of the first channel
  CHECK(bench.sender.answer(other).taken == 1);
  const auto lines = bench.link.diagnosis();
  REQUIRE(lines.size() == 2);
  CHECK_THAT(lines[0], Catch::StartsWith("Link from GPU 1 to GPU 0: 2 packets wait for credits"));
  bench.receiver.holds = false;
  bench.receiver.answer_all();
  sc_core::sc_start();
  CHECK(bench.sender.unanswered() == 0);
}

TEST_CASE("credits come back to the channel that gave them though the next link has another lane for the packet") {
  LaneBench bench(0);
  bench.receiver.serve = [](tlm::tlm_generic_payload& packet) {
    extension_of(packet).fabric.lane = {0, 7};
    return tlm::TLM_OK_RESPONSE;
  };
  for (int i = 0; i < 12; ++i) bench.send({1, 0}, 4096);
  sc_core::sc_start();
  CHECK(bench.sender.unanswered() == 0);
}

}  // namespace t3vp::test::lane_test
