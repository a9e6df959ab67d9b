// Fused sums of GPUs without near-memory units: their last-level caches add.
#include <catch2/catch.hpp>

#include "io/input_error.h"
#include "system/platform_run.h"
#include "system/reference_sum.h"
#include "t3/workloads/gemm.h"
#include "workloads/gemm/fused_kind.h"

namespace t3vp::test::cache_atomics_test {

using t3vp::name_of;

namespace {

constexpr t3_fused_kind kinds[] = {T3_FUSED_RING_REDUCE_SCATTER, T3_FUSED_DIRECT_REDUCE_SCATTER, T3_FUSED_ALL_REDUCE};

/// A cache that holds the output, or one of few lines, whose sums are evicted and fetched again.
const Settings whole{"system.cache.atomic_bytes_per_cycle=8"},
    small_cache{"system.cache.atomic_bytes_per_cycle=8", "system.cache.banks=4", "system.cache.ways=4",
                "system.cache.capacity_MiB=0.015625"};

Settings settings_of(t3_fused_kind kind, std::uint32_t gpus, const char* method = "t3") {
  return {on_small_system(),
          "gpus=" + std::to_string(gpus),
          std::string("method=") + method,
          std::string("workload.fused=") + name_of(kind),
          "system.links.topology=fully-connected",
          "system.tracker.chunks=64",
          "system.dma.commands=64"};
}

Run run_of(const Settings& settings) {
  Run run = Run::of_platform(settings);
  CAPTURE(run.diagnosis());
  REQUIRE(run.exit_code() == 0);
  return run;
}

}  // namespace

namespace {

/// Neither M nor N is a multiple of the tile.
void check_sums(std::uint32_t gpus, const char* method) {
  const std::pair<Settings, Settings> cases[] = {
      {whole, gemm(333, 139, 40)}, {small_cache, gemm(333, 139, 40)}, {small_cache, gemm(130, 331, 64)}};
  for (const t3_fused_kind kind : kinds)
    for (const auto& [cache, shape] : cases) {
      CAPTURE(gpus, name_of(kind), cache.size());
      const Run run =
          run_of(shape + settings_of(kind, gpus, method) + cache + Settings{"data=functional", "check=all"});
      const Comparison comparison = compare(run, gpus, Element::fp16);
      CHECK(comparison.elements > 0);
      CHECK(comparison.wrong == 0);
    }
}

}  // namespace

TEST_CASE("caches that add give 3 GPUs the right sums at odd sizes") { check_sums(3, "t3"); }
TEST_CASE("caches that add give 5 GPUs the right sums at odd sizes") { check_sums(5, "t3-mca"); }
TEST_CASE("caches that add give 7 GPUs the right sums at odd sizes") { check_sums(7, "t3"); }
TEST_CASE("caches that add give 8 GPUs the right sums at odd sizes") { check_sums(8, "t3-mca"); }

TEST_CASE("tiles that workgroups add to a peer's cache give the right sums") {
  for (const std::uint32_t gpus : {3u, 8u})
    for (const char* gather : {"stores", "kernel"}) {
      const bool apart = std::string(gather) == "stores";
      const nlohmann::json rival{{"communication_units", apart ? 1 : 0}, {"gather", gather}};
      const Settings settings{on_small_system(),
                              "gpus=" + std::to_string(gpus),
                              "method=direct-update",
                              "workload.rival=" + rival.dump(),
                              "system.links.topology=fully-connected",
                              "collectives.algorithm=auto",
                              "data=functional",
                              "check=all"};
      CHECK(compare(run_of(gemm(333, 139, 40) + settings + small_cache), gpus, Element::fp16).wrong == 0);
    }
}

TEST_CASE("caches that add take as long and move as much without data, at any quantum") {
  for (const t3_fused_kind kind : kinds)
    for (const Settings& cache : {whole, small_cache}) {
      const Settings settings = gemm(300, 200, 64) + settings_of(kind, 5) + cache;
      const Run with = run_of(settings + Settings{"data=functional"}),
                without = run_of(settings + Settings{"data=timing-only"});
      for (const char* key : {"time_ns", "dram_bytes", "links"}) CHECK(with.report()[key] == without.report()[key]);
    }
  const Settings settings = gemm(300, 200, 64) + settings_of(T3_FUSED_RING_REDUCE_SCATTER, 3) + small_cache;
  const Run fine = run_of(settings + Settings{"quantum_ns=1"}),
            coarse = run_of(settings + Settings{"quantum_ns=1000000"});
  CHECK(fine.report()["functional"]["mismatches"] == 0);
  CHECK(coarse.report()["functional"]["mismatches"] == 0);
}

// 16 tiles of 8 KiB on four GPUs. Near memory each element of the own chunk is updated by all GPUs. A cache that holds
// the chunk fetches it once, and keeps the sums.
TEST_CASE("DRAM moves each sum once, where near memory it moves each addend") {
  constexpr double chunk = 256 * 256 * 2 / 4;
  const Settings settings = gemm(256, 256, 64) + settings_of(T3_FUSED_DIRECT_REDUCE_SCATTER, 4);
  const Run near = run_of(settings), cached = run_of(settings + whole);
  const auto moved = [](const Run& run) { return run.dram_bytes("gemm_write") + run.dram_bytes("rs_write"); };
  CHECK(moved(near) == 4 * chunk);
  CHECK(moved(cached) == chunk);
  CHECK(cached.statistic("gpu0.cache.update_misses") == chunk / 32);
  CHECK(cached.statistic("gpu0.cache.updates") == 4 * chunk / 32);
  CHECK(near.report()["links"].size() == cached.report()["links"].size());
}

TEST_CASE("a slow bank of adders makes the fused time longer") {
  const auto fused = [](const char* rate) {
    return run_of(gemm(512, 512, 64) + settings_of(T3_FUSED_DIRECT_REDUCE_SCATTER, 4) +
                  Settings{std::string("system.cache.atomic_bytes_per_cycle=") + rate, "data=timing-only"})
        .time("fused");
  };
  CHECK(fused("0.05") > 1.5 * fused("8"));
}

TEST_CASE("what needs near-memory units is refused in a line") {
  const auto refusal = [](const Settings& more) -> std::string {
    try {
      configuration_of(gemm(512, 512, 64) + settings_of(T3_FUSED_ALL_REDUCE, 4) + more);
      return "";
    } catch (const InputError& error) {
      return error.what();
    }
  };
  CHECK_THAT(refusal(whole + Settings{"workload.following=residual"}), Catch::Contains("/workload/following"));
  CHECK_THAT(refusal({"system.cache.atomic_bytes_per_cycle=0"}), Catch::Contains("atomic_bytes_per_cycle"));
  CHECK(refusal(whole).empty());
}

}  // namespace t3vp::test::cache_atomics_test
