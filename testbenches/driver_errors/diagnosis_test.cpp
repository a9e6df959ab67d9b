// Two programs that do not fit together: nothing happens any more, and the diagnosis says who owes what.
#include <algorithm>
#include <catch2/catch.hpp>

#include "driver_errors/gpu_pair.h"
#include "driver_errors/whole_runs.h"

namespace t3vp::test::diagnosis_test {

using Catch::Contains;

namespace {

bool any_contains(const Lines& lines, const std::string& text) {
  return std::any_of(lines.begin(), lines.end(),
                     [&text](const std::string& line) { return line.find(text) != std::string::npos; });
}

}  // namespace

TEST_CASE("a GEMM that was never started is owed where its stores should have arrived") {
  GpuPair pair(t3_run_fused, {}, guest_without_gemm);
  pair.run();
  const Lines lines = pair.diagnosis();
  CAPTURE(lines);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0] == "GPU 0 firmware waits for the chunks of dma_map");
  CHECK_THAT(lines[1], Contains("GPU 0 Tracker: workgroups 0 to 5: 0 of 24 wavefront tiles complete"));
  CHECK_THAT(lines[1], Contains("Workgroup 0 wavefront 0 at 0x"));
  CHECK_THAT(lines[1], Contains("has 1024 element updates and expects 2048, 2 per element"));
  CHECK_THAT(lines[1], Contains("1024 from GPU 0's kernel gemm, 0 from GPU 1's kernel. GPU 1's kernel owes 1024"));
  CHECK(lines[2] == "GPU 1 firmware waits for the chunks of dma_map");
  CHECK_THAT(lines[3], Contains("GPU 1 Tracker: workgroups 6 to 11"));
  CHECK_THAT(lines[3], Contains("0 from GPU 1's kernel, 1024 from GPU 0's kernel gemm. GPU 1's kernel owes 1024"));
  for (const std::string& line : lines) CHECK_THAT(line, !Contains("no program sends"));
}

TEST_CASE("a peer that left is seen by its missing signals, in few lines") {
  GpuPair pair(t3_run_sequential, {}, guest_that_leaves);
  pair.run();
  REQUIRE(pair.gpu(1).memory.tracker.shortages().size() == 1);  // no program waits for it any more
  const Lines lines = pair.diagnosis();
  CAPTURE(lines);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == "GPU 0 firmware waits for a kernel's end");
  CHECK_THAT(lines[1], Contains("GPU 0 compute units: queue 0: kernel 2 of 2 is not finished"));
  CHECK_THAT(
      lines[2],
      Contains("GPU 0 signals: a workgroup of queue 0 waits for counter 16 to reach 1 by its neighbour's signal, "
               "it is 0 (and 3 more)"));
}

