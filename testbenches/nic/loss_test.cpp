#include "nic/nic_bench.h"

namespace t3vp::test::loss_test {

using namespace nic;

namespace {

constexpr std::uint64_t quick = 1 << 8 | 7;  ///< 8.192 us, 7 retries
constexpr std::uint64_t receiver_quick = 2ull << 24;

void set_retry(NicBench& bench, std::uint64_t value, std::uint32_t queue = 0) {
  for (Side* side : {&bench.a, &bench.b}) side->registers.set("retry", value, queue);
}

/// A write of several packets, a read, two fetch-and-adds and an inline write, and what they leave.
void post_all(NicBench& bench, std::uint32_t key, std::uint32_t remote) {
  const std::uint64_t here = bench.a.base + Side::data, there = bench.b.base + Side::data;
  bench.a.post_segments(NicOpcode::write, there, remote, {{here, key, 0x3001}});
  bench.a.post_segments(NicOpcode::read, there + 0x4000, remote, {{here + 0x8000, key, 0x3001}});
  bench.a.post_add(there + 0x8000, remote, 3, {here + 0xC000, key, 8});
  bench.a.post_add(there + 0x8000, remote, 4, {here + 0xC008, key, 8});
  bench.a.post_inline(there + 0x9000, remote, {9});
}

void require_all(NicBench& bench, std::uint64_t round) {
  const auto done = bench.a.completions();
  REQUIRE(done.size() == 5);
  for (const t3_nic_completion& entry : done) REQUIRE(syndrome_of(entry) == NicSyndrome::ok);
  REQUIRE((bench.b.content(Side::data, 0x3001) == bench.a.content(Side::data, 0x3001)));
  REQUIRE((bench.a.content(Side::data + 0x8000, 0x3001) == bench.b.content(Side::data + 0x4000, 0x3001)));
  REQUIRE(t3_number_at(&bench.b.bytes[Side::data + 0x8000], 8) == 7 * (round + 1));
  REQUIRE(t3_number_at(&bench.a.bytes[Side::data + 0xC000], 8) == 7 * round);
  REQUIRE(t3_number_at(&bench.a.bytes[Side::data + 0xC008], 8) == 7 * round + 3);
  REQUIRE(bench.b.bytes[Side::data + 0x9000] == 9);
  bench.a.registers.set("consumed", bench.a.registers.element("produced", 0));
}

}  // namespace

TEST_CASE("whichever packet is lost, all messages arrive once and in order") {
  NicBench bench;
  set_retry(bench, quick);
  bench.connect();
  const std::uint32_t key = bench.a.region(Side::data, 0x10000), remote = bench.b.region(Side::data, 0x10000);
  std::uint64_t round = 0;
  for (std::uint64_t lost = 0;; ++lost) {
    std::uint64_t number = 0;
    bool dropped = false;
    bench.wire.drops = [&](const Packet&) { return number++ == lost && (dropped = true); };
    bench.a.fill(Side::data, Random(static_cast<std::uint32_t>(lost)).bytes(0x8000));
    bench.b.fill(Side::data + 0x4000, Random(static_cast<std::uint32_t>(100 + lost)).bytes(0x4000));
    post_all(bench, key, remote);
    bench.a.ring();
    bench.settle();
    require_all(bench, round++);
    if (!dropped) break;
  }
  REQUIRE(round > 12);  // packets of one round and the round without a loss
}

TEST_CASE("random losses of a tenth of all packets do no harm") {
  NicBench bench;
  set_retry(bench, quick);
  bench.connect();
  const std::uint32_t key = bench.a.region(Side::data, 0x10000), remote = bench.b.region(Side::data, 0x10000);
  Random random(11);
  bench.wire.drops = [&](const Packet&) { return random.below(10) == 0; };
  for (std::uint64_t round = 0; round < 100; ++round) {
    bench.a.fill(Side::data, Random(static_cast<std::uint32_t>(round)).bytes(0x8000));
    post_all(bench, key, remote);
    bench.a.ring();
    bench.settle();
    require_all(bench, round);
  }
  REQUIRE(bench.wire.lost() > 100);
}

TEST_CASE("results that come before one that is lost are taken once") {
  NicBench bench;
  set_retry(bench, quick);
  bench.connect();
  const std::uint32_t key = bench.a.region(Side::data, 0x10000), remote = bench.b.region(Side::data, 0x10000);
  bench.b.fill(Side::data, Random(3).bytes(0x8000));
  Random random(12);
  bench.wire.drops = [&](const Packet&) { return random.below(8) == 0; };
  for (std::uint64_t round = 0; round < 50; ++round) {
    bench.a.fill(Side::data, std::vector<unsigned char>(0x8000));
    for (std::uint64_t i = 0; i < 7; ++i) {
      const std::uint64_t at = Side::data + 0x1000 * i, counter = Side::data + 0x9000 + 8 * i;
      bench.a.post_segments(NicOpcode::read, bench.b.base + at, remote, {{bench.a.base + at, key, 0x1000}});
      bench.a.post_add(bench.b.base + counter, remote, 1, {bench.a.base + counter, key, 8});
    }
    bench.a.ring();
    bench.settle();
    REQUIRE(bench.a.completions().size() == 14);
    REQUIRE(bench.a.registers.reported.empty());
    REQUIRE((bench.a.content(Side::data, 0x7000) == bench.b.content(Side::data, 0x7000)));
    for (std::uint64_t i = 0; i < 7; ++i)
      REQUIRE(t3_number_at(&bench.a.bytes[Side::data + 0x9000 + 8 * i], 8) == round);
    bench.a.registers.set("consumed", bench.a.registers.element("produced", 0));
  }
}

TEST_CASE("a peer that is gone ends the message with retry_exceeded after its retries") {
  NicBench bench;
  set_retry(bench, 1 << 8 | 3);
  bench.connect();
  const std::uint32_t remote = bench.b.region(Side::data, 64);
  bench.wire.drops = [](const Packet&) { return true; };
  bench.a.post_inline(bench.b.base + Side::data, remote, {1});
  bench.a.post_inline(bench.b.base + Side::data, remote, {1});
  bench.a.ring();
  bench.settle();
  const auto done = bench.a.completions();
  REQUIRE(done.size() == 2);
  REQUIRE(syndrome_of(done[0]) == NicSyndrome::retry_exceeded);
  REQUIRE(syndrome_of(done[1]) == NicSyndrome::flushed);
  REQUIRE(bench.wire.packets() == 2 * 4);
  REQUIRE(bench.a.has_reported("no acknowledgement has come, and sent 3 times again without progress"));
  const Picoseconds end = bench.a.memory.arrivals().back().at;
  REQUIRE(end > 4 * 8'192'000);
  REQUIRE(end < 4 * 8'192'000 + 3'000'000);
}

TEST_CASE("a queue pair that is not ready drops packets, which its NIC logs once") {
  NicBench bench;
  set_retry(bench, 1 << 8 | 3);
  bench.connect();
  bench.b.go_to(reset_state);
  bench.a.post_inline(bench.b.base + Side::data, 0, {1});
  bench.a.ring();
  bench.settle();
  REQUIRE(syndrome_of(bench.a.completions().at(0)) == NicSyndrome::retry_exceeded);
  REQUIRE(bench.b.registers.reported.size() == 1);
  REQUIRE(bench.b.has_reported("write packet 0 of queue pair 0 of NIC 0 for queue pair 0 in reset with peer"));
}

TEST_CASE("a receiver without a receive entry is tried again, and then has the message once") {
  NicBench bench;
  set_retry(bench, quick | receiver_quick | 7 << 16);
  bench.connect();
  const std::uint32_t remote = bench.b.region(Side::data, 64);
  bench.a.post_inline(bench.b.base + Side::data, remote, {5}, 0, true, NicOpcode::write_immediate);
  bench.a.post_inline(bench.b.base + Side::data + 1, remote, {6});
  bench.a.ring();
  bench.run_for(100'000'000);
  REQUIRE(bench.b.bytes[Side::data] == 0);
  REQUIRE(bench.a.completions().empty());
  REQUIRE(bench.a.nic.diagnosis().size() == 1);
  bench.b.registers.set("receive_doorbell", 1);
  bench.settle();
  REQUIRE(bench.b.bytes[Side::data] == 5);
  REQUIRE(bench.b.bytes[Side::data + 1] == 6);
  REQUIRE(bench.a.completions().size() == 2);
  REQUIRE(bench.b.completions().size() == 1);
}

TEST_CASE("a receiver that never has a receive entry ends the message with rnr_retry_exceeded") {
  NicBench bench;
  set_retry(bench, quick | receiver_quick | 2 << 16);
  bench.connect();
  const std::uint32_t remote = bench.b.region(Side::data, 64);
  bench.a.post_inline(bench.b.base + Side::data, remote, {5}, 0, true, NicOpcode::write_immediate);
  bench.a.ring();
  bench.settle();
  const auto done = bench.a.completions();
  REQUIRE(done.size() == 1);
  REQUIRE(syndrome_of(done[0]) == NicSyndrome::rnr_retry_exceeded);
  REQUIRE(bench.wire.packets() == 6);
  REQUIRE(bench.a.has_reported("has no receive entry, 2 times again"));
}

// Each message is refused twice, as often as possible, before there is a receive entry. A message is a packet. Each
// transmission gets a response, so a message takes 2 x 3 packets.
TEST_CASE("each message has all its retries to a receiver that is not ready, whatever those before it have used") {
  NicBench bench;
  set_retry(bench, quick | receiver_quick | 2 << 16);
  bench.connect();
  const std::uint32_t remote = bench.b.region(Side::data, 64);
  for (std::uint32_t message = 1; message <= 4; ++message) {
    CAPTURE(message);
    bench.a.post_inline(bench.b.base + Side::data + message, remote, {static_cast<unsigned char>(message)}, 0, true,
                        NicOpcode::write_immediate);
    bench.a.ring();
    const std::uint64_t refused_twice = 6 * (message - 1) + 4;
    for (int i = 0; i < 10'000 && bench.wire.packets() < refused_twice; ++i) bench.run_for(10'000);
    REQUIRE(bench.wire.packets() == refused_twice);
    CHECK(bench.a.completions().empty());
    bench.b.registers.set("receive_doorbell", message);
    bench.settle();
    const auto done = bench.a.completions();
    REQUIRE(done.size() == 1);
    REQUIRE(syndrome_of(done[0]) == NicSyndrome::ok);
    CHECK(bench.b.bytes[Side::data + message] == message);
    CHECK(bench.wire.packets() == 6 * message);
  }
  // The next one is sent three times, and then fails.
  bench.a.post_inline(bench.b.base + Side::data, remote, {9}, 0, true, NicOpcode::write_immediate);
  bench.a.ring();
  bench.settle();
  REQUIRE(syndrome_of(bench.a.completions().at(0)) == NicSyndrome::rnr_retry_exceeded);
  CHECK(bench.wire.packets() == 6 * 4 + 6);
  CHECK(bench.b.bytes[Side::data] == 0);
}

}  // namespace t3vp::test::loss_test
