// Arguments that lie outside of the packet's entry are fetched behind it.
#include "bad_operands.h"

namespace t3vp::test::argument_memory_test {

using namespace compute;

namespace {

constexpr std::uint64_t argument_base = 0x1F0000;

/// A GEMM whose arguments lie in memory of their own.
GemmPacket distant_gemm(ClusterBench& bench) {
  GemmPacket packet = good_gemm(bench.parameters);
  packet.header.arguments = argument_base;
  t3_gemm_arguments_to(&packet, bench.memory.at(argument_base));
  return packet;
}

std::vector<LoggedAccess> fetches(const ClusterBench& bench) {
  std::vector<LoggedAccess> all;
  for (const LoggedAccess& access : bench.memory.accesses(Operation::load))
    if (access.traffic == TrafficClass::control) all.push_back(access);
  return all;
}

}  // namespace

TEST_CASE("arguments elsewhere are fetched when their packet has come and the launch is not later for it") {
  ClusterBench bench(ClusterBench::small(), false);
  const Picoseconds near = bench.run(good_gemm(bench.parameters));
  bench.memory.log.clear();
  REQUIRE(bench.run(distant_gemm(bench)) == near);
  const auto fetched = fetches(bench);
  REQUIRE(fetched.size() == 2);
  CHECK(fetched[1].address == argument_base);
  CHECK(fetched[1].shape.bytes() == T3_GEMM_ARGUMENTS_BYTES);
  CHECK(!fetched[1].cached);
  CHECK(fetched[1].arrival == fetched[0].arrival + bench.memory.latency);
}

TEST_CASE("arguments that come after the launch latency launch their kernel when they come") {
  ComputeParameters p = ClusterBench::small();
  p.launch_latency = 0;
  ClusterBench bench(p, false);
  const Picoseconds near = bench.run(good_gemm(p));
  REQUIRE(bench.run(distant_gemm(bench)) == near + bench.memory.latency);
}

TEST_CASE("arguments that cannot be read or that a program refuses end their packet alone") {
  ClusterBench bench(ClusterBench::small(), false);
  ClusterUnderTest& gpu = bench.gpu();
  bench.memory.judge = [](const LoggedAccess& access) {
    return access.address == argument_base ? tlm::TLM_ADDRESS_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE;
  };
  const std::uint64_t entry = gpu.next_entry();
  bench.run(distant_gemm(bench));
  REQUIRE(gpu.error() == Status::bad_packet);
  CHECK(gpu.registers.reported.back().text == "the arguments cannot be read");
  CHECK(gpu.registers.reported.back().address == entry);
  bench.memory.judge = nullptr;
  GemmPacket bad = distant_gemm(bench);
  bad.k = 0;
  t3_gemm_arguments_to(&bad, bench.memory.at(argument_base));
  bench.run(bad);
  REQUIRE(gpu.error() == Status::bad_packet);
  CHECK_THAT(gpu.registers.reported.back().text, Catch::StartsWith("k 0, "));
  bench.run(distant_gemm(bench));
  REQUIRE(gpu.error() == Status::ok);
}

TEST_CASE("a packet that is aborted while its arguments are fetched does not run") {
  ClusterBench bench(ClusterBench::small(), false);
  ClusterUnderTest& gpu = bench.gpu();
  gpu.put(bench.memory, distant_gemm(bench));
  gpu.ring();
  bench.wait(bench.memory.latency + bench.memory.latency / 2);
  REQUIRE(fetches(bench).size() == 2);
  gpu.abort();
  REQUIRE(bench.finish());
  REQUIRE(gpu.error() == Status::aborted);
  REQUIRE(gpu.cluster.finished_workgroups() == 0);
  bench.run(distant_gemm(bench));
  REQUIRE(gpu.error() == Status::ok);
}

}  // namespace t3vp::test::argument_memory_test
