// A wait returns T3_STUCK when nothing in the node can end it, and other waits do not. A program whose own end may be
// awaited by others is notified last. These are whole runs of programs that differ by GPU.
#include <algorithm>
#include <catch2/catch.hpp>

#include "driver_errors/whole_runs.h"
#include "report/report.h"

namespace t3vp::test::stuck_test {

using Catch::Contains;

namespace {

std::uint32_t wrong_gpu = 0;  ///< which does what the others do not

/// Meets the others in a barrier; the last GPU long after it has begun to compute.
t3_status late_for_the_barrier(const t3_hal* hal, const t3_run* run) {
  Waiter w(hal, run);
  uint32_t gpus = 0;
  hal->read32(hal->platform, t3_block_base(hal->gpu, T3_BLOCK_SYSTEM) + 8, &gpus);
  if (hal->gpu == gpus - 1) {
    w.multiply(2048);
    w.tell(t3_wait_kernels(&w.gpu));
    hal->wait_ns(hal->platform, 50000);
  }
  w.tell(t3_barrier(&w.gpu));
  ended_ns[hal->gpu] = hal->time_ns(hal->platform);
  return T3_OK;
}

/// One GPU waits for a signal that no GPU sends. It is notified, and meets the others, which have waited for it.
t3_status stuck_before_the_barrier(const t3_hal* hal, const t3_run* run) {
  Waiter w(hal, run);
  if (hal->gpu == wrong_gpu) {
    w.map();
    w.tell(t3_wait_dma(&w.gpu));
    hal->wait_ns(hal->platform, 50000);
    w.tell(t3_force_unmap_all(&w.gpu));
  }
  w.tell(t3_barrier(&w.gpu));
  ended_ns[hal->gpu] = hal->time_ns(hal->platform);
  return T3_OK;
}

/// One GPU waits for a signal that no GPU sends. It is notified, and only then computes what its neighbour expects.
t3_status stuck_before_its_gemm(const t3_hal* hal, const t3_run* run) {
  Waiter w(hal, run);
  const t3_chunk first{0, 8}, last{8, 8};
  if (hal->gpu == wrong_gpu) {
    const std::uint64_t peer = t3_peer_address(&w.out.matrix, t3_ring_previous(&w.gpu));
    w.tell(t3_remote_map(&w.gpu, &w.out, first, peer, T3_UPDATE));
    w.tell(t3_dma_map(&w.gpu, &w.out, last, 0, T3_NOTIFY, {2, 1, T3_UPDATE}));
    w.tell(t3_wait_dma(&w.gpu));
    t3_gemm_options options{};
    options.update = true;
    w.multiply(64, options);
    w.tell(t3_wait_kernels(&w.gpu));
  } else {
    w.tell(t3_dma_map(&w.gpu, &w.out, first, 0, T3_NOTIFY, {1, 1, T3_UPDATE}));
    w.tell(t3_wait_dma(&w.gpu));
  }
  return T3_OK;
}

/// Waits of all kinds, one after the other, after a wait that was stuck.
t3_status one_wait_after_the_other(const t3_hal* hal, const t3_run* run) {
  Waiter w(hal, run);
  if (hal->gpu == 0) {
    w.map();
    w.tell(t3_wait_dma(&w.gpu));
    w.tell(t3_force_unmap_all(&w.gpu));
    w.multiply(256);
    w.tell(t3_wait_kernels(&w.gpu));
    w.tell(t3_fill_zero(&w.gpu, &w.out.matrix));
    w.map();
    w.tell(t3_set_timeout(&w.gpu, 5000));
    w.tell(t3_wait_dma(&w.gpu));
    w.tell(t3_set_timeout(&w.gpu, T3_FOREVER));
    w.tell(t3_wait_dma(&w.gpu));
    w.tell(t3_force_unmap_all(&w.gpu));
  }
  w.tell(t3_barrier(&w.gpu));
  return T3_OK;
}

/// A timeout counts as something that happens, unless it lies behind the end of time.
t3_status timeouts_of_different_lengths(const t3_hal* hal, const t3_run* run) {
  Waiter w(hal, run);
  w.map();
  const std::uint64_t timeouts[most_gpus] = {1000000, 2000000, T3_FOREVER - 1, T3_FOREVER};
  w.tell(t3_set_timeout(&w.gpu, timeouts[hal->gpu]));
  w.tell(t3_wait_dma(&w.gpu));
  ended_ns[hal->gpu] = hal->time_ns(hal->platform);
  return T3_OK;
}

t3_status wait_whatever_is_told(const t3_hal* hal, const t3_run* run) {
  Waiter w(hal, run);
  w.map();
  for (;;) w.tell(t3_wait_dma(&w.gpu));
}

t3_status sleep_beyond_the_end(const t3_hal* hal, const t3_run* run) {
  Waiter w(hal, run);
  if (hal->gpu == 1) hal->wait_ns(hal->platform, ~std::uint64_t{0} / 1000);
  w.tell(t3_barrier(&w.gpu));
  return T3_OK;
}

void require_late_barrier(std::uint32_t gpus) {
  const RunResult result = run(late_for_the_barrier, {"gpus=" + std::to_string(gpus)});
  REQUIRE(result.diagnosis.empty());
  for (std::uint32_t g = 0; g < gpus; ++g) {
    CHECK(std::all_of(answers[g].begin(), answers[g].end(), [](t3_status s) { return s == T3_OK; }));
    CHECK(ended_ns[g] > 60000);
  }
}

void require_told_to_one(std::uint32_t gpus, std::uint32_t wrong) {
  wrong_gpu = wrong;
  const RunResult result = run(stuck_before_the_barrier, {"gpus=" + std::to_string(gpus)});
  CHECK_THAT(result.diagnosis.front(), Contains("firmware waits for"));
  for (std::uint32_t g = 0; g < gpus; ++g) {
    CAPTURE(g, answers[g]);
    if (g == wrong)
      CHECK(answers[g] == std::vector<t3_status>{T3_OK, T3_OK, T3_OK, T3_STUCK, T3_OK, T3_OK});
    else
      CHECK(answers[g] == std::vector<t3_status>{T3_OK, T3_OK, T3_OK});
    CHECK(ended_ns[g] > 50000);
  }
}

void require_gemm_after_stuck(std::uint32_t gpus, std::uint32_t wrong, std::uint32_t neighbour) {
  wrong_gpu = wrong;
  const RunResult result = run(stuck_before_its_gemm, {"gpus=" + std::to_string(gpus)});
  CHECK(answers[wrong] == std::vector<t3_status>{T3_OK, T3_OK, T3_OK, T3_OK, T3_STUCK, T3_OK, T3_OK, T3_OK, T3_OK});
  CHECK(answers[neighbour] == std::vector<t3_status>{T3_OK, T3_OK, T3_OK, T3_OK});
}

}  // namespace

TEST_CASE("nobody is stuck who waits for what comes after long computing and a pause with 2 GPUs") {
  require_late_barrier(2);
}

TEST_CASE("nobody is stuck who waits for what comes after long computing and a pause with 3 GPUs") {
  require_late_barrier(3);
}

TEST_CASE("nobody is stuck who waits for what comes after long computing and a pause with 4 GPUs") {
  require_late_barrier(4);
}

TEST_CASE("of two GPUs the second alone is stuck and the first one's wait ends well") { require_told_to_one(2, 1); }

TEST_CASE("of two GPUs the first alone is stuck and the second one's wait ends well") { require_told_to_one(2, 0); }

TEST_CASE("of four GPUs one alone is stuck and the waits of the others end well") { require_told_to_one(4, 2); }

TEST_CASE("who waits for the GEMM of the second GPU that is stuck before it is not stuck") {
  require_gemm_after_stuck(2, 1, 0);
}

TEST_CASE("who waits for the GEMM of the first GPU that is stuck before it is not stuck") {
  require_gemm_after_stuck(2, 0, 1);
}

TEST_CASE("after a wait that was stuck each one is a wait of its own") {
  const RunResult result = run(one_wait_after_the_other, {"gpus=2"});
  CHECK(answers[0] == std::vector<t3_status>{T3_OK, T3_OK, T3_OK, T3_STUCK, T3_OK,       // map and wait
                                             T3_OK, T3_OK, T3_OK, T3_OK, T3_OK,          // kernel and fill
                                             T3_OK, T3_OK, T3_TIMEOUT, T3_OK, T3_STUCK,  // timeout and none
                                             T3_OK, T3_OK});                             // barrier
  CHECK(answers[1] == std::vector<t3_status>{T3_OK, T3_OK, T3_OK});
}

TEST_CASE("a timeout that will come keeps all from being stuck until it has come") {
  const RunResult result = run(timeouts_of_different_lengths, {"gpus=4"});
  const t3_status ends[most_gpus] = {T3_TIMEOUT, T3_TIMEOUT, T3_STUCK, T3_STUCK};
  for (std::uint32_t g = 0; g < most_gpus; ++g) {
    CHECK(answers[g].back() == ends[g]);
    CHECK(ended_ns[g] >= (g == 0 ? 1000000 : 2000000));
  }
  CHECK(ended_ns[0] < 1100000);
}

TEST_CASE("a program that waits on whatever it is told does not keep the run from ending") {
  const RunResult result = run(wait_whatever_is_told, {"gpus=2"});
  CHECK_THAT(failures(result).front(), Contains("GPU 0 firmware waits for the chunks of dma_map"));
  for (std::uint32_t g = 0; g < 2; ++g) CHECK(std::count(answers[g].begin(), answers[g].end(), T3_STUCK) > 10);
  CHECK(answers[0].size() + answers[1].size() < 1000);
}

TEST_CASE("a program that sleeps until the end of time stays asleep and who waits for it is stuck") {
  const RunResult result = run(sleep_beyond_the_end, {"gpus=2"});
  CHECK(answers[0].back() == T3_STUCK);
  CHECK(answers[1].size() == 2);
  REQUIRE(result.diagnosis.size() == 2);
  CHECK(result.diagnosis[0] == "GPU 0 firmware waits for the next GPU in a barrier");
  CHECK(result.diagnosis[1] ==
        "GPU 1 firmware waits for 18446744073709551 ns to pass, which simulated time does not reach");
}

}  // namespace t3vp::test::stuck_test
