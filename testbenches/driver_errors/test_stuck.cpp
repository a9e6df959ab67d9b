// T3_STUCK is told of a wait when nothing in the node can end it, of that wait only, and before a program whose own end
// may be what another one waits for, the others are left waiting. Whole runs, of programs that differ by GPU.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>

#include "report/report.h"
#include "run/simulation.h"
#include "t3_hal.h"

namespace t3vp::test::test_stuck {

using Catch::Contains;

namespace {

constexpr std::uint32_t most_gpus = 4;

/// What each GPU's program was answered, in order.
std::array<std::vector<t3_status>, most_gpus> answers;
std::array<std::uint64_t, most_gpus> ended_ns;
std::uint32_t wrong_gpu = 0;  ///< which does what the others do not

RunResult run(t3_program* program, const std::vector<std::string>& settings) {
  const std::string configs = T3VP_SOURCE_DIR "/configs/";
  std::vector<std::string> all{"system=" + configs + "systems/small-4.json", "data=timing-only"};
  all.insert(all.end(), settings.begin(), settings.end());
  RunOptions options;
  options.program = program;
  return simulate(load_run(configs + "runs/gemm-rs-4gpu.json", all), options);
}

/// A context and an output that is mapped for updates which nobody sends.
struct Waiter {
  const t3_hal* hal;
  t3_context gpu{};
  t3_output out{};

