// The engine's memory: how much of it a ring has, what waits for places, and that nothing waits for ever.
#include "endpoint/ring_bench.h"

namespace t3vp::test::endpoint_room_test {

using namespace endpoint;

namespace {

/// Three messages: the least that a ring goes on with.
EndpointParameters smallest() {
  EndpointParameters p;
  p.message_bytes = 64;
  p.rings = 1;
  p.sram_bytes = 192;
  return p;
}

Staged of_bytes(std::uint64_t bytes) {
  Staged staged;
  staged.bytes = bytes;
  return staged;
}

void require_sums(RingBench& bench, const Staged& staged, const std::vector<std::vector<unsigned char>>& sums) {
  for (std::uint32_t gpu = 0; gpu < bench.gpus; ++gpu)
    for (std::uint32_t part = 0; part < bench.gpus; ++part)
      REQUIRE(bench.bytes_of_part(gpu, staged, part) == sums[part]);
}

}  // namespace

TEST_CASE("a ring of any size ends with room for three messages, whatever the parts") {
  for (const auto& bench : RingBench::of_sizes({2, 3, 7, 8}, smallest())) {
    std::uint64_t ended = 0;
    for (const std::uint64_t bytes : {32u, 1024u, 10016u}) {
      CAPTURE(bench->gpus, bytes);
      const Staged staged = of_bytes(bytes);
      bench->fill(staged);
      std::vector<std::vector<unsigned char>> sums;
      for (std::uint32_t part = 0; part < bench->gpus; ++part) sums.push_back(bench->sum_of(staged, part));
      bench->start_all(staged);
      bench->settle();
      REQUIRE(bench->of[0]->registers["ended"] == ++ended);
      require_sums(*bench, staged, sums);
    }
    for (const auto& gpu : bench->of) {
      CHECK(gpu->registers["places"] == 2);
      CHECK(gpu->statistic("memory_bytes") == "192");
    }
    for (const std::uint64_t most : bench->wire.most_unanswered) CHECK(most == 2);
  }
}

TEST_CASE("a GPU that starts late is sent as many messages as it has places for, and all that is right afterwards") {
  RingBench bench(4);
  const Staged staged = of_bytes(0x8000);
  bench.fill(staged);
  std::vector<std::vector<unsigned char>> sums;
  for (std::uint32_t part = 0; part < 4; ++part) sums.push_back(bench.sum_of(staged, part));
  const std::uint64_t places = bench.of[2]->registers["places"];
  REQUIRE(places == 12);
  for (const std::uint32_t gpu : {0u, 1u, 3u}) REQUIRE(bench.start(gpu, staged) == Status::ok);
  bench.settle();
  CHECK(bench.wire.unanswered[1] == places);
  CHECK(bench.wire.sent[1] == places);
  CHECK(bench.busy(2));
  CHECK_THAT(bench.of[2]->engine.diagnosis().at(0),
             Catch::Contains("12 messages wait for a collective that has not been started"));
  CHECK_THAT(bench.of[1]->engine.diagnosis().at(0), Catch::Contains("GPU 2 has 12 of this GPU"));
  REQUIRE(bench.start(2, staged) == Status::ok);
  bench.settle();
  require_sums(bench, staged, sums);
  CHECK(bench.of[1]->statistic("stalled") != "0");
}

TEST_CASE("rings in use share the memory, and no GPU has more messages in flight than the next one has places") {
  RingBench bench(3);
  REQUIRE(bench.of[0]->registers["rings"] == 2);
  REQUIRE(bench.of[0]->registers["places"] == 12);
  for (const auto& gpu : bench.of) REQUIRE(gpu->registers.set("rings_used", 1) == tlm::TLM_OK_RESPONSE);
  REQUIRE(bench.of[0]->registers["places"] == 24);
  bench.start_all(of_bytes(0x8000));
  REQUIRE(bench.of[0]->registers.set("rings_used", 2) != tlm::TLM_OK_RESPONSE);
  bench.settle();
  for (const std::uint64_t most : bench.wire.most_unanswered) {
    CHECK(most <= 24);
    CHECK(most > 12);
  }
  CHECK(bench.of[0]->registers.set("rings_used", 0) != tlm::TLM_OK_RESPONSE);
  CHECK(bench.of[0]->registers.set("rings_used", 3) != tlm::TLM_OK_RESPONSE);
  CHECK(bench.of[0]->registers.set("rings_used", 2) == tlm::TLM_OK_RESPONSE);
}

TEST_CASE("memory, adders and wire add up to the time of a reduce-scatter of one message") {
  EndpointParameters p = RingBench::small();
  p.adder_GBps = 2;
  p.sram_GBps = 8;
  p.latency = 70'000;
  RingBench bench(2, p);
  Staged staged = of_bytes(512);
  staged.operation = RingOperation::reduce_scatter;
  const Picoseconds memory = p.latency + 300'000, sram = 256 * 1000 / 8, added = 256 * 1000 / 2;
  bench.start_all(staged);
  // Both parts are loaded at once. The first goes out when it is in the engine's memory; the other one follows it
  // there.
  const Picoseconds arrived = memory + sram + sram + bench.wire.latency;
  // The load of the second part has had the memory behind the first one's, and the message goes out behind both.
  const Picoseconds second = memory + 2 * sram;
  CHECK(second < arrived);
  const Picoseconds sum = arrived + sram + sram + added;
  const Picoseconds stored = sum + sram + p.latency + 300'000;
  bench.run_for(stored - 1 - now());
  CHECK(bench.of[0]->memory.arrivals().back().at == stored - 300'000);
  CHECK(bench.of[0]->registers["ended"] == 0);
  bench.run_for(2);
  CHECK(bench.of[0]->registers["ended"] == 1);
}

}  // namespace t3vp::test::endpoint_room_test
