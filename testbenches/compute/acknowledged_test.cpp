// Stores that are taken first and acknowledged later, as a peer does: workgroups go on when they are taken, the kernel
// ends when the last is acknowledged.
#include <catch2/catch.hpp>

#include "gemm_case.h"

namespace t3vp::test::acknowledged_test {

using namespace compute;

namespace {

constexpr Picoseconds way_back = 40'000'000;

GemmPacket gemm_of(const ClusterBench& bench, std::uint32_t workgroups) {
  return GemmCase(bench.parameters, 32 * workgroups, 32, 16, ElementType::fp16).packet;
}

}  // namespace

TEST_CASE("a kernel of any number of waves takes one way back longer when its stores are acknowledged late") {
  ClusterBench bench(ClusterBench::small(), false);
  for (const std::uint32_t workgroups : {1u, 6u, 20u}) {
    CAPTURE(workgroups);
    const auto time = [&](Picoseconds acknowledged_after) {
      bench.memory.acknowledged_after = acknowledged_after;
      const Picoseconds taken = bench.run(gemm_of(bench, workgroups));
      REQUIRE(bench.gpu().error() == Status::ok);
      return taken;
    };
    const Picoseconds at_once = time(0);
    REQUIRE(time(way_back) == at_once + way_back);
  }
}

TEST_CASE("a kernel is active until its last workgroup has finished, and busy until its stores are acknowledged") {
  ClusterBench bench(ClusterBench::small(), false);
  ClusterUnderTest& gpu = bench.gpu();
  bench.memory.acknowledged_after = way_back;
  gpu.put(bench.memory, gemm_of(bench, 8));
  gpu.ring();
  while (gpu.cluster.finished_workgroups() < 8) bench.wait(100'000);
  REQUIRE_FALSE(gpu.kernel_active.read());
  REQUIRE(gpu.busy());
  REQUIRE_FALSE(gpu.interrupt.read());
  REQUIRE(gpu.completed() == 0);
  REQUIRE(gpu.cluster.diagnosis().size() == 1);
  CHECK_THAT(gpu.cluster.diagnosis()[0],
             Catch::Contains("8 workgroups have started, 8 are done, 32 stores are not acknowledged"));
  REQUIRE(bench.finish());
  bench.wait(1);
  REQUIRE(gpu.interrupt.read());
  REQUIRE(gpu.completed() == 1);
}

TEST_CASE("what a peer refuses is the kernel's code, and its first refusal is reported with place and reason") {
  ClusterBench bench(ClusterBench::small(), false);
  ClusterUnderTest& gpu = bench.gpu();
  const std::pair<tlm::tlm_response_status, Status> answers[] = {{tlm::TLM_ADDRESS_ERROR_RESPONSE, Status::bad_address},
                                                                 {tlm::TLM_GENERIC_ERROR_RESPONSE, Status::disabled}};
  for (const Picoseconds after : {Picoseconds{1'000}, way_back})  // while workgroups run, and after the last of them
    for (const auto& [response, status] : answers) {
      bench.memory.acknowledged_after = after;
      std::uint64_t first = 0;
      bench.memory.judge = [&, refusal = response](const LoggedAccess& access) {
        if (access.operation != Operation::store) return tlm::TLM_OK_RESPONSE;
        if (first == 0) first = access.address;
        return refusal;
      };
      bench.run(gemm_of(bench, 12));
      REQUIRE(gpu.error() == status);
      REQUIRE(gpu.registers.reported.size() == 1);
      REQUIRE(gpu.registers.reported[0].address == first);
      CHECK_THAT(gpu.registers.reported[0].text, Catch::Contains("of GPU 0's workgroup 0 wavefront 0: refused "
                                                                 "by GPU 0: " +
                                                                 std::string(text_of(status))));
      REQUIRE(gpu.registers.take_report() == status);
      bench.memory.judge = nullptr;
      bench.run(gemm_of(bench, 12));
      REQUIRE(gpu.error() == Status::ok);
    }
}

}  // namespace t3vp::test::acknowledged_test
