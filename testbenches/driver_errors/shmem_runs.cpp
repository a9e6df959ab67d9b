#include "driver_errors/shmem_runs.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

#include "driver_errors/kernel_table.h"
#include "report/report.h"

namespace t3vp::test::shmem_runs {

std::array<std::vector<unsigned char>, gpus_max> targets, flags;
std::array<t3_status, gpus_max> opened, ended, closed;
std::array<std::uint64_t, gpus_max> kernel_ns;
std::array<std::vector<std::string>, gpus_max> logged_lines;

namespace {

Case the;

t3_plan plan(const t3_device*, const t3_launch* launch) {
  const auto& p = *static_cast<const Arguments*>(launch->arguments);
  t3_plan plan{};
  plan.name = "shmem";
  plan.workgroups = p.workgroups;
  plan.workgroups_per_cu = 64;
  plan.waves = the.waves;
  plan.tiles = 1;
  plan.local_bytes = sizeof(t3_shmem_ctx);
  plan.read[0] = {p.source, p.source + piece};
  plan.read_count = 1;
  plan.written[0] = {p.target, p.target + piece};
  plan.written_count = 1;
  const std::uint64_t table = p.table & T3_LOCAL_MASK, shared = p.flags & T3_LOCAL_MASK;
  plan.shared[0] = {table, table + p.table_bytes};
  plan.shared[1] = {shared, shared + piece};
  plan.shared_count = 2;
  plan.doorbells = plan.awaits_arrivals = plan.stores_here = true;
  return plan;
}

void run_wave(t3_wave* wave) {
  const auto& told = *static_cast<const Arguments*>(wave->arguments);
  if (the.opens_itself) return the.run(wave, told, static_cast<t3_shmem_ctx*>(wave->local));
  auto* const shmem = static_cast<t3_shmem_ctx*>(wave->local);
  if (t3_shmem_ctx_open(wave, told.table, wave->workgroup % told.contexts, shmem) != T3_OK) return;
  the.run(wave, told, shmem);
}

t3_status open_heap(Program& p) {
  t3_shmem_options options{8 * piece, the.contexts, the.entries, the.cached, false, the.collectives};
  if (the.change != nullptr) the.change(p.hal->gpu, options);
  return opened[p.hal->gpu] = t3_shmem_init(&p.gpu, options, &p.heap);
}

t3_status fill(Program& p, Arguments& told) {
  const t3_hal* hal = p.hal;
  T3_TRY(t3_shmem_malloc(&p.gpu, &p.heap, piece, &told.source));
  T3_TRY(t3_shmem_malloc(&p.gpu, &p.heap, piece, &told.target));
  T3_TRY(t3_shmem_malloc(&p.gpu, &p.heap, piece, &told.flags));
  std::vector<unsigned char> bytes(piece);
  hal->write_memory(hal->platform, told.target, bytes.data(), piece);
  hal->write_memory(hal->platform, told.flags, bytes.data(), piece);
  for (std::uint64_t i = 0; i < piece; ++i) bytes[i] = pattern(hal->gpu, i);
  return hal->write_memory(hal->platform, told.source, bytes.data(), piece);
}

std::vector<unsigned char> content(const t3_hal* hal, std::uint64_t address) {
  std::vector<unsigned char> bytes(piece);
  hal->read_memory(hal->platform, address, bytes.data(), piece);
  return bytes;
}

t3_status run_on(const t3_hal* hal) {
  Program p{hal, {}, {}};
  Arguments told{};
  T3_TRY(t3_init(&p.gpu, hal));
  if (open_heap(p) != T3_OK) return T3_OK;
  T3_TRY(fill(p, told));
  told.table = p.heap.table, told.table_bytes = p.heap.table_bytes;
  told.gpu = hal->gpu, told.gpus = t3_gpus(&p.gpu), told.workgroups = the.workgroups, told.contexts = the.contexts;
  if (the.before != nullptr) the.before(p);
  T3_TRY(t3_host_barrier(&p.gpu));
  const std::uint64_t begin = hal->time_ns(hal->platform);
  T3_TRY(t3_run_kernel(&p.gpu, "shmem", &told, sizeof told, {}));
  if (the.beside != nullptr) the.beside(p);
  ended[hal->gpu] = t3_wait_kernels(&p.gpu);
  kernel_ns[hal->gpu] = hal->time_ns(hal->platform) - begin;
  T3_TRY(t3_host_barrier(&p.gpu));
  T3_TRY(t3_flush_cache(&p.gpu));
  targets[hal->gpu] = content(hal, told.target);
  flags[hal->gpu] = content(hal, told.flags);
  if (the.leaves_heap) return T3_OK;
  closed[hal->gpu] = t3_shmem_finalize(&p.gpu, &p.heap);
  return t3_close(&p.gpu);
}

/// What the driver logs is noted; the platform knows its GPUs apart by `platform`.
t3_status program(const t3_hal* given, const t3_run*) {
  static std::array<t3_hal, gpus_max> hals;
  static std::array<void*, gpus_max> platforms;
  t3_hal& hal = hals[given->gpu];
  hal = *given;
  platforms[given->gpu] = given->platform;
  hal.log = [](void* platform, const char* text) {
    const auto place = std::find(platforms.begin(), platforms.end(), platform);
    logged_lines[static_cast<std::size_t>(place - platforms.begin())].emplace_back(text);
  };
  return run_on(&hal);
}

}  // namespace

unsigned char pattern(std::uint64_t gpu, std::uint64_t i) {
  return static_cast<unsigned char>(gpu * 101 + i * 7 + i / 256);
}

RunResult run(const Case& what, const std::vector<std::string>& settings) {
  the = what;
  ended.fill(T3_STUCK);
  RunOptions options;
  options.program = program;
  options.kernels = kernel_table<Arguments>("shmem", plan, run_wave);
  return simulate(two_with_nics(settings), options);
}

void require_ended(const RunResult& result, std::uint32_t gpus) {
  CAPTURE(result.diagnosis);
  REQUIRE(result.diagnosis.empty());
  for (std::uint32_t g = 0; g < gpus; ++g) REQUIRE(ended[g] == T3_OK);
}

void require_mistake(void (*wave)(t3_wave*, const Arguments&, t3_shmem_ctx*), const std::string& text,
                     bool collectives) {
  static void (*mistake)(t3_wave*, const Arguments&, t3_shmem_ctx*);
  mistake = wave;
  Case what{[](t3_wave* w, const Arguments& told, t3_shmem_ctx* shmem) {
    if (told.gpu == 0) mistake(w, told, shmem);
  }};
  what.collectives = collectives;
  const RunResult result = run(what);
  CAPTURE(result.diagnosis);
  CHECK(ended[0] == T3_ABORTED);
  CHECK(ended[1] == T3_OK);
  CHECK(tells(result, text));
}

bool tells(const RunResult& result, const std::string& text) {
  return std::any_of(result.diagnosis.begin(), result.diagnosis.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

bool await_flag(t3_wave* wave, std::uint64_t address, std::uint64_t value) {
  return t3_wait_value(wave, {address, 8, T3_EQUAL, ~std::uint64_t{0}, value, false});
}

std::uint64_t flag_of(std::uint32_t gpu, std::uint64_t number) {
  std::uint64_t value = 0;
  std::memcpy(&value, &flags[gpu][8 * number], sizeof value);
  return value;
}

}  // namespace t3vp::test::shmem_runs
