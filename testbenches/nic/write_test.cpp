#include <algorithm>

#include "nic/nic_bench.h"

namespace t3vp::test::write_test {

using namespace nic;

TEST_CASE("an inline write is in the peer's memory when its completion comes, which names it") {
  NicBench bench;
  bench.connect(3);
  const std::uint32_t key = bench.b.region(Side::data, 64, remote_write);
  const std::vector<unsigned char> content = Random(1).bytes(29);
  bench.a.post_inline(bench.b.base + Side::data + 5, key, content, 3);
  REQUIRE(bench.a.ring(3) == tlm::TLM_OK_RESPONSE);
  bench.settle();
  REQUIRE(bench.b.content(Side::data + 5, 29) == content);
  REQUIRE(bench.b.bytes[Side::data + 4] == 0);
  REQUIRE(bench.b.bytes[Side::data + 34] == 0);
  const auto done = bench.a.completions();
  REQUIRE(done.size() == 1);
  REQUIRE(syndrome_of(done[0]) == NicSyndrome::ok);
  REQUIRE(done[0].queue_pair == 3);
  REQUIRE(done[0].index == 0);
  REQUIRE(done[0].bytes == 29);
  REQUIRE(done[0].opcode == static_cast<std::uint8_t>(NicOpcode::write));
  REQUIRE(bench.a.registers["messages"] == 1);
  REQUIRE(bench.a.registers.element("finished", 3) == 1);
  REQUIRE(bench.a.registers.reported.empty());
  REQUIRE(bench.b.registers.reported.empty());
  REQUIRE(bench.a.nic.diagnosis().empty());
}

TEST_CASE("a write gathers its segments one behind the other over packets of the MTU") {
  NicBench bench;
  bench.connect();
  const std::uint32_t key = bench.a.region(Side::data, 0x20000, 0),
                      remote = bench.b.region(Side::data, 0x20000, remote_write);
  bench.a.fill(Side::data, Random(2).bytes(0x10000));
  const std::uint64_t from = bench.a.base + Side::data;
  for (const std::uint32_t first : {0u, 1u, 4095u, 4096u, 10000u})
    for (const std::uint32_t second : {0u, 3u, 4097u}) {
      const std::uint64_t packets = bench.wire.packets();
      bench.b.fill(Side::data, std::vector<unsigned char>(0x10000));
      bench.a.post_segments(NicOpcode::write, bench.b.base + Side::data + 7, remote,
                            {{from + 0x8001, key, first}, {from + 3, key, second}});
      bench.a.ring();
      bench.settle();
      std::vector<unsigned char> expected = bench.a.content(Side::data + 0x8001, first);
      const auto behind = bench.a.content(Side::data + 3, second);
      expected.insert(expected.end(), behind.begin(), behind.end());
      REQUIRE(bench.b.content(Side::data + 7, first + second) == expected);
      REQUIRE(bench.b.bytes[Side::data + 7 + first + second] == 0);
      const auto done = bench.a.completions();
      REQUIRE(done.size() == 1);
      REQUIRE(syndrome_of(done[0]) == NicSyndrome::ok);
      REQUIRE(done[0].bytes == first + second);
      REQUIRE(bench.wire.packets() - packets == std::max((first + second + 4095) / 4096, 1u) + 1);  // and its answer
    }
}

TEST_CASE("memory is accessed as communication and past the cache") {
  NicBench bench;
  bench.connect();
  const std::uint32_t key = bench.b.region(Side::data, 64);
  bench.a.post_inline(bench.b.base + Side::data, key, {1, 2, 3});
  bench.a.ring();
  bench.settle();
  for (const Side* side : {&bench.a, &bench.b})
    for (const DataTarget::Arrival& access : side->memory.arrivals()) {
      REQUIRE(access.extension.stream == Stream::communication);
      REQUIRE_FALSE(access.extension.cached);
    }
  REQUIRE(bench.a.memory.arrivals().size() == 3);  // record, entry, completion
  REQUIRE(bench.b.memory.arrivals().size() == 1);
}

TEST_CASE("writes of one queue pair arrive in their order, so that a flag says that the data are there") {
  NicBench bench;
  bench.connect();
  const std::uint32_t key = bench.a.region(Side::data, 0x10000), remote = bench.b.region(Side::data, 0x10000);
  bench.a.post_segments(NicOpcode::write, bench.b.base + Side::data, remote,
                        {{bench.a.base + Side::data, key, 0x8000}});
  bench.a.post_inline(bench.b.base + Side::data + 0x8000, remote, {1});
  bench.a.ring();
  bench.settle();
  const auto& arrivals = bench.b.memory.arrivals();
  REQUIRE(arrivals.size() == 9);
  for (std::size_t i = 0; i < 8; ++i) REQUIRE(arrivals[i].address == bench.b.base + Side::data + 4096 * i);
  REQUIRE(arrivals.back().address == bench.b.base + Side::data + 0x8000);
}

TEST_CASE("only what is signaled and what fails has a completion, and the phase turns with each round") {
  NicBench bench;
  bench.a.completion_queue(1, 4);
  bench.connect();
  bench.a.describe_queue_pair(5, 1, 1, 5);
  bench.b.describe_queue_pair(5, 0, 0, 5);
  for (Side* side : {&bench.a, &bench.b})
    for (const std::uint64_t state : {init, ready_to_receive, ready_to_send}) side->go_to(state, 5);
  const std::uint32_t key = bench.b.region(Side::data, 64);
  std::uint32_t found = 0;
  for (std::uint32_t round = 0; round < 20; ++round) {
    bench.a.post_inline(bench.b.base + Side::data, key, {1}, 5, false);
    bench.a.post_inline(bench.b.base + Side::data, key, {2}, 5, true);
    bench.a.ring(5);
    bench.settle();
    const auto done = bench.a.completions(1, 4);
    REQUIRE(done.size() == 1);
    REQUIRE(done[0].index == 2 * round + 1);
    bench.a.registers.set("consumed", ++found, 1);
  }
  REQUIRE(bench.a.registers.element("produced", 1) == 20);
  REQUIRE(bench.a.registers["overrun"] == 0);
  REQUIRE(bench.a.registers["messages"] == 40);
}

TEST_CASE("an armed completion queue raises the line with its next entry, once") {
  NicBench bench;
  bench.connect();
  const std::uint32_t key = bench.b.region(Side::data, 64);
  const auto write = [&] {
    bench.a.post_inline(bench.b.base + Side::data, key, {1});
    bench.a.ring();
    bench.settle();
  };
  write();
  REQUIRE_FALSE(bench.a.interrupt.read());
  REQUIRE(bench.a.registers["event"] == 1);
  bench.a.registers.set("arm", 1);
  write();
  REQUIRE(bench.a.interrupt.read());
  REQUIRE(bench.a.registers["interrupt"] == 1);
  REQUIRE(bench.a.registers["arm"] == 0);
  bench.a.registers.set("interrupt", 1);
  write();
  REQUIRE_FALSE(bench.a.interrupt.read());
  REQUIRE_FALSE(bench.b.interrupt.read());
}

TEST_CASE("without data the same packets go, and inline data are real") {
  NicBench bench(NicParameters(), false);
  bench.connect();
  const std::uint32_t key = bench.a.region(Side::data, 0x10000), remote = bench.b.region(Side::data, 0x10000);
  bench.a.fill(Side::data, Random(4).bytes(0x4000));
  bench.a.post_segments(NicOpcode::write, bench.b.base + Side::data, remote,
                        {{bench.a.base + Side::data, key, 0x4000}});
  bench.a.post_inline(bench.b.base + Side::data + 0x8000, remote, {7});
  bench.a.ring();
  bench.settle();
  REQUIRE(bench.b.bytes[Side::data + 0x8000] == 7);
  REQUIRE(bench.b.content(Side::data, 0x4000) == std::vector<unsigned char>(0x4000));
  REQUIRE(bench.a.completions().size() == 2);
}

}  // namespace t3vp::test::write_test
