// How long stores wait for a link, and how long it stands still for want of credits: to the picosecond, at any moment.
#include <catch2/catch.hpp>

#include "data_path/checked_sockets.h"
#include "data_path/initiator.h"
#include "data_path/target.h"
#include "interconnect/link.h"

namespace t3vp::test::link_waits_test {

using namespace interconnect;

namespace {

constexpr Picoseconds ns = 1000;

struct WaitsBench {
  Link link;
  DataInitiator sender{"sender"};
  DataTarget receiver{"receiver"};
  TransactionPool pool;
  CheckedSockets checks;

  /// A byte takes 100 ps, and each packet of up to 256 bytes has a header of 16.
  static LinkParameters parameters(std::uint32_t receive_buffer_bytes, std::uint32_t arbitration_bytes) {
    LinkParameters p;
    p.bandwidth_GBps = 10;
    p.latency = 500 * ns;
    p.header_bytes = 16;
    p.max_payload_bytes = 256;
    p.receive_buffer_bytes = receive_buffer_bytes;
    p.arbitration_bytes = arbitration_bytes;
    return p;
  }
  explicit WaitsBench(std::uint32_t receive_buffer_bytes, std::uint32_t arbitration_bytes = 0)
      : link("link", parameters(receive_buffer_bytes, arbitration_bytes), 1, 0, nullptr) {
    checks.join_test(sender.socket, link.in);
    checks.join(link.out, receiver.socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  /// Arrives at the link after `delay`; `lead` says how long before that its first packet has come.
  std::size_t send(const Lane& lane, std::uint32_t bytes, Picoseconds delay, Picoseconds lead = 0) {
    Transaction& store = pool.make(Operation::store, 0x1000, {1, bytes, 0});
    store.extension().traffic = TrafficClass::gemm_write;
    store.extension().fabric.lane = lane;
    store.extension().fabric.lead = lead;
    return sender.send(store, delay);
  }
  Picoseconds taken(std::size_t number) const { return sender.answer(number).taken_at; }
  static void run_to(Picoseconds time) { sc_core::sc_start(to_sc_time(time - now())); }
};

}  // namespace

// Channel 0 has a buffer of 1000 bytes. Its first store, 1000 bytes, is 4 packets: 1064 bytes on the wire, 106.4 ns.
// Its second one, 600 bytes, is 3 packets: 648 bytes, 64.8 ns. It gets its credits when the first one has arrived and
// they have come back: 106.4 + 2 x 500 = 1106.4 ns, and has waited since 0. In between channel 1 sends two stores of
// 100 bytes, 116 with the header and 11.6 ns each: one comes at 300 ns and goes at once, the other at 305 ns and waits
// until 311.6 ns. So stores wait 1106.4 + 6.6 ns, and the link stands still from 106.4 to 300 and from 323.2 to 1106.4.
TEST_CASE("waits are counted by stores, not packets, and stalls at any moment by the time so far") {
  constexpr Picoseconds first_left = 106'400, other_begins = 300'000, others_left = 323'200, credits = 1'106'400;
  WaitsBench bench(1000);
  bench.send({0, 0}, 1000, 0);
  const std::size_t second = bench.send({0, 0}, 600, 0);
  bench.send({1, 0}, 100, 300 * ns);
  bench.send({1, 0}, 100, 305 * ns);
  const auto require_stall = [&](Picoseconds stalled) {
    CAPTURE(now());
    CHECK(bench.link.begun().stalled == stalled);
    CHECK(bench.link.sent().stalled == stalled);
  };
  WaitsBench::run_to(100 * ns);
  require_stall(0);
  CHECK(bench.link.begun().stores == 1);
  CHECK(bench.link.begun().packets == 4);
  CHECK(bench.link.sent().stores == 0);
  WaitsBench::run_to(200 * ns);  // within the first stall
  const Picoseconds at_200 = 200 * ns - first_left;
  require_stall(at_200);
  CHECK(bench.link.sent().stores == 1);
  CHECK(bench.link.sent().waited == 0);
  WaitsBench::run_to(305 * ns);  // while it sends for the other channel
  require_stall(other_begins - first_left);
  WaitsBench::run_to(500 * ns);  // within the second stall: 300 ns since, but for the two stores of 11.6
  require_stall(at_200 + 300 * ns - 23'200);
  CHECK(bench.link.sent().waited == 6'600);
  CHECK(bench.link.begun().waited == 6'600);
  WaitsBench::run_to(1'150 * ns);  // while the second store is sent
  require_stall((other_begins - first_left) + (credits - others_left));
  CHECK(bench.link.begun().waited == credits + 6'600);
  CHECK(bench.link.sent().waited == 6'600);
  sc_core::sc_start();
  require_stall((other_begins - first_left) + (credits - others_left));
  for (const LinkTraffic& traffic : {bench.link.begun(), bench.link.sent()}) {
    CHECK(traffic.waited == credits + 6'600);
    CHECK(traffic.stores == 4);
    CHECK(traffic.packets == 4 + 3 + 1 + 1);
    CHECK(traffic.payload_bytes == 1'800);
    CHECK(traffic.wire_bytes == 1'800 + 9 * 16);
  }
  CHECK(bench.taken(second) == credits + 64'800);
}

TEST_CASE("a store that is interrupted waits once, until its first byte") {
  WaitsBench bench(4096, 272);  // quanta of a whole packet, 27.2 ns
  const std::size_t first = bench.send({0, 1}, 512, 0), second = bench.send({0, 2}, 512, 0);
  sc_core::sc_start();
  CHECK(bench.taken(first) == 3 * 27'200);
  CHECK(bench.taken(second) == 4 * 27'200);
  CHECK(bench.link.sent().waited == 27'200);  // the first one's second packet waits for the second one's first
  CHECK(bench.link.sent().stores == 2);
  CHECK(bench.link.sent().stalled == 0);
}

namespace {

/// What waits a while, since the link's buffer is full, and when it is over.
struct CutThrough {
  WaitsBench bench{1000};

  /// A store of 800 bytes on `channel`: 4 packets of 864 bytes, 86.4 ns. Its credits are back at 1086.4 ns. Another one
  /// on channel 1 comes at 1100 ns, whose first packet has come at 1050 ns. The time at which it has left.
  Picoseconds second_leaves(std::uint8_t channel) {
    bench.send({channel, 0}, 800, 0);
    const std::size_t second = bench.send({1, 1}, 800, 1'100 * ns, 50 * ns);
    sc_core::sc_start();
    return bench.taken(second);
  }
};

}  // namespace

TEST_CASE("what passes through has begun with its first packet, whatever another channel has waited for") {
  CutThrough link;
  CHECK(link.second_leaves(0) == 1'050'000 + 86'400);
}

TEST_CASE("what passes through has begun when its own channel's credits have come") {
  CutThrough link;
  CHECK(link.second_leaves(1) == 1'086'400 + 86'400);
}

}  // namespace t3vp::test::link_waits_test
