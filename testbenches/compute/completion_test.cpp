// The kernel queue's reports of packets that have ended.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "gemm_case.h"

namespace t3vp::test::completion_test {

using namespace compute;

namespace {

GemmPacket small_gemm(const ClusterBench& bench) {
  return GemmCase(bench.parameters, 64, 32, 16, ElementType::fp16).packet;
}

void fail_stores(ClusterBench& bench) {
  bench.memory.judge = [](const LoggedAccess& access) {
    const bool wrong = access.operation == Operation::store && access.traffic != TrafficClass::control;
    return wrong ? tlm::TLM_GENERIC_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE;
  };
}

}  // namespace

TEST_CASE("every packet has a code of its own, the first failure stays until it is acknowledged") {
  ClusterBench bench(ClusterBench::small(), false);
  ClusterUnderTest& gpu = bench.gpu();
  std::mt19937 random(3);
  std::vector<Status> expected = {Status::ok};  // of packet 0, which there is not
  std::uint64_t first = 0;
  while (expected.size() <= 600) {  // the codes of the last 256 are kept
    for (int i = 0; i < 4; ++i) {
      GemmPacket packet = small_gemm(bench);
      const bool bad = random() % 3 == 0;
      if (bad) packet.k = 0;
      if (bad && first == 0) first = expected.size();
      expected.push_back(bad ? Status::bad_packet : Status::ok);
      gpu.put(bench.memory, packet);
    }
    gpu.ring();
    REQUIRE(bench.finish());
    REQUIRE(gpu.completed() == expected.size() - 1);
    for (std::size_t n = expected.size() > 256 ? expected.size() - 256 : 1; n < expected.size(); ++n)
      REQUIRE(gpu.code_of(n) == expected[n]);
    REQUIRE(gpu.registers["failed_packet"] == first);
    REQUIRE(gpu.first_error() == (first != 0 ? Status::bad_packet : Status::ok));
    REQUIRE((gpu.registers["interrupt"] & 3) == (first != 0 ? 3 : 1));
    if (random() % 4 != 0) continue;
    REQUIRE(gpu.registers.set("interrupt", 1) == tlm::TLM_OK_RESPONSE);
    REQUIRE(gpu.registers["failed_packet"] == first);
    REQUIRE(gpu.registers.set("interrupt", 2) == tlm::TLM_OK_RESPONSE);
    first = 0;
    REQUIRE(gpu.registers["failed_packet"] == 0);
    REQUIRE(gpu.first_error() == Status::ok);
    REQUIRE((gpu.registers["interrupt"] & 3) == 0);
    const auto failures = std::count(expected.begin(), expected.end(), Status::bad_packet);
    REQUIRE(gpu.registers["interrupt"] >> 8 == static_cast<std::uint64_t>(failures));
  }
}

// The refusals of 256 packets are kept, so that packets n and n + 256 share a bit; n and n + 32 share a place in two
// words.
TEST_CASE("every packet has a bit of its own that says whether it was refused, and the packet 256 later has it next") {
  ClusterBench bench(ClusterBench::small(), false);
  ClusterUnderTest& gpu = bench.gpu();
  GemmPacket good = small_gemm(bench), refused = good;
  refused.k = 0;
  const auto is_bad = [](std::uint64_t n) { return n == 3 || n == 40 || n == 3 + 32 || n == 3 + 256 + 32 || n == 300; };
  constexpr std::uint64_t packets = 600, kept = 256;
  for (std::uint64_t n = 1; n <= packets; n += 4) {
    for (std::uint64_t i = n; i < n + 4; ++i) gpu.put(bench.memory, is_bad(i) ? refused : good);
    gpu.ring();
    REQUIRE(bench.finish());
    const std::uint64_t last = gpu.completed();
    REQUIRE(last == n + 3);
    for (std::uint64_t i = last > kept ? last - kept + 1 : 1; i <= last; ++i)
      if (gpu.was_refused(i) != is_bad(i)) FAIL_CHECK("packet " << i << " of " << last);
  }
}

TEST_CASE("a packet whose kernel has failed was not refused, and a later one is not for an earlier one's refusal") {
  ClusterBench bench(ClusterBench::small());
  ClusterUnderTest& gpu = bench.gpu();
  GemmPacket refused = small_gemm(bench);
  refused.k = 0;
  bench.run(refused);
  fail_stores(bench);
  bench.run(small_gemm(bench));
  bench.memory.judge = nullptr;
  CHECK(gpu.was_refused(1));
  CHECK(gpu.code_of(2) == Status::disabled);
  CHECK_FALSE(gpu.was_refused(2));
  while (gpu.completed() < 256) bench.run(small_gemm(bench));
  CHECK(gpu.was_refused(1));  // the packet 256 later has its bit
  bench.run(small_gemm(bench));
  CHECK_FALSE(gpu.was_refused(257));
  bench.run(refused);
  CHECK(gpu.was_refused(258));
}

TEST_CASE("the first failure is told, not the last") {
  ClusterBench bench(ClusterBench::small());
  ClusterUnderTest& gpu = bench.gpu();
  fail_stores(bench);
  bench.run(small_gemm(bench));
  bench.memory.judge = nullptr;
  GemmPacket bad = small_gemm(bench);
  bad.element = 9;
  bench.run(bad);
  bench.run(small_gemm(bench));
  REQUIRE(gpu.first_error() == Status::disabled);
  REQUIRE(gpu.registers["failed_packet"] == 1);
  REQUIRE(gpu.code_of(1) == Status::disabled);
  REQUIRE(gpu.code_of(2) == Status::bad_packet);
  REQUIRE(gpu.code_of(3) == Status::ok);
}

TEST_CASE("a packet's end adds 1 to its completion signal, whatever its code") {
  ClusterBench bench(ClusterBench::small());
  ClusterUnderTest& gpu = bench.gpu();
  GemmPacket packet = small_gemm(bench);
  for (const std::uint32_t signal : {1u, 7u, 511u}) {
    packet.header.completion_signal = signal;
    packet.k = 16;
    for (std::uint64_t n = 1; n <= 3; ++n) {
      bench.run(packet);
      bench.wait(bench.memory.latency);
      REQUIRE(bench.memory.signal(0, signal) == n);
    }
    fail_stores(bench);
    bench.run(packet);
    bench.memory.judge = nullptr;
    packet.k = 0;
    bench.run(packet);
    bench.wait(bench.memory.latency);
    REQUIRE(gpu.error() == Status::bad_packet);
    REQUIRE(bench.memory.signal(0, signal) == 5);
    packet.header.arguments = 1;  // a header that cannot be believed
    bench.run(packet);
    bench.wait(bench.memory.latency);
    REQUIRE(bench.memory.signal(0, signal) == 5);
    packet.header.arguments = 0;
  }
}

TEST_CASE("a completion signal comes after everything that its kernel has stored") {
  ClusterBench bench(ClusterBench::small());
  GemmPacket packet = small_gemm(bench);
  packet.header.completion_signal = 3;
  bench.run(packet);
  bench.wait(bench.memory.latency);
  const auto stores = bench.memory.accesses(Operation::store);
  REQUIRE(stores.size() == 2 * 4 + 1);
  REQUIRE(!address_map::is_hbm(stores.back().address));
  for (std::size_t i = 0; i + 1 < stores.size(); ++i)
    REQUIRE(stores.back().arrival >= stores[i].arrival + bench.memory.latency);
}

}  // namespace t3vp::test::completion_test
