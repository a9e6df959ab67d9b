// Two programs that do not fit together: nothing happens any more, and the diagnosis says who owes what.
#include <algorithm>
#include <catch2/catch.hpp>

#include "driver_errors/gpu_pair.h"

namespace t3vp::test::test_diagnosis {

using Catch::Contains;

namespace {

bool any_contains(const Lines& lines, const std::string& text) {
  return std::any_of(lines.begin(), lines.end(),
                     [&text](const std::string& line) { return line.find(text) != std::string::npos; });
}

}  // namespace

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
  CHECK_THAT(lines[2], Contains("GPU 0 signals: a workgroup waits for counter 16 to reach 1 by its neighbour's signal, "
                                "it is 0 (and 3 more)"));
}

TEST_CASE("signals on counters that no workgroup awaits are told with their sender") {
  GpuPair pair(guest_with_other_ring_counters, {}, guest_with_other_ring_counters);
  pair.run();
  const Lines lines = pair.diagnosis();
  CAPTURE(lines);
  CHECK(any_contains(
      lines,
      "GPU 0 signals: a workgroup waits for counter 20 to reach 1 by its neighbour's signal, it is 0 (and 3 "
      "more)"));
  CHECK(
      any_contains(lines,
                   "GPU 0 signals: no workgroup takes the signals of GPU 1's ring kernel on counter 16, it is 1 (and 3 "
                   "more)"));
  CHECK(
      any_contains(lines,
                   "GPU 1 signals: no workgroup takes the signals of GPU 0's ring kernel on counter 20, it is 1 (and 3 "
                   "more)"));
}

TEST_CASE("nobody owes what waits for the credits of a link or was lost on it") {
  // The first packet is the barrier's, the second the first update; its credits are all that the link has.
  GpuPair pair(t3_fused, {"system.links.receive_buffer_KiB=2", R"(inject.drop_packet={"link": 0, "packet": 1})"});
  pair.run();
  const Lines lines = pair.diagnosis();
  CAPTURE(lines);
  CHECK(any_contains(lines, "0 from GPU 0's GEMM. 1024 of GPU 0's GEMM have been sent and are not acknowledged"));
  CHECK_FALSE(any_contains(lines, "GPU 0's GEMM owes"));
  CHECK(any_contains(lines, "GPU 0 compute units: kernel 1 of 1 is not finished"));
  CHECK(any_contains(lines,
                     "GPU 0 links: 15 stores of its compute units are not acknowledged, 14 of them wait for a link"));
  CHECK(any_contains(
      lines, "Link from GPU 0 to GPU 1: 14 packets wait for credits, the first is the update of 2048 bytes at "));
  CHECK(any_contains(lines, "2048 of the receive buffer's 2048 bytes are taken"));
  CHECK(
      any_contains(lines,
                   "Link from GPU 0 to GPU 1: 1 packets that have left are not acknowledged by GPU 1, one of them was "
                   "lost"));
}

TEST_CASE("nobody owes what was refused where it arrived") {
  GpuPair pair(t3_fused, {}, guest_that_takes_no_updates);
  pair.run();
  const Lines lines = pair.diagnosis();
  CAPTURE(lines, pair.logged(0));
  REQUIRE(pair.gpu(0).processor.status() == t3vp::Status::disabled);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == "GPU 1 firmware waits for the chunks of dma_map");
  CHECK_THAT(lines[1], Contains("1024 of GPU 0's GEMM have not been counted, and it has ended: sent before the chunk "
                                "was mapped, refused, or stored plainly"));
  CHECK_THAT(lines[1], Contains("GPU 1's GEMM owes 1024"));
}

namespace {

void require_early(t3_program* sender, const std::string& name) {
  GpuPair pair(guest_that_maps_late, {}, sender);
  pair.run();
  const Lines lines = pair.diagnosis();
  CAPTURE(lines, pair.logged(0), pair.logged(1));
  REQUIRE(lines.size() >= 3);
  CHECK(lines[0] == "GPU 0 firmware waits for the chunks of dma_map");
  CHECK_THAT(lines[1], Contains("1024 from GPU 0's GEMM, 0 from " + name + ". 1024 of " + name +
                                " have not been counted, and it has ended: sent before the chunk was mapped"));
  for (const std::string& line : lines) CHECK_THAT(line, !Contains("owes"));
}

}  // namespace

TEST_CASE("nobody owes what was sent before its chunk was mapped whatever the sender does since") {
  require_early(guest_too_early, "GPU 1's GEMM");
}

TEST_CASE("no DMA engine owes what it sent before the chunk was mapped") {
  require_early(guest_dma_too_early, "GPU 1's DMA");
}

TEST_CASE("a GEMM that was never started is owed whatever else has run") {
  GpuPair pair(t3_fused, {}, guest_with_another_kernel);
  pair.run();
  const Lines lines = pair.diagnosis();
  CAPTURE(lines);
  REQUIRE(lines.size() == 4);
  CHECK_THAT(lines[1], Contains("0 from GPU 1's GEMM. GPU 1's GEMM owes 1024"));
  CHECK_THAT(lines[3], Contains("GPU 1's GEMM owes 1024") && !Contains("GPU 0's GEMM owes"));
}

namespace {

void require_second_line(t3_program* guest, const char* text) {
  GpuPair pair(guest, {}, guest_that_leaves);
  pair.run();
  const Lines lines = pair.diagnosis();
  CAPTURE(lines);
  REQUIRE(lines.size() == 2);
  CHECK_THAT(lines[1], Contains(text));
}

}  // namespace

TEST_CASE("nobody owes what is in the cache") {
  require_second_line(guest_output_in_cache, "0 from GPU 0's GEMM. 1024 of GPU 0's GEMM are in its cache");
}

TEST_CASE("what was stored plainly is told at once") {
  GpuPair pair(guest_output_stored, {}, guest_that_leaves);
  pair.run();
  REQUIRE(pair.gpu(0).processor.status() == t3vp::Status::mismatch);
  CHECK_THAT(pair.logged(0)[0], Contains("store of wavefront") && Contains("count updates"));
  REQUIRE(pair.diagnosis().empty());
}

TEST_CASE("what has ended has no diagnosis") {
  GpuPair pair(t3_fused);
  pair.run();
  REQUIRE(pair.diagnosis().empty());
  pair.require_right_result();
}

}  // namespace t3vp::test::test_diagnosis
