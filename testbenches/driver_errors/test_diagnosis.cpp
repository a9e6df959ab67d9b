// Two programs that do not fit together: nothing happens any more, and the diagnosis says who owes what.
#include <catch2/catch.hpp>

#include "driver_errors/gpu_pair.h"

using namespace t3vp::test;
using Catch::Contains;

TEST_CASE("a GEMM that was never started is owed where its stores should have arrived") {
  GpuPair pair(t3_fused, {}, guest_without_gemm);
  pair.run();
  const Lines lines = pair.diagnosis();
  CAPTURE(lines);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0] == "GPU 0 firmware waits for the chunks of dma_map");
  CHECK_THAT(lines[1], Contains("GPU 0 Tracker: workgroups 0 to 5: 0 of 24 wavefront tiles complete"));
  CHECK_THAT(lines[1], Contains("Workgroup 0 wavefront 0 at 0x"));
  CHECK_THAT(lines[1], Contains("has 1024 element updates and expects 2048, 2 per element"));
  CHECK_THAT(lines[1], Contains("1024 from GPU 0's GEMM, 0 from GPU 1's GEMM. GPU 1's GEMM owes 1024"));
  CHECK(lines[2] == "GPU 1 firmware waits for the chunks of dma_map");
  CHECK_THAT(lines[3], Contains("GPU 1 Tracker: workgroups 6 to 11"));
  CHECK_THAT(lines[3], Contains("0 from GPU 1's GEMM, 1024 from GPU 0's GEMM. GPU 1's GEMM owes 1024"));
  for (const std::string& line : lines) CHECK_THAT(line, !Contains("no program sends"));
}

TEST_CASE("a peer that left is seen by its missing signals, in few lines") {
  GpuPair pair(t3_sequential, {}, guest_that_leaves);
  pair.run();
  REQUIRE(pair.gpu(1).memory.tracker.shortages().size() == 1);  // nobody waits for it any more
  const Lines lines = pair.diagnosis();
  CAPTURE(lines);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == "GPU 0 firmware waits for a kernel's end");
  CHECK_THAT(lines[1], Contains("GPU 0 compute units: kernel 2 of 2 is not finished"));
  CHECK_THAT(lines[2], Contains("GPU 0 signals: a workgroup waits for counter 16 to reach 1, it is 0 (and 3 more)"));
}

TEST_CASE("what has ended has no diagnosis") {
  GpuPair pair(t3_fused);
  pair.run();
  REQUIRE(pair.diagnosis().empty());
  pair.require_right_result();
}