  Waiter(const t3_hal* h, const t3_job* job) : hal(h) {
    out.tiling = job->tiling;
    out.matrix.rows = 4 * job->tiling.rows;
    out.matrix.columns = 4 * job->tiling.columns;
    out.matrix.memory = T3_UNCACHED;
    tell(t3_init(&gpu, hal));
    tell(t3_matrix_malloc(&gpu, &out.matrix));
  }
  void tell(t3_status status) { answers[hal->gpu].push_back(status); }
  void map() { tell(t3_dma_map(&gpu, &out, {0, 16}, 0, T3_NOTIFY, {1, 1, T3_UPDATE})); }
  void multiply(std::uint32_t k) {
    t3_matrix a = out.matrix, b = out.matrix;
    a.columns = b.rows = k;
    tell(t3_matrix_malloc(&gpu, &a));
    tell(t3_matrix_malloc(&gpu, &b));
    tell(t3_gemm(&gpu, &out, &a, &b, {}));
  }
};

/// Meets the others in a barrier; the last GPU long after it has begun to compute.
t3_status late_for_the_barrier(const t3_hal* hal, const t3_job* job) {
  Waiter w(hal, job);
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

/// One waits for what nobody sends, is told so, and meets the others who have waited for it.
t3_status stuck_before_the_barrier(const t3_hal* hal, const t3_job* job) {
  Waiter w(hal, job);
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

/// One waits for what nobody sends, is told so, and only then computes what its neighbour expects.
t3_status stuck_before_its_gemm(const t3_hal* hal, const t3_job* job) {
  Waiter w(hal, job);
  const t3_chunk first{0, 8}, last{8, 8};
  if (hal->gpu == wrong_gpu) {
    const std::uint64_t peer = t3_peer_address(&w.out.matrix, t3_ring_previous(&w.gpu));
    w.tell(t3_remote_map(&w.gpu, &w.out, first, peer, T3_UPDATE));
    w.tell(t3_dma_map(&w.gpu, &w.out, last, 0, T3_NOTIFY, {2, 1, T3_UPDATE}));
    w.tell(t3_wait_dma(&w.gpu));
    t3_matrix a = w.out.matrix, b = w.out.matrix;
    a.columns = b.rows = 64;
    w.tell(t3_matrix_malloc(&w.gpu, &a));
    w.tell(t3_matrix_malloc(&w.gpu, &b));
    t3_gemm_options options{};
    options.update = true;
    w.tell(t3_gemm(&w.gpu, &w.out, &a, &b, options));
    w.tell(t3_wait_kernels(&w.gpu));
  } else {
    w.tell(t3_dma_map(&w.gpu, &w.out, first, 0, T3_NOTIFY, {1, 1, T3_UPDATE}));
    w.tell(t3_wait_dma(&w.gpu));
  }
  return T3_OK;
}

/// Waits of all kinds, one after the other, after a wait that was stuck.
t3_status one_wait_after_the_other(const t3_hal* hal, const t3_job* job) {
  Waiter w(hal, job);
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
t3_status timeouts_of_different_lengths(const t3_hal* hal, const t3_job* job) {
  Waiter w(hal, job);
  w.map();
  const std::uint64_t timeouts[most_gpus] = {1000000, 2000000, T3_FOREVER - 1, T3_FOREVER};
  w.tell(t3_set_timeout(&w.gpu, timeouts[hal->gpu]));
  w.tell(t3_wait_dma(&w.gpu));
  ended_ns[hal->gpu] = hal->time_ns(hal->platform);
  return T3_OK;
}

t3_status wait_whatever_is_told(const t3_hal* hal, const t3_job* job) {
  Waiter w(hal, job);
  w.map();
  for (;;) w.tell(t3_wait_dma(&w.gpu));
}

t3_status sleep_beyond_the_end(const t3_hal* hal, const t3_job* job) {
  Waiter w(hal, job);
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

namespace {

/// GPU 1 reads for ever what never changes; the others wait for it.
t3_status poll_a_register(const t3_hal* hal, const t3_job* job) {
  Waiter w(hal, job);
  const std::uint64_t completed = t3_block_base(hal->gpu, T3_BLOCK_KERNEL_QUEUE) + 0x18;
  std::uint64_t value = 0;
  while (hal->gpu == 1 && value == 0) {
    hal->read64(hal->platform, completed, &value);
    hal->wait_ns(hal->platform, 20);
  }
  return t3_barrier(&w.gpu);
}

/// All poll two registers and clear a bit again and again.
t3_status poll_two_registers(const t3_hal* hal, const t3_job* job) {
  Waiter w(hal, job);
  const std::uint64_t dma = t3_block_base(hal->gpu, T3_BLOCK_DMA), tracker = t3_block_base(hal->gpu, T3_BLOCK_TRACKER);
  w.map();
  std::uint32_t status = 0, pending = 1;
  for (std::uint32_t n = 0; n < 8; ++n) hal->read32(hal->platform, dma + 8 + 4 * n, &status);  // some wrongly
  while (pending != 0) {
    hal->write32(hal->platform, dma + 0x4C, 1);
    hal->read32(hal->platform, tracker + 0x34, &status);
    hal->read32(hal->platform, dma + 0x48, &pending);
  }
  return T3_OK;
}

t3_status poll_memory(const t3_hal* hal, const t3_job*) {
  std::uint64_t flag = 0;
  while (flag == 0) hal->read_memory(hal->platform, t3_on_gpu(hal->gpu, 0x8000), &flag, sizeof flag);
  return T3_OK;
}

/// As long as the limit allows, and one read less.
t3_status poll_999_times(const t3_hal* hal, const t3_job*) {
  std::uint64_t value = 0;
  for (int i = 0; i < 999; ++i)
    hal->read64(hal->platform, t3_block_base(hal->gpu, T3_BLOCK_KERNEL_QUEUE) + 0x18, &value);
  return T3_OK;
}

/// What a kernel changes in the end.
t3_status poll_a_kernel(const t3_hal* hal, const t3_job* job) {
  Waiter w(hal, job);
  w.multiply(2048);
  std::uint64_t value = 0, reads = 0;
  for (; value == 0; ++reads) hal->read64(hal->platform, t3_block_base(hal->gpu, T3_BLOCK_KERNEL_QUEUE) + 0x18, &value);
  return reads > 150 ? T3_OK : T3_BAD_VALUE;
}

/// Waits with timeouts, again and again.
t3_status retry_for_ever(const t3_hal* hal, const t3_job* job) {
  Waiter w(hal, job);
  w.map();
  t3_set_timeout(&w.gpu, 1000);
  while (t3_wait_dma(&w.gpu) == T3_TIMEOUT) continue;
  return T3_OK;
}

/// One polls what the other changes a long time later, by a single signal.
t3_status poll_a_sleeper(const t3_hal* hal, const t3_job*) {
  const std::uint64_t signals = t3_block_base(0, T3_BLOCK_SIGNALS);
  if (hal->gpu != 0) {
    hal->wait_ns(hal->platform, 3000000);
    return hal->write64(hal->platform, signals + 0x1000 + 8 * 100, 1);
  }
  std::uint64_t value = 0;
  while (value == 0) hal->read64(hal->platform, signals + 8 * 100, &value);
  return T3_OK;
}

}  // namespace

TEST_CASE("a register that is polled while nothing can change it ends the run and is named") {
  const RunResult result = run(poll_a_register, {"gpus=3", "limits.polls=1000"});
  REQUIRE(result.diagnosis.size() == 3);
  CHECK(result.diagnosis[0] == "GPU 0 firmware waits for the next GPU in a barrier");
  CHECK_THAT(result.diagnosis[1],
             Contains("GPU 1 firmware polls: it has read kernel_queue.completed at 0x1f0000040018 ") &&
                 Contains(" times, always 0x0"));
  CHECK(result.diagnosis[2] == "GPU 2 firmware waits for the next GPU in a barrier");
}

TEST_CASE("registers that all GPUs poll by turns are found too") {
  const RunResult result = run(poll_two_registers, {"gpus=2", "limits.polls=1000"});
  const auto polls = [&result](const std::string& text) {
    return std::any_of(result.diagnosis.begin(), result.diagnosis.end(),
                       [&text](const std::string& line) { return line.find(text) != std::string::npos; });
  };
  CHECK((polls("GPU 0 firmware polls: it has read tracker.status at 0xf0000090034 ") ||
         polls("GPU 0 firmware polls: it has read dma.pending at 0xf00000a0048 ")));
  CHECK((polls("GPU 1 firmware polls: it has read tracker.status at 0x1f0000090034 ") ||
         polls("GPU 1 firmware polls: it has read dma.pending at 0x1f00000a0048 ")));
}

TEST_CASE("memory that is polled is named") {
  const RunResult result = run(poll_memory, {"gpus=2", "limits.polls=1000"});
  CHECK_THAT(result.diagnosis.at(0),
             Contains("GPU 0 firmware polls: it has read memory at 0x8000 ") && Contains(" times, always 0x0"));
}

TEST_CASE("a limit of simulated time names what is polled and what is waited for") {
  REQUIRE_THROWS_WITH(run(poll_a_register, {"gpus=2", "limits.simulated_ms=0.5"}),
                      Contains("limits.simulated_ms: ") &&
                          Contains("; GPU 1 firmware polls: it has read kernel_queue.completed at 0x1f0000040018 ") &&
                          Contains(" times, always 0x0; GPU 0 firmware waits for the next GPU in a barrier"));
}

TEST_CASE("polls that end by themselves end no run") {
  const RunResult result = run(poll_999_times, {"gpus=2", "limits.polls=1000"});
  CHECK(result.diagnosis.empty());
}

TEST_CASE("waits that are tried again after each timeout end the run when nothing can change") {
  const RunResult result = run(retry_for_ever, {"gpus=2", "limits.polls=500"});
  REQUIRE(result.diagnosis.size() >= 2);
  CHECK_THAT(result.diagnosis[0], Contains("GPU 0 firmware "));
}

TEST_CASE("polls of what another program changes after a long sleep end no run") {
  const RunResult result = run(poll_a_sleeper, {"gpus=2", "limits.polls=500"});
  CHECK(result.diagnosis.empty());
}

TEST_CASE("polls of what will change end no run") {
  const RunResult result = run(poll_a_kernel, {"gpus=2", "limits.polls=400"});
  CHECK(result.diagnosis.empty());
}

}  // namespace t3vp::test::test_stuck
