#include "nic/nic_bench.h"

namespace t3vp::test::operations_test {

using namespace nic;

TEST_CASE("a read brings the peer's bytes to its segments") {
  NicBench bench;
  bench.connect();
  const std::uint32_t key = bench.a.region(Side::data, 0x20000, local_write),
                      remote = bench.b.region(Side::data, 0x20000, remote_read);
  bench.b.fill(Side::data, Random(5).bytes(0x10000));
  const std::uint64_t to = bench.a.base + Side::data;
  for (const std::uint32_t first : {0u, 1u, 4096u, 10000u})
    for (const std::uint32_t second : {0u, 5u, 4097u}) {
      bench.a.fill(Side::data, std::vector<unsigned char>(0x10000));
      bench.a.post_segments(NicOpcode::read, bench.b.base + Side::data + 9, remote,
                            {{to + 0x8001, key, first}, {to + 3, key, second}});
      bench.a.ring();
      bench.settle();
      const auto done = bench.a.completions();
      REQUIRE(done.size() == 1);
      REQUIRE(syndrome_of(done[0]) == NicSyndrome::ok);
      REQUIRE(done[0].bytes == first + second);
      REQUIRE(bench.a.content(Side::data + 0x8001, first) == bench.b.content(Side::data + 9, first));
      REQUIRE(bench.a.content(Side::data + 3, second) == bench.b.content(Side::data + 9 + first, second));
      REQUIRE(bench.a.bytes[Side::data + 0x8001 + first] == 0);
    }
}

TEST_CASE("a read sees the writes before it, and its completion says that these are in place") {
  NicBench bench;
  bench.connect();
  const std::uint32_t key = bench.a.region(Side::data, 0x20000), remote = bench.b.region(Side::data, 0x20000);
  bench.a.fill(Side::data, Random(6).bytes(0x8000));
  bench.a.post_segments(NicOpcode::write, bench.b.base + Side::data, remote,
                        {{bench.a.base + Side::data, key, 0x8000}});
  bench.a.post_segments(NicOpcode::read, bench.b.base + Side::data, remote,
                        {{bench.a.base + Side::data + 0x8000, key, 0x8000}});
  bench.a.ring();
  bench.settle();
  REQUIRE((bench.a.content(Side::data + 0x8000, 0x8000) == bench.a.content(Side::data, 0x8000)));
  const auto done = bench.a.completions();
  REQUIRE(done.size() == 2);
  REQUIRE(done[1].opcode == static_cast<std::uint8_t>(NicOpcode::read));
}

TEST_CASE("fetch-and-adds of both sides add up, and each gets what was there before") {
  NicBench bench;
  bench.connect();
  const std::uint64_t counter = Side::data + 8;
  const std::uint32_t key_a = bench.a.region(Side::data, 0x1000), key_b = bench.b.region(Side::data, 0x1000);
  for (std::uint32_t i = 0; i < 8; ++i)
    bench.a.post_add(bench.b.base + counter, key_b, 5 + i, {bench.a.base + Side::data + 0x100 + 8 * i, key_a, 8});
  bench.a.ring();
  bench.settle();
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < 8; ++i) {
    REQUIRE(t3_number_at(&bench.a.bytes[Side::data + 0x100 + 8 * i], 8) == sum);
    sum += 5 + i;
  }
  REQUIRE(t3_number_at(&bench.b.bytes[counter], 8) == sum);
  REQUIRE(bench.a.completions().size() == 8);
}

TEST_CASE("a fetch-and-add that is not aligned is a remote invalid request") {
  NicBench bench;
  bench.connect();
  const std::uint32_t key = bench.a.region(Side::data, 64), remote = bench.b.region(Side::data, 64);
  bench.a.post_add(bench.b.base + Side::data + 4, remote, 1, {bench.a.base + Side::data, key, 8});
  bench.a.ring();
  bench.settle();
  const auto done = bench.a.completions();
  REQUIRE(done.size() == 1);
  REQUIRE(syndrome_of(done[0]) == NicSyndrome::remote_invalid_request);
  REQUIRE(bench.b.has_reported("a multiple of 8 expected"));
  for (const Side* side : {&bench.a, &bench.b})
    REQUIRE(static_cast<Status>(side->registers.reported.back().code) == Status::invalid_argument);
}

TEST_CASE("reads and fetch-and-adds need their own rights") {
  NicBench bench;
  const std::uint32_t key = bench.a.region(Side::data, 64), others = bench.b.region(Side::data, 64, remote_write);
  for (const std::uint32_t queue : {1u, 2u}) {
    bench.connect(queue);
    if (queue == 1)
      bench.a.post_segments(NicOpcode::read, bench.b.base + Side::data, others, {{bench.a.base + Side::data, key, 8}},
                            queue);
    else
      bench.a.post_add(bench.b.base + Side::data, others, 1, {bench.a.base + Side::data, key, 8}, queue);
    bench.a.ring(queue);
    bench.settle();
    const auto done = bench.a.completions();
    REQUIRE(done.size() == 1);
    REQUIRE(syndrome_of(done[0]) == NicSyndrome::remote_access);
    REQUIRE(bench.b.has_reported(queue == 1 ? "remote_read expected" : "remote_atomic expected"));
  }
}

TEST_CASE("a fence holds a write until the read before it has its bytes") {
  NicBench bench;
  const std::uint32_t key = bench.a.region(Side::data, 0x20000), remote = bench.b.region(Side::data, 0x20000);
  bench.b.fill(Side::data, Random(7).bytes(0x4000));
  for (const bool fence : {false, true}) {
    const std::uint32_t queue = fence ? 2 : 1;
    bench.connect(queue);
    bench.a.fill(Side::data, std::vector<unsigned char>(0x4000));
    bench.a.post_segments(NicOpcode::read, bench.b.base + Side::data, remote,
                          {{bench.a.base + Side::data, key, 0x4000}}, queue);
    bench.a.post_segments(NicOpcode::write, bench.b.base + Side::data + 0x8000, remote,
                          {{bench.a.base + Side::data, key, 0x4000}}, queue, fence);
    bench.a.ring(queue);
    bench.settle();
    REQUIRE(bench.a.completions().size() == 2);
    const bool copied = bench.b.content(Side::data + 0x8000, 0x4000) == bench.b.content(Side::data, 0x4000);
    REQUIRE(copied == fence);
  }
}

TEST_CASE("a write with immediate takes a receive entry, whose completion says that the data are there") {
  NicBench bench;
  bench.connect();
  bench.b.registers.set("receive_doorbell", 2);
  const std::uint32_t remote = bench.b.region(Side::data, 64);
  for (const std::uint32_t value : {17u, 18u}) {
    t3_nic_work_entry head = bench.a.head(NicOpcode::write_immediate, bench.b.base + Side::data, remote);
    head.flags = T3_NIC_WORK_ENTRY_FLAGS_INLINE;
    head.inline_bytes = 3;
    head.immediate = value;
    bench.a.post(head, {1, 2, static_cast<unsigned char>(value)});
    bench.a.ring();
    bench.settle();
    REQUIRE(bench.b.bytes[Side::data + 2] == value);
    const auto done = bench.b.completions();
    REQUIRE(done.size() == 1);
    REQUIRE(done[0].immediate == value);
    REQUIRE(done[0].bytes == 3);
    REQUIRE(done[0].index == value - 17);
    REQUIRE(done[0].opcode == static_cast<std::uint8_t>(NicOpcode::received));
  }
  REQUIRE(bench.a.registers["messages"] == 2);
}

}  // namespace t3vp::test::operations_test
