// Kernels that load from other GPUs and count there, in whole runs.
#include <algorithm>
#include <catch2/catch.hpp>

#include "driver_errors/kernel_table.h"
#include "driver_errors/whole_runs.h"
#include "report/report.h"
#include "t3/address.h"

namespace t3vp::test::remote_memory_test {

using Catch::Contains;

namespace {

constexpr std::uint32_t workgroups = 3, times = 40;

/// The kernel's arguments: local addresses, the same on every GPU.
struct Told {
  std::uint64_t data, out, counter, gpu, gpus;
};

std::vector<std::uint64_t> olds;  ///< that anybody has found
std::vector<float> loaded;        ///< of the first element of the next GPU's data, by each GPU
std::uint64_t last_count = 0;     ///< as GPU 0's firmware sees it
bool updates_off = false;         ///< at GPU 0
bool stores_on_counter = false;   ///< the kernel's tensor is where it counts

t3_plan plan(const t3_device*, const t3_launch* launch) {
  const auto& p = *static_cast<const Told*>(launch->arguments);
  t3_plan plan{};
  plan.name = "counting";
  plan.workgroups = workgroups;
  plan.workgroups_per_cu = 1;
  plan.waves = plan.tiles = 1;
  const std::uint64_t out = t3_on_gpu(static_cast<std::uint32_t>(p.gpu), p.out);
  plan.written[0] = {out, out + 64 * workgroups};
  plan.written_count = 1;
  plan.fetched[0] = {p.data, p.data + 64};
  plan.fetched_count = 1;
  plan.shared[0] = {p.counter, p.counter + 32};
  plan.shared_count = 1;
  plan.stores_here = true;
  return plan;
}

void run_wave(t3_wave* wave) {
  const auto& p = *static_cast<const Told*>(wave->arguments);
  const t3_tile tile{0, 1, 16, T3_FP32};
  t3_access from{}, to{};
  from.address = t3_on_gpu(static_cast<std::uint32_t>((p.gpu + 1) % p.gpus), p.data);
  from.rows = 1;
  from.columns = 16;
  from.element = T3_FP32;
  to = from;
  to.address = t3_on_gpu(static_cast<std::uint32_t>(p.gpu), p.out + 64 * wave->workgroup);
  to.uncached = true;
  t3_load(wave, tile, from);
  for (std::uint32_t i = 0; i < times; ++i) {
    std::uint64_t old = 0;
    if (t3_fetch_add_64(wave, t3_on_gpu(0, p.counter), 1, &old)) olds.push_back(old);
  }
  t3_store(wave, tile, to);
  t3_fence(wave);
}

t3_status count_together(const t3_hal* hal, const t3_run*) {
  std::vector<t3_status>& told = answers[hal->gpu];
  t3_context gpu{};
  std::uint64_t data = 0, out = 0, counter = 0;
  std::uint32_t gpus = 0;
  told.push_back(t3_init(&gpu, hal));
  told.push_back(t3_malloc(&gpu, 64, &data));
  told.push_back(t3_malloc(&gpu, 64 * workgroups, &out));
  told.push_back(t3_malloc(&gpu, 32, &counter));
  hal->read32(hal->platform, t3_block_base(hal->gpu, T3_BLOCK_SYSTEM) + 8, &gpus);
  const std::uint64_t local = (std::uint64_t{1} << 44) - 1;
  if (stores_on_counter) counter = out;
  std::vector<float> values(16, static_cast<float>(hal->gpu + 1));
  hal->write_memory(hal->platform, data, values.data(), 64);
  const std::uint64_t begin = 100;
  if (hal->gpu == 0) hal->write_memory(hal->platform, counter, &begin, sizeof begin);
  if (hal->gpu == 0 && updates_off) hal->write32(hal->platform, t3_block_base(0, T3_BLOCK_NEAR_MEMORY), 0);
  told.push_back(t3_barrier(&gpu));
  const Told arguments{data & local, out & local, counter & local, hal->gpu, gpus};
  told.push_back(t3_run_kernel(&gpu, "counting", &arguments, sizeof arguments, {}));
  told.push_back(t3_wait_kernels(&gpu));
  told.push_back(t3_barrier(&gpu));
  float first = 0;
  hal->read_memory(hal->platform, out, &first, sizeof first);
  loaded.push_back(first - static_cast<float>((hal->gpu + 1) % gpus));
  if (hal->gpu == 0) hal->read_memory(hal->platform, counter, &last_count, sizeof last_count);
  ended_ns[hal->gpu] = hal->time_ns(hal->platform);
  return T3_OK;
}

RunResult count(const std::vector<std::string>& settings) {
  const std::string configs = T3VP_SOURCE_DIR "/configs/";
  std::vector<std::string> all{"system=" + configs + "systems/small-4.json", "check=protocol"};
  all.insert(all.end(), settings.begin(), settings.end());
  RunOptions options;
  options.program = count_together;
  options.kernels = kernel_table<Told>("counting", plan, run_wave);
  return simulate(load_run(configs + "runs/gemm-rs-4gpu.json", all), options);
}

void require_counted(const std::vector<std::string>& settings, bool functional) {
  const RunResult result = count(settings);
  CAPTURE(result.diagnosis, answers[0], answers[1]);
  constexpr std::size_t all = most_gpus * workgroups * times;
  for (const auto& told : answers)
    CHECK(std::all_of(told.begin(), told.end(), [](t3_status status) { return status == T3_OK; }));
  CHECK(last_count == 100 + all);
  REQUIRE(olds.size() == all);
  std::sort(olds.begin(), olds.end());
  for (std::size_t i = 0; i < all; ++i) REQUIRE(olds[i] == 100 + i);
  REQUIRE(loaded.size() == most_gpus);
  if (functional) CHECK(std::all_of(loaded.begin(), loaded.end(), [](float value) { return value == 1; }));
}

}  // namespace

TEST_CASE("kernels of all GPUs load from their neighbours and count together") {
  require_counted({"data=functional"}, true);
}

TEST_CASE("kernels of all GPUs count together in a run without data") {
  require_counted({"data=timing-only", "system.links.topology=switch"}, false);
}

TEST_CASE("what the owner refuses of a fetch-and-add is the kernel's code and in its GPU's log") {
  updates_off = true;
  const RunResult result = count({"data=functional", "gpus=2"});
  CAPTURE(result.diagnosis);
  CHECK(olds.empty());
  for (std::uint32_t g = 0; g < 2; ++g) CHECK(answers[g][6] == T3_DISABLED);
  const auto tells = [&](const std::string& text) {
    return std::any_of(result.diagnosis.begin(), result.diagnosis.end(),
                       [&](const std::string& line) { return line.find(text) != std::string::npos; });
  };
  CHECK(tells("GPU 1 error log"));
  CHECK(tells("refused by GPU 0: the unit that should do this is switched off"));
  CHECK(tells("fetch-and-add while near_memory.control.enable is 0"));
}

TEST_CASE("a kernel that counts where a run without data has no bytes is refused") {
  stores_on_counter = true;
  const RunResult result = count({"data=timing-only", "gpus=2"});
  CAPTURE(result.diagnosis);
  CHECK(answers[0][6] == T3_ACCESS_DENIED);
}

TEST_CASE("one GPU that stands for all has nobody to load from") {
  const RunResult result = count({"data=timing-only", "simulate=mirror"});
  CAPTURE(result.diagnosis);
  REQUIRE(answers[0].size() > 6);
  CHECK(answers[0][6] == T3_BAD_ADDRESS);
  CHECK(std::any_of(result.diagnosis.begin(), result.diagnosis.end(), [](const std::string& line) {
    return line.find("one GPU stands for all (simulate mirror), so that there is no memory of others to read") !=
           std::string::npos;
  }));
}

TEST_CASE("the diagnosis tells loads and fetch-and-adds whose answers are lost") {
  const RunResult result =
      count({"data=timing-only", "gpus=2", R"(inject={"drop_packet": {"link": 0, "packet": 30}})"});
  CAPTURE(result.diagnosis);
  CHECK(std::any_of(result.diagnosis.begin(), result.diagnosis.end(), [](const std::string& line) {
    return line.find("wait for other GPUs' answers; one is the fetch-and-add of 8 bytes at 0x") != std::string::npos;
  }));
}

}  // namespace t3vp::test::remote_memory_test
