// Kernels put, get and signal by their NICs in a symmetric heap, and what goes wrong there.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

#include "driver_errors/whole_runs.h"
#include "report/report.h"
#include "t3/check.h"
#include "t3/shmem.h"
#include "t3/shmem_device.h"

namespace t3vp::test::test_shmem {

namespace {

constexpr std::uint64_t piece = 1 << 16;  // of the heap, for each purpose

/// What the kernel is told.
struct Told {
  std::uint64_t table, table_bytes, source, target, flags;
  std::uint32_t gpu, gpus, workgroups, contexts;
};

/// What a case is about: a wave of the kernel, and what host and kernel do beside.
struct Case {
  void (*run)(t3_wave* wave, const Told& told, t3_shmem* shmem) = nullptr;
  std::uint32_t workgroups = 1, contexts = 1, entries = 16;
  bool cached = false;
  std::uint32_t withdraws_after_us = 0;  ///< GPU 1 withdraws its heap's key
  bool wrong_key = false;                ///< in GPU 0's table
  bool is_gone = false;                  ///< GPU 1 resets its queue pairs
  std::uint32_t gpus_per_node = 0;
};
Case the;

std::array<std::vector<unsigned char>, most_gpus> targets, flags;
std::array<t3_status, most_gpus> ended, closed;
std::array<std::uint64_t, most_gpus> kernel_ns;

unsigned char pattern(std::uint64_t gpu, std::uint64_t i) {
  return static_cast<unsigned char>(gpu * 101 + i * 7 + i / 256);
}

t3_plan plan(const t3_device*, const t3_launch* launch) {
  const auto& p = *static_cast<const Told*>(launch->arguments);
  t3_plan plan{};
  plan.name = "shmem";
  plan.workgroups = p.workgroups;
  plan.workgroups_per_cu = 64;
  plan.waves = 1;
  plan.local_bytes = sizeof(t3_shmem);
  plan.written[0] = {p.target, p.target + piece};
  plan.written_count = 1;
  const std::uint64_t table = p.table & T3_LOCAL_MASK, shared = p.flags & T3_LOCAL_MASK;
  plan.shared[0] = {table, table + p.table_bytes};
  plan.shared[1] = {shared, shared + piece};
  plan.shared_count = 2;
  plan.doorbells = plan.awaits_arrivals = true;
  return plan;
}

void run_wave(t3_wave* wave) {
  const auto& told = *static_cast<const Told*>(wave->arguments);
  auto* const shmem = static_cast<t3_shmem*>(wave->local);
  if (t3_shmem_open(wave, told.table, wave->workgroup % told.contexts, shmem) != T3_OK) return;
  the.run(wave, told, shmem);
}

const t3_kernel* const* kernels() {
  static t3_kernel kernel{};
  static const t3_kernel* const kernels[] = {&kernel, nullptr};
  kernel.name = "shmem";
  kernel.arguments = {sizeof(Told), sizeof(Told),
                      [](void* arguments, const unsigned char* bytes) { std::memcpy(arguments, bytes, sizeof(Told)); }};
  kernel.reads = "gemm_read";
  kernel.writes = "gemm_write";
  kernel.check = [](t3_check*, const t3_launch*) { return true; };
  kernel.plan = plan;
  kernel.run = run_wave;
  return kernels;
}

void spoil_keys(const t3_hal* hal, const t3_shmem_heap& heap) {
  unsigned char bytes[64];
  for (std::uint64_t at = heap.table + 64; at < heap.table + 64 + 64 * 4; at += 64) {
    hal->read_memory(hal->platform, at, bytes, sizeof bytes);
    t3_shmem_queue queue = t3_shmem_queue_from(bytes);
    queue.key += 1;
    t3_shmem_queue_to(&queue, bytes);
    hal->write_memory(hal->platform, at, bytes, sizeof bytes);
  }
}

t3_status program(const t3_hal* hal, const t3_job*) {
  t3_context gpu{};
  t3_shmem_heap heap{};
  std::uint64_t source = 0, target = 0, flag = 0;
  T3_TRY(t3_init(&gpu, hal));
  T3_TRY(t3_shmem_init(&gpu, {8 * piece, the.contexts, the.entries, the.gpus_per_node, the.cached}, &heap));
  T3_TRY(t3_shmem_malloc(&gpu, &heap, piece, &source));
  T3_TRY(t3_shmem_malloc(&gpu, &heap, piece, &target));
  T3_TRY(t3_shmem_malloc(&gpu, &heap, piece, &flag));
  std::vector<unsigned char> bytes(piece);
  hal->write_memory(hal->platform, target, bytes.data(), piece);
  hal->write_memory(hal->platform, flag, bytes.data(), piece);
  for (std::uint64_t i = 0; i < piece; ++i) bytes[i] = pattern(hal->gpu, i);
  hal->write_memory(hal->platform, source, bytes.data(), piece);
  if (the.wrong_key && hal->gpu == 0) spoil_keys(hal, heap);
  for (std::uint32_t i = 0; the.is_gone && hal->gpu == 1 && i < heap.queue_count; ++i)
    T3_TRY(t3_nic_reset(&gpu, &heap.queues[i]));
  T3_TRY(t3_meet_hosts(&gpu));
  const Told told{heap.table, heap.table_bytes, source, target, flag, hal->gpu, gpu.gpus, the.workgroups, the.contexts};
  const std::uint64_t begin = hal->time_ns(hal->platform);
  T3_TRY(t3_run_kernel(&gpu, "shmem", &told, sizeof told, {}));
  if (the.withdraws_after_us != 0 && hal->gpu == 1) {
    hal->wait_ns(hal->platform, 1000 * std::uint64_t{the.withdraws_after_us});
    T3_TRY(t3_nic_withdraw(&gpu, heap.key));
  }
  ended[hal->gpu] = t3_wait_kernels(&gpu);
  kernel_ns[hal->gpu] = hal->time_ns(hal->platform) - begin;
  T3_TRY(t3_meet_hosts(&gpu));
  T3_TRY(t3_flush_cache(&gpu));
  hal->read_memory(hal->platform, target, bytes.data(), piece);
  targets[hal->gpu] = bytes;
  hal->read_memory(hal->platform, flag, bytes.data(), piece);
  flags[hal->gpu] = bytes;
  if (the.withdraws_after_us == 0) closed[hal->gpu] = t3_shmem_close(&gpu, &heap);
  return t3_close(&gpu);
}

RunResult run(const Case& what, const std::vector<std::string>& settings = {}) {
  the = what;
  ended.fill(T3_STUCK);
  const std::string configs = T3VP_SOURCE_DIR "/configs/";
  std::vector<std::string> all{
      "system=" + configs + "systems/small-4.json", "data=functional", "gpus=2", "check=protocol",
      R"(system.nic={"messages_per_us": 215, "io_latency_ns": 200, "io_GBps": 26, "entry_fetches": 128,
          "payload_in_flight_KiB": 64, "mtu_bytes": 4096, "wire_GBps": 25, "wire_latency_ns": 700,
          "writes_invalidate": true})"};
  all.insert(all.end(), settings.begin(), settings.end());
  RunOptions options;
  options.program = program;
  options.kernels = kernels();
  return simulate(load_run(configs + "runs/gemm-rs-4gpu.json", all), options);
}

void require_ended(const RunResult& result, std::uint32_t gpus = 2) {
  CAPTURE(result.diagnosis);
  REQUIRE(result.diagnosis.empty());
  for (std::uint32_t g = 0; g < gpus; ++g) REQUIRE(ended[g] == T3_OK);
}

bool tells(const RunResult& result, const std::string& text) {
  return std::any_of(result.diagnosis.begin(), result.diagnosis.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

std::uint32_t other(const Told& told) { return 1 - told.gpu; }

bool await_flag(t3_wave* wave, std::uint64_t address, std::uint64_t value) {
  return t3_await_value(wave, {address, 8, T3_EQUAL, ~std::uint64_t{0}, value, false});
}

std::uint64_t flag_of(std::uint32_t gpu, std::uint64_t number) {
  std::uint64_t value = 0;
  std::memcpy(&value, &flags[gpu][8 * number], sizeof value);
  return value;
}

/// Odd pieces, one behind the other.
constexpr std::array<std::uint64_t, 8> sizes{1, 3, 63, 64, 65, 257, 4096, 4099};

std::uint64_t place_of(std::size_t i) {
  std::uint64_t at = 5;
  for (std::size_t before = 0; before < i; ++before) at += sizes[before] + 3;
  return at;
}

void require_pieces(std::uint32_t gpu, std::uint64_t from) {
  for (std::size_t i = 0; i < sizes.size(); ++i)
    for (std::uint64_t at = place_of(i) - 1; at <= place_of(i) + sizes[i]; ++at) {
      const bool inside = at >= place_of(i) && at < place_of(i) + sizes[i];
      INFO("size " << sizes[i] << " at " << at);
      REQUIRE(targets[gpu][at] == (inside ? pattern(from, at) : 0));
    }
}

}  // namespace

TEST_CASE("kernels put bytes of any number and a flag behind a fence") {
  const RunResult result = run({[](t3_wave* wave, const Told& told, t3_shmem* shmem) {
    for (std::size_t i = 0; i < sizes.size(); ++i)
      t3_shmem_put_nbi(wave, shmem, other(told), told.target + place_of(i), told.source + place_of(i), sizes[i]);
    t3_shmem_fence(wave, shmem, other(told));
    t3_shmem_put_value(wave, shmem, other(told), told.flags + 8, 77);
    (void)await_flag(wave, told.flags + 8, 77);
    t3_shmem_quiet(wave, shmem);
  }});
  require_ended(result);
  for (std::uint32_t g = 0; g < 2; ++g) require_pieces(g, 1 - g);
}

TEST_CASE("a kernel that has seen a signal finds what was put before it") {
  static std::array<std::array<unsigned char, 64>, 2> seen;
  const RunResult result = run({[](t3_wave* wave, const Told& told, t3_shmem* shmem) {
    t3_shmem_put_signal_nbi(wave, shmem, other(told), told.flags + 4096, told.source + 4096, 61, told.flags, 5);
    (void)await_flag(wave, told.flags, 5);
    (void)t3_read(wave, told.flags + 4096, 61, seen[told.gpu].data());
    t3_shmem_quiet(wave, shmem);
  }});
  require_ended(result);
  for (std::uint32_t g = 0; g < 2; ++g)
    for (std::uint64_t i = 0; i < 61; ++i) REQUIRE(seen[g][i] == pattern(1 - g, 4096 + i));
}

TEST_CASE("a kernel gets bytes of any number") {
  const RunResult result = run({[](t3_wave* wave, const Told& told, t3_shmem* shmem) {
    for (std::size_t i = 0; i < sizes.size(); ++i)
      t3_shmem_get(wave, shmem, other(told), told.target + place_of(i), told.source + place_of(i), sizes[i]);
  }});
  require_ended(result);
  for (std::uint32_t g = 0; g < 2; ++g) require_pieces(g, 1 - g);
}

TEST_CASE("many workgroups share contexts whose rings go round") {
  const RunResult result =
      run({[](t3_wave* wave, const Told& told, t3_shmem* shmem) {
             for (std::uint64_t i = 0; i < 5; ++i) {
               const std::uint64_t at = 40 * (5 * wave->workgroup + i);
               t3_shmem_put_nbi(wave, shmem, other(told), told.target + at, told.source + at, 33);
             }
             t3_shmem_fence(wave, shmem, other(told));
             t3_shmem_put_value(wave, shmem, other(told), told.flags + 8 * wave->workgroup, 1000 + wave->workgroup);
             t3_shmem_quiet(wave, shmem);
           },
           48, 2, 4});
  require_ended(result);
  for (std::uint32_t g = 0; g < 2; ++g)
    for (std::uint64_t w = 0; w < 48; ++w) {
      REQUIRE(flag_of(g, w) == 1000 + w);
      for (std::uint64_t i = 0; i < 5 * 40; ++i)
        REQUIRE(targets[g][200 * w + i] == (i % 40 < 33 ? pattern(1 - g, 200 * w + i) : 0));
    }
}

TEST_CASE("flags and queues are real in a run without data") {
  const RunResult result = run({[](t3_wave* wave, const Told& told, t3_shmem* shmem) {
                                 t3_shmem_put_nbi(wave, shmem, other(told), told.target, told.source, 5000);
                                 t3_shmem_fence(wave, shmem, other(told));
                                 t3_shmem_put_value(wave, shmem, other(told), told.flags, 9);
                                 (void)await_flag(wave, told.flags, 9);
                                 t3_shmem_quiet(wave, shmem);
                               }},
                               {"data=timing-only"});
  require_ended(result);
  CHECK(flag_of(0, 0) == 9);
}

TEST_CASE("lost packets are sent again and nothing is missing") {
  const RunResult result = run({[](t3_wave* wave, const Told& told, t3_shmem* shmem) {
                                 t3_shmem_put_nbi(wave, shmem, other(told), told.target, told.source, 50000);
                                 t3_shmem_quiet(wave, shmem);
                               }},
                               {R"(inject={"drop_packets": {"gpu": 0, "count": 3}})"});
  CAPTURE(result.diagnosis);
  for (std::uint32_t g = 0; g < 2; ++g) {
    REQUIRE(ended[g] == T3_OK);
    for (std::uint64_t i = 0; i < 50000; ++i) REQUIRE(targets[g][i] == pattern(1 - g, i));
  }
}

TEST_CASE("a wrong key ends the kernel with its syndrome and the others of the ring are flushed") {
  Case what{[](t3_wave* wave, const Told& told, t3_shmem* shmem) {
              if (told.gpu != 0) return;
              for (int i = 0; i < 3; ++i) t3_shmem_put_nbi(wave, shmem, 1, told.target + 64, told.source, 32);
              t3_shmem_quiet(wave, shmem);
            },
            4};
  what.wrong_key = true;
  const RunResult result = run(what);
  CAPTURE(result.diagnosis);
  CHECK(ended[0] == T3_ABORTED);
  CHECK(ended[1] == T3_OK);
  CHECK(tells(result, "t3_shmem_quiet: entry 0 of queue pair 0 to GPU 1 has ended with syndrome 19 at 0x1000"));
  CHECK(tells(result, "the remote key is not valid, does not cover the bytes or does not permit the access"));
}

TEST_CASE("what has failed behind a kernel that did not wait is told when the heap is closed") {
  Case what{[](t3_wave* wave, const Told& told, t3_shmem* shmem) {
              if (told.gpu != 0) return;
              for (int i = 0; i < 3; ++i) t3_shmem_put_nbi(wave, shmem, 1, told.target + 64, told.source, 32);
            },
            4};
  what.wrong_key = true;
  const RunResult result = run(what);
  CAPTURE(result.diagnosis);
  CHECK(ended[0] == T3_OK);
  CHECK(closed[0] == T3_ACCESS_DENIED);
  CHECK(closed[1] == T3_OK);
}

TEST_CASE("a heap is closed when the last put has ended") {
  const RunResult result = run({[](t3_wave* wave, const Told& told, t3_shmem* shmem) {
                                 t3_shmem_put_nbi(wave, shmem, other(told), told.target, told.source, 60000);
                               }},
                               {"system.host.exchange_ns=1"});
  require_ended(result);
  CHECK(closed[0] == T3_OK);
  CHECK(closed[1] == T3_OK);
}

TEST_CASE("a key that is withdrawn while kernels use it ends them with its syndrome") {
  Case what{[](t3_wave* wave, const Told& told, t3_shmem* shmem) {
    if (told.gpu != 0) return;
    for (int i = 0; i < 1000; ++i) t3_shmem_put_nbi(wave, shmem, 1, told.target, told.source, 64);
    t3_shmem_quiet(wave, shmem);
  }};
  what.withdraws_after_us = 50;
  const RunResult result = run(what);
  CAPTURE(result.diagnosis);
  CHECK(ended[0] == T3_ABORTED);
  CHECK(tells(result, "t3_shmem_put_nbi: entry "));
  CHECK(tells(result, " of queue pair 0 to GPU 1 has ended with syndrome 19 at 0x1000"));
}

void require_mistake(void (*wave)(t3_wave*, const Told&, t3_shmem*), const std::string& text) {
  static void (*mistake)(t3_wave*, const Told&, t3_shmem*);
  mistake = wave;
  const RunResult result = run({[](t3_wave* w, const Told& told, t3_shmem* shmem) {
    if (told.gpu == 0) mistake(w, told, shmem);
  }});
  CAPTURE(result.diagnosis);
  CHECK(ended[0] == T3_ABORTED);
  CHECK(ended[1] == T3_OK);
  CHECK(tells(result, text));
}

TEST_CASE("a put to the own GPU ends the kernel") {
  require_mistake([](t3_wave* w, const Told& t, t3_shmem* s) { t3_shmem_put_nbi(w, s, 0, t.target, t.source, 8); },
                  "kernel shmem: workgroup 0, wave 0: t3_shmem_put_nbi with GPU 0: another one of 2 expected");
}

TEST_CASE("a put to no GPU ends the kernel") {
  require_mistake([](t3_wave* w, const Told& t, t3_shmem* s) { t3_shmem_put_value(w, s, 7, t.target, 8); },
                  "t3_shmem_put_value with GPU 7: another one of 2 expected");
}

TEST_CASE("a get from outside of the heap ends the kernel") {
  require_mistake(
      [](t3_wave* w, const Told& t, t3_shmem* s) { t3_shmem_get(w, s, 1, t.target, t.target + 8 * piece, 8); },
      "t3_shmem_get of 8 bytes at 0x");
}

TEST_CASE("a put of nothing ends the kernel") {
  require_mistake([](t3_wave* w, const Told& t, t3_shmem* s) { t3_shmem_put_nbi(w, s, 1, t.target, t.source, 0); },
                  "t3_shmem_put_nbi of 0 bytes at 0x");
}

TEST_CASE("a context that there is not ends the kernel") {
  require_mistake([](t3_wave* w, const Told& t, t3_shmem* s) { (void)t3_shmem_open(w, t.table, 3, s); },
                  "t3_shmem_open of context 3: the table at 0x");
}

TEST_CASE("a completion that goes stale in the cache is told and is no hang") {
  Case what{[](t3_wave* wave, const Told& told, t3_shmem* shmem) {
    if (told.gpu != 0) return;
    t3_shmem_put_nbi(wave, shmem, 1, told.target, told.source, 64);
    t3_shmem_quiet(wave, shmem);
  }};
  what.cached = true;
  const RunResult result = run(what, {"system.nic.writes_invalidate=false"});
  CAPTURE(result.diagnosis);
  CHECK(ended[0] == T3_STUCK);
  CHECK(tells(result, "shmem: workgroup 0, wave 0 polls 2 bytes at 0x"));
  CHECK(tells(result, "something else than 0xfff1 expected"));
}

TEST_CASE("completions may be cached where the NIC's writes invalidate") {
  Case what{[](t3_wave* wave, const Told& told, t3_shmem* shmem) {
    t3_shmem_put_nbi(wave, shmem, other(told), told.target, told.source, 64);
    t3_shmem_quiet(wave, shmem);
  }};
  what.cached = true;
  require_ended(run(what));
  for (std::uint64_t i = 0; i < 64; ++i) REQUIRE(targets[0][i] == pattern(1, i));
}

TEST_CASE("a peer that is gone ends the kernel when the NIC has tried long enough") {
  Case what{[](t3_wave* wave, const Told& told, t3_shmem* shmem) {
    if (told.gpu != 0) return;
    t3_shmem_put_nbi(wave, shmem, 1, told.target, told.source, 64);
    t3_shmem_quiet(wave, shmem);
  }};
  what.is_gone = true;
  const RunResult result = run(what);
  CAPTURE(result.diagnosis);
  CHECK(ended[0] == T3_ABORTED);
  CHECK(tells(result,
              "t3_shmem_quiet: entry 0 of queue pair 0 to GPU 1 has ended with syndrome 21 at 0x0: the peer has "
              "not acknowledged it"));
  CHECK(kernel_ns[0] > 500'000'000);  // eight times 67 ms, in which nothing but polls goes on
}

TEST_CASE("peers of the node are reached by stores and the others by the NIC") {
  Case what{[](t3_wave* wave, const Told& told, t3_shmem* shmem) {
    for (std::uint32_t gpu = 0; gpu < told.gpus; ++gpu) {
      const std::uint64_t value = 100 * told.gpu + 10, place = t3_shmem_ptr(shmem, told.flags + 64 * told.gpu, gpu);
      if (place != 0)
        t3_write(wave, place, &value, sizeof value);
      else
        t3_shmem_put_value(wave, shmem, gpu, told.flags + 64 * told.gpu, value + 1);
    }
    t3_drain(wave);
    for (std::uint64_t gpu = 0; gpu < told.gpus; ++gpu)
      (void)t3_await_value(wave, {told.flags + 64 * gpu, 8, T3_NOT_EQUAL, ~std::uint64_t{0}, 0, false});
    t3_shmem_quiet(wave, shmem);
  }};
  what.gpus_per_node = 2;
  require_ended(run(what, {"gpus=4"}), 4);
  for (std::uint32_t g = 0; g < 4; ++g)
    for (std::uint32_t from = 0; from < 4; ++from)
      CHECK(flag_of(g, 8 * from) == 100 * from + 10 + (from / 2 == g / 2 ? 0 : 1));
}

// How many messages a second contexts carry: build/release/test_driver_errors "[rate]", with CONTEXTS in the
// environment
TEST_CASE("the rate of puts with fence and flag grows with the contexts", "[.][rate]") {
  const std::uint32_t contexts =
      std::getenv("CONTEXTS") == nullptr ? 1u : static_cast<std::uint32_t>(std::atoi(std::getenv("CONTEXTS")));
  const RunResult result =
      run({[](t3_wave* wave, const Told& told, t3_shmem* shmem) {
             for (std::uint64_t i = 0; i < 8; ++i) {
               t3_shmem_put_nbi(wave, shmem, other(told), told.target, told.source, 1024);
               t3_shmem_fence(wave, shmem, other(told));
               t3_shmem_put_value(wave, shmem, other(told), told.flags + 8 * wave->workgroup, i + 1);
             }
             t3_shmem_quiet(wave, shmem);
           },
           128, contexts, 256},
          {"data=timing-only"});
  CAPTURE(result.diagnosis);
  const double messages = 128 * 8 * 2;
  WARN(fmt::format("{} contexts: {:.2f} million data PUTs and flags a second on each GPU", contexts,
                   messages * 1e3 / static_cast<double>(kernel_ns[0])));
  CHECK(ended[0] == T3_OK);
}

}  // namespace t3vp::test::test_shmem