TEST_CASE("signals on counters that no workgroup awaits are told with their sender") {
  GpuPair pair(guest_with_other_ring_counters, {}, guest_with_other_ring_counters);
  pair.run();
  const Lines lines = pair.diagnosis();
  CAPTURE(lines);
  CHECK(any_contains(
      lines,
      "GPU 0 signals: a workgroup of queue 0 waits for counter 20 to reach 1 by its neighbour's signal, it is 0 (and 3 "
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
  GpuPair pair(t3_run_fused, {"system.links.receive_buffer_KiB=2", R"(inject.drop_packet={"link": 0, "packet": 1})"});
  pair.run();
  const Lines lines = pair.diagnosis();
  CAPTURE(lines);
  CHECK(any_contains(
      lines, "0 from GPU 0's kernel gemm. 1024 of GPU 0's kernel gemm have been sent and are not acknowledged"));
  CHECK_FALSE(any_contains(lines, "GPU 0's kernel gemm owes"));
  CHECK(any_contains(lines, "GPU 0 compute units: queue 0: kernel 1 of 1 is not finished"));
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
  GpuPair pair(t3_run_fused, {}, guest_that_takes_no_updates);
  pair.run();
  const Lines lines = pair.diagnosis();
  CAPTURE(lines, pair.logged(0));
  REQUIRE(pair.gpu(0).processor.status() == t3vp::Status::disabled);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == "GPU 1 firmware waits for the chunks of dma_map");
  CHECK_THAT(lines[1],
             Contains("1024 of GPU 0's kernel gemm have not been counted, and it has ended: sent before the chunk "
                      "was mapped, refused, stored plainly, or without their tile's name"));
  CHECK_THAT(lines[1], Contains("GPU 1's kernel owes 1024"));
}

namespace {

void require_early(t3_program* sender, const std::string& name) {
  GpuPair pair(guest_that_maps_late, {}, sender);
  pair.run();
  const Lines lines = pair.diagnosis();
  CAPTURE(lines, pair.logged(0), pair.logged(1));
  REQUIRE(lines.size() >= 3);
  CHECK(lines[0] == "GPU 0 firmware waits for the chunks of dma_map");
  CHECK_THAT(lines[1], Contains("1024 from GPU 0's kernel gemm, 0 from " + name + ". 1024 of " + name +
                                " have not been counted, and it has ended: sent before the chunk was mapped"));
  for (const std::string& line : lines) CHECK_THAT(line, !Contains("owes"));
}

}  // namespace

TEST_CASE("nobody owes what was sent before its chunk was mapped whatever the sender does since") {
  require_early(guest_too_early, "GPU 1's kernel gemm");
}

TEST_CASE("no DMA engine owes what it sent before the chunk was mapped") {
  require_early(guest_dma_too_early, "GPU 1's DMA");
}

TEST_CASE("a GEMM that was never started is owed whatever else has run") {
  GpuPair pair(t3_run_fused, {}, guest_with_another_kernel);
  pair.run();
  const Lines lines = pair.diagnosis();
  CAPTURE(lines);
  REQUIRE(lines.size() == 4);
  CHECK_THAT(lines[1], Contains("0 from GPU 1's kernel. GPU 1's kernel owes 1024"));
  CHECK_THAT(lines[3], Contains("GPU 1's kernel owes 1024") && !Contains("GPU 0's kernel gemm owes"));
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
  require_second_line(guest_output_in_cache,
                      "0 from GPU 0's kernel gemm. 1024 of GPU 0's kernel gemm are in its cache");
}

TEST_CASE("what was stored plainly is told at once") {
  GpuPair pair(guest_output_stored, {}, guest_that_leaves);
  pair.run();
  REQUIRE(pair.gpu(0).processor.status() == t3vp::Status::mismatch);
  CHECK_THAT(pair.logged(0)[0], Contains("store of wavefront") && Contains("count updates"));
  REQUIRE(pair.diagnosis().empty());
}

TEST_CASE("what has ended has no diagnosis") {
  GpuPair pair(t3_run_fused);
  pair.run();
  REQUIRE(pair.diagnosis().empty());
  pair.require_right_result();
}

namespace {

t3_status multiply_mapped(Waiter& w) {
  t3_gemm_options options{};
  options.update = true;
  options.first_workgroup = t3_ring_chunk(&w.gpu, &w.out, 0).first_workgroup;
  w.multiply(64, options);
  w.tell(t3_wait_kernels(&w.gpu));
  w.tell(t3_wait_dma(&w.gpu));
  return t3_remote_unmap_all(&w.gpu);
}

/// The fused method without its barrier: GPU 0 maps when its neighbour has long sent.
t3_status without_barrier(const t3_hal* hal, const t3_run* run) {
  Waiter w(hal, run);
  if (hal->gpu == 0) hal->wait_ns(hal->platform, 100'000);
  const std::uint64_t peer = t3_peer_address(&w.out.matrix, t3_ring_previous(&w.gpu));
  w.tell(t3_remote_map(&w.gpu, &w.out, t3_ring_chunk(&w.gpu, &w.out, 0), peer, T3_UPDATE));
  for (std::uint32_t step = 1; step < t3_gpus(&w.gpu); ++step) {
    const bool is_own = step == t3_gpus(&w.gpu) - 1;
    w.tell(t3_dma_map(&w.gpu, &w.out, t3_ring_chunk(&w.gpu, &w.out, step), is_own ? 0 : peer,
                      is_own ? T3_NOTIFY : T3_UPDATE, {2, 1, T3_UPDATE}));
  }
  return multiply_mapped(w);
}

/// Every GPU sends all of its output to the one over there, in the same direction.
t3_status over_two_hops(const t3_hal* hal, const t3_run* run) {
  Waiter w(hal, run);
  const std::uint64_t peer = t3_peer_address(&w.out.matrix, (hal->gpu + 2) % t3_gpus(&w.gpu));
  w.tell(t3_remote_map(&w.gpu, &w.out, {0, 16}, peer, T3_UPDATE));
  w.tell(t3_dma_map(&w.gpu, &w.out, {0, 16}, 0, T3_NOTIFY, {1, 1, T3_UPDATE}));
  w.tell(t3_barrier(&w.gpu));
  return multiply_mapped(w);
}

std::size_t count_with(const Lines& lines, const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      lines.begin(), lines.end(), [&](const auto& line) { return line.find(text) != std::string::npos; }));
}

/// Requires that the line names the map of GPU 1 by which the chunk's updates came, and says that they came before the
/// chunk was mapped.
void require_former(const std::string& line, const std::string& map) {
  CAPTURE(line);
  const std::string text = ". No map sends the second update any more: GPU 1's " + map + " sent to it until ";
  REQUIRE_THAT(line, Contains("from GPU 0's kernel gemm" + text) && !Contains("Nobody owes"));
  const double sent = std::stod(line.substr(line.find(text) + text.size()));
  const std::string mapped = " ns and has been removed, this chunk was mapped at ";
  REQUIRE_THAT(line, Contains(mapped));
  CHECK(std::stod(line.substr(line.find(mapped) + mapped.size())) > sent + 50'000);
}

}  // namespace

TEST_CASE("what a removed map has sent before its chunk was mapped is told with both times") {
  const t3vp::RunResult result = run(without_barrier, {"gpus=2"});
  REQUIRE(result.diagnosis.size() >= 2);
  require_former(result.diagnosis[1], "remote_map");
}

TEST_CASE("what a DMA engine has sent before its chunk was mapped is told with both times") {
  const t3vp::RunResult result = run(without_barrier, {"gpus=3"});
  CAPTURE(result.diagnosis);
  REQUIRE(count_with(result.diagnosis, "Nobody owes") == 0);
  REQUIRE(result.diagnosis.size() >= 3);
  require_former(result.diagnosis[1], "remote_map");
  require_former(result.diagnosis[2], "dma_map");
}

TEST_CASE("traffic over two hops ends however small the receive buffers are") {
  const t3vp::RunResult result = run(over_two_hops, {"gpus=4", "system.links.receive_buffer_KiB=2"});
  CAPTURE(result.diagnosis);
  REQUIRE(result.diagnosis.empty());
}

TEST_CASE("links that wait for a lost packet's credits are told") {
  GpuPair pair(t3_run_fused, {"system.links.receive_buffer_KiB=2", R"(inject.drop_packet={"link": 0, "packet": 1})"});
  pair.run();
  CHECK(count_with(pair.diagnosis(), "wait for credits") == 1);
}

}  // namespace t3vp::test::diagnosis_test
