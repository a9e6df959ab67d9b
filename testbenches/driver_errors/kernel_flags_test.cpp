// Kernels that set flags in each other's memory and poll them, in whole runs.
#include <algorithm>
#include <catch2/catch.hpp>

#include "driver_errors/kernel_table.h"
#include "driver_errors/whole_runs.h"
#include "t3/address.h"
#include "t3/t3.h"

namespace t3vp::test::kernel_flags_test {

using Catch::Contains;

namespace {

constexpr std::uint32_t rounds = 20, workgroups = 3;

struct Told {
  std::uint64_t flags, data, out, gpu, gpus;  ///< local addresses
};

/// What goes wrong in the kernel of GPU 1, or in all.
enum class Mistake { none, forgets_the_last, polls_through_the_cache, shares_a_tensor };
Mistake mistake = Mistake::none;
bool sums_are_right = true, host_sets_flags = false;

std::uint64_t here(const Told& p, std::uint64_t local) { return t3_on_gpu(static_cast<std::uint32_t>(p.gpu), local); }

t3_plan plan(const t3_device*, const t3_launch* launch) {
  const auto& p = *static_cast<const Told*>(launch->arguments);
  t3_plan plan{};
  plan.name = "flags";
  plan.workgroups = workgroups;
  plan.workgroups_per_cu = 1;
  plan.waves = plan.tiles = 1;
  plan.together = true;
  plan.written[0] = {here(p, p.out), here(p, p.out) + 64 * workgroups};
  plan.written[1] = {here(p, p.data), here(p, p.data) + 64 * workgroups};
  plan.written_count = 2;
  plan.sent[0] = {p.data, p.data + 64 * workgroups};
  plan.sent_count = 1;
  plan.shared[0] = {p.flags, p.flags + 64 * workgroups};
  plan.shared_count = 1;
  plan.stores_here = plan.awaits_arrivals = true;
  return plan;
}

/// Stores to the next GPU, flags it, and awaits the flag of the one before: what has come then is there.
void run_wave(t3_wave* wave) {
  const auto& p = *static_cast<const Told*>(wave->arguments);
  const t3_tile tile{0, 1, 16, T3_FP32};
  t3_access row{};
  row.rows = 1, row.columns = 16, row.element = T3_FP32, row.uncached = true;
  t3_vector_work work{};
  float value = 0;
  work.operands = 1;
  work.tiles[0] = tile;
  work.argument = &value;
  work.compute = [](const void* argument, float* const* operands) {
    std::fill_n(operands[0], 16, *static_cast<const float*>(argument));
  };
  const std::uint64_t place = 64 * wave->workgroup;
  const auto next = static_cast<std::uint32_t>((p.gpu + 1) % p.gpus);
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    value = static_cast<float>(round);
    t3_work(wave, &work);
    row.address = t3_on_gpu(next, p.data + place);
    t3_store(wave, tile, row);
    const bool forgets = mistake == Mistake::forgets_the_last && p.gpu == 1 && round == rounds;
    if (!forgets) t3_write(wave, t3_on_gpu(next, p.flags + place), &round, sizeof round);
    t3_condition condition{here(p, p.flags + place), 8, T3_AT_LEAST, ~std::uint64_t{0}, round, false};
    if (!t3_wait_value(wave, condition)) return;
    row.address = here(p, p.data + place);
    t3_load(wave, tile, row);
    work.compute = [](const void* argument, float* const* operands) {
      const float expected = *static_cast<const float*>(argument);
      for (int i = 0; i < 16; ++i) sums_are_right = sums_are_right && operands[0][i] >= expected;
    };
    t3_work(wave, &work);
    t3_fence(wave);
    work.compute = [](const void* argument, float* const* operands) {
      std::fill_n(operands[0], 16, *static_cast<const float*>(argument));
    };
  }
}

/// Awaits what the host sets when it has been polled for a while.
void await_the_host(t3_wave* wave) {
  const auto& p = *static_cast<const Told*>(wave->arguments);
  if (wave->workgroup == 0)
    (void)t3_wait_value(wave,
                        {here(p, p.flags), 4, T3_NOT_EQUAL, 0xFFFF, 0, mistake == Mistake::polls_through_the_cache});
}

t3_status launch(const t3_hal* hal, const t3_run*) {
  std::vector<t3_status>& told = answers[hal->gpu];
  t3_context gpu{};
  std::uint64_t flags = 0, data = 0, out = 0;
  std::uint32_t gpus = 0;
  told.push_back(t3_init(&gpu, hal));
  told.push_back(t3_malloc(&gpu, 64 * workgroups, &flags));
  told.push_back(t3_malloc(&gpu, 64 * workgroups, &data));
  told.push_back(t3_malloc(&gpu, 64 * workgroups, &out));
  hal->read32(hal->platform, t3_block_base(hal->gpu, T3_BLOCK_SYSTEM) + 8, &gpus);
  const std::uint64_t local = (std::uint64_t{1} << 44) - 1;
  told.push_back(t3_barrier(&gpu));
  if (mistake == Mistake::shares_a_tensor) data = flags;
  const Told arguments{flags & local, data & local, out & local, hal->gpu, gpus};
  told.push_back(t3_run_kernel(&gpu, "flags", &arguments, sizeof arguments, {}));
  if (host_sets_flags) {
    hal->wait_ns(hal->platform, 10'000);
    const std::uint16_t set = 1;
    hal->write_memory(hal->platform, flags, &set, sizeof set);
  }
  told.push_back(t3_wait_kernels(&gpu));
  ended_ns[hal->gpu] = hal->time_ns(hal->platform);
  return T3_OK;
}

RunResult run(void (*wave)(t3_wave*), const std::vector<std::string>& settings) {
  const std::string configs = T3VP_SOURCE_DIR "/configs/";
  std::vector<std::string> all{"system=" + configs + "systems/small-4.json", "check=protocol"};
  all.insert(all.end(), settings.begin(), settings.end());
  RunOptions options;
  options.program = launch;
  options.kernels = kernel_table<Told>("flags", plan, wave);
  return simulate(load_run(configs + "runs/gemm-rs-4gpu.json", all), options);
}

bool tells(const RunResult& result, const Catch::Matchers::StdString::ContainsMatcher& text) {
  return std::any_of(result.diagnosis.begin(), result.diagnosis.end(),
                     [&](const std::string& line) { return text.match(line); });
}

void require_rounds(const std::vector<std::string>& settings) {
  const RunResult result = run(run_wave, settings);
  CAPTURE(result.diagnosis);
  for (const auto& told : answers)
    CHECK(std::all_of(told.begin(), told.end(), [](t3_status status) { return status == T3_OK; }));
  CHECK(sums_are_right);
}

}  // namespace

TEST_CASE("kernels of all GPUs flag each other what they have stored") { require_rounds({"data=functional"}); }

TEST_CASE("kernels of all GPUs flag each other in a run without data") {
  require_rounds({"data=timing-only", "system.links.topology=switch"});
}

TEST_CASE("polls that nothing can end are told and end the run") {
  mistake = Mistake::forgets_the_last;
  const RunResult result = run(run_wave, {"data=functional", "gpus=3"});
  CAPTURE(result.diagnosis);
  CHECK(tells(result, Contains("flags: workgroup 0, wave 0 polls 8 bytes at 0x2000000")));
  CHECK(tells(result, Contains(": 0x13 the last of ")));
  CHECK(tells(result, Contains(" times, at least 0x14 expected (and 2 more waves poll)")));
  CHECK(answers[2].back() == T3_STUCK);
  CHECK(answers[1].back() == T3_OK);
  CHECK(ended_ns[2] < 1'000'000);
}

TEST_CASE("a kernel awaits what its host writes") {
  host_sets_flags = true;
  const RunResult result = run(await_the_host, {"data=timing-only", "gpus=2"});
  CAPTURE(result.diagnosis);
  CHECK(answers[0].back() == T3_OK);
}

TEST_CASE("a kernel never sees what its host writes through a cache that nobody flushes") {
  host_sets_flags = true;
  mistake = Mistake::polls_through_the_cache;
  const RunResult result = run(await_the_host, {"data=timing-only", "gpus=2"});
  CAPTURE(result.diagnosis);
  CHECK(answers[0].back() == T3_STUCK);
  CHECK(tells(result, Contains("under mask 0xffff: 0x0 the last of ")));
}

TEST_CASE("flags where tensors are stored without data are refused") {
  mistake = Mistake::shares_a_tensor;
  const RunResult result = run(run_wave, {"data=timing-only", "gpus=2"});
  CAPTURE(result.diagnosis);
  CHECK(answers[0].back() == T3_ACCESS_DENIED);
  CHECK(tells(result, Contains("flags apart from tensors expected")));
}

}  // namespace t3vp::test::kernel_flags_test
