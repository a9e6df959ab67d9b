// Kernels that do not run because a map or another writer is in the way of what they write.
#include "gemm_case.h"

namespace t3vp::test::in_the_way_test {

using namespace compute;

namespace {

GemmPacket gemm(const ClusterBench& bench, std::uint16_t flags) {
  return GemmCase(bench.parameters, 64, 64, 48, ElementType::fp16, flags).packet;
}

}  // namespace

TEST_CASE("a GEMM that stores through the cache does not run on a map and others do") {
  ClusterBench bench(ClusterBench::small());
  bench.gpu().others.map = "workgroups 1 to 2 are mapped";
  for (const int allowed : {flag::uncached + 0, flag::update + 0, flag::update | flag::uncached}) {
    bench.run(gemm(bench, static_cast<std::uint16_t>(allowed)));
    REQUIRE(bench.gpu().error() == Status::ok);
  }
  const std::uint64_t workgroups = bench.gpu().cluster.finished_workgroups();
  bench.run(gemm(bench, 0));
  REQUIRE(bench.gpu().error() == Status::mismatch);
  REQUIRE(bench.gpu().cluster.finished_workgroups() == workgroups);
  REQUIRE(bench.gpu().registers.reported.size() == 1);
  CHECK_THAT(bench.gpu().registers.reported[0].text,
             Catch::StartsWith("the kernel works on 0x90000 to 0x91fff and stores through the cache") &&
                 Catch::EndsWith(": workgroups 1 to 2 are mapped"));
  bench.gpu().others.map.clear();
  bench.run(gemm(bench, 0));
  REQUIRE(bench.gpu().error() == Status::ok);
}

TEST_CASE("no kernel runs where somebody else writes") {
  ClusterBench bench(ClusterBench::small());
  bench.gpu().others.write = "a fill zeroes 0x90000 to 0x9001f";
  for (const int flags : {0, flag::uncached | flag::update}) {
    bench.run(gemm(bench, static_cast<std::uint16_t>(flags)));
    REQUIRE(bench.gpu().error() == Status::busy);
    REQUIRE(bench.gpu().registers.reported.size() == 1);
    CHECK_THAT(bench.gpu().registers.reported[0].text,
               Catch::StartsWith("the kernel writes 0x90000 to 0x91fff: a fill zeroes 0x90000 to 0x9001f"));
    bench.gpu().registers.reported.clear();
  }
  REQUIRE(bench.gpu().cluster.finished_workgroups() == 0);
  bench.gpu().others.write.clear();
  bench.run(gemm(bench, 0));
  REQUIRE(bench.gpu().error() == Status::ok);
}

}  // namespace t3vp::test::in_the_way_test
