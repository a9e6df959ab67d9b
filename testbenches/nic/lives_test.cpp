// Queue pairs that are reset and connected again while packets of their earlier generations are in the NIC fabric.
#include <utility>

#include "data_path/register_values.h"
#include "nic/nic_bench.h"

namespace t3vp::test::lives_test {

using namespace nic;

namespace {

std::vector<unsigned char> bytes(std::size_t count, unsigned char value) {
  return std::vector<unsigned char>(count, value);
}

/// Queue pair 0 of one side alone.
void connect(Side& side, std::uint16_t peer) {
  side.describe_queue_pair(0, 0, peer, 0);
  for (std::uint64_t state = init; state <= ready_to_send; ++state) REQUIRE(side.go_to(state) == tlm::TLM_OK_RESPONSE);
}

NicSyndrome syndrome_of_last(Side& side) {
  const auto done = side.completions();
  REQUIRE(!done.empty());
  return syndrome_of(done.back());
}

}  // namespace

TEST_CASE("a queue pair that alone has been made anew is not taken for its earlier life") {
  NicBench bench;
  const std::uint32_t remote = bench.b.region(0, Side::size);
  bench.connect();
  bench.a.post_inline(bench.b.base + Side::data, remote, bytes(8, 1));
  bench.a.ring();
  bench.settle();
  REQUIRE(syndrome_of_last(bench.a) == NicSyndrome::ok);
  bench.a.go_to(reset_state);
  connect(bench.a, 1);
  bench.a.post_inline(bench.b.base + Side::data + 64, remote, bytes(8, 2));
  bench.a.ring();
  bench.settle();
  CHECK(syndrome_of_last(bench.a) == NicSyndrome::retry_exceeded);
  CHECK(bench.b.content(Side::data + 64, 8) == bytes(8, 0));
  CHECK(
      bench.b.has_reported("which has been reset since: this one has to be reset and connected anew, too, is dropped"));
}

TEST_CASE("a fetch-and-add of a new life is not answered with the sum of an earlier one") {
  NicBench bench;
  const std::uint32_t key = bench.a.region(0, Side::size), remote = bench.b.region(0, Side::size);
  bench.connect();
  bench.a.post_add(bench.b.base + Side::data, remote, 5, {bench.a.base + Side::data, key, 8});
  bench.a.ring();
  bench.settle();
  bench.a.go_to(reset_state);
  connect(bench.a, 1);
  bench.a.post_add(bench.b.base + Side::data + 64, remote, 7, {bench.a.base + Side::data, key, 8});
  bench.a.ring();
  bench.settle();
  CHECK(syndrome_of_last(bench.a) == NicSyndrome::retry_exceeded);
}

TEST_CASE("packets of an earlier life are dropped wherever a reset of both ends finds them") {
  WireParameters slow;
  slow.latency = 20'000'000;
  NicBench bench({}, true, slow);
  const std::uint32_t key = bench.a.region(0, Side::size), remote = bench.b.region(0, Side::size);
  constexpr std::uint64_t length = 0x8000;
  bench.a.fill(Side::data, bytes(length, 7));
  for (Picoseconds after = 100'000; after < 46'000'000; after += 870'000) {
    CAPTURE(after);
    bench.connect();
    bench.a.post_segments(NicOpcode::write, bench.b.base + 0x20000, remote, {{bench.a.base + Side::data, key, length}});
    bench.a.ring();
    bench.run_for(after);
    for (Side* side : {&bench.a, &bench.b}) side->go_to(reset_state);
    bench.run_for(1'000'000);  // in which memory takes what has come before
    bench.b.fill(0x20000, bytes(length, 0));
    (void)bench.a.completions();
    bench.connect();
    bench.a.post_inline(bench.b.base + 0x1F000, remote, bytes(8, 9));
    bench.a.ring();
    std::vector<t3_nic_completion> done;
    for (; done.empty(); done = bench.a.completions()) bench.run_for(100'000);
    REQUIRE(syndrome_of(done[0]) == NicSyndrome::ok);
    REQUIRE(bench.b.content(0x1F000, 8) == bytes(8, 9));
    bench.settle();
    REQUIRE((bench.b.content(0x20000, length) == bytes(length, 0)));
    bench.b.fill(0x1F000, bytes(8, 0));
    for (Side* side : {&bench.a, &bench.b}) side->go_to(reset_state);
  }
}

namespace {

Values shown_by(Side& side) { return t3vp::shown_by(side.nic, side.registers); }

}  // namespace

TEST_CASE("after a reset every register of a NIC is that of a new one, and its statistics are those of the run") {
  NicBench bench;
  bool is_lost = false;
  bench.wire.drops = [&](const Packet&) { return !std::exchange(is_lost, true); };
  for (Side* side : {&bench.a, &bench.b}) side->nic.registers.reset();
  const auto fresh_a = shown_by(bench.a), fresh_b = shown_by(bench.b);
  for (Side* side : {&bench.a, &bench.b}) side->completion_queue(0);
  bench.connect();
  const std::uint32_t key = bench.a.region(0, Side::size), remote = bench.b.region(0, Side::size);
  bench.a.post_segments(NicOpcode::write, bench.b.base + Side::data, remote, {{bench.a.base + Side::data, key, 9000}});
  bench.a.post_inline(bench.b.base + Side::data, remote, bytes(8, 1));
  bench.a.post_inline(bench.b.base + Side::data, remote + 1, bytes(8, 1));  // refused
  bench.a.ring();
  bench.settle();
  const auto driven_a = shown_by(bench.a), driven_b = shown_by(bench.b);
  for (const char* name : {"statistic doorbells", "statistic messages", "statistic writes", "statistic inline_writes",
                           "statistic written", "statistic completions", "statistic payload", "statistic packets",
                           "statistic wire_bytes", "statistic sending", "statistic acknowledgements",
                           "statistic resent", "statistic errors", "state 0", "interrupt 0", "produced 0", "key 0"}) {
    CAPTURE(name);
    CHECK(driven_a.at(name) != fresh_a.at(name));
  }
  CHECK(driven_b.at("statistic placed") >= 9008);
  CHECK(driven_a.at("messages 0") == driven_a.at("statistic messages"));
  const Values expected_a = expected_after_reset(fresh_a, bench.a.nic);
  const Values expected_b = expected_after_reset(fresh_b, bench.b.nic);
  for (Side* side : {&bench.a, &bench.b}) side->nic.registers.reset();
  bench.run_for(1'000);
  for (const auto& [side, expected] : {std::pair{&bench.a, &expected_a}, std::pair{&bench.b, &expected_b}})
    for (const auto& [name, value] : shown_by(*side)) {
      CAPTURE(name);
      CHECK(value == expected->at(name));
    }
  for (Side* side : {&bench.a, &bench.b}) CHECK_FALSE(side->interrupt.read());
}

}  // namespace t3vp::test::lives_test
