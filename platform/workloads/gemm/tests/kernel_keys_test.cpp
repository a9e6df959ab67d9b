// Keys of the GEMM's kernel: order of tiles, pipeline, stores from registers, and the cache that it finds.
#include <catch2/catch.hpp>
#include <cmath>

#include "system/kernel_runs.h"
#include "system/reference_sum.h"

namespace t3vp::test::kernel_keys_test {
namespace {

/// One GPU, the GEMM alone.
Settings alone(std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  return gemm(m, n, k) +
         Settings{on_small_system(), "gpus=1", "method=ideal-overlap", "phases=[\"gemm\"]", "data=timing-only"};
}

double gemm_time(const Settings& settings) { return right_run(settings).time("gemm"); }

Settings key(const char* name, std::uint32_t value) {
  return {std::string("workload.gemm.") + name + "=" + std::to_string(value)};
}

}  // namespace

TEST_CASE("step_ns adds its time to each K tile of a workgroup that is alone") {
  const Settings one = alone(64, 64, 320);  // ten K tiles of 32
  const double longer = gemm_time(one + key("step_ns", 3000)), shorter = gemm_time(one + key("step_ns", 1000));
  CHECK(longer - shorter == Approx(10 * 2000.0).epsilon(1e-9));
}

TEST_CASE("step_ns leaves the lanes to the other workgroup of the compute unit") {
  const Settings two = alone(64, 64 * 8, 320);  // two on each of the four compute units
  const double product_ns = 2.0 * 64 * 64 * 32 / (1024 * 0.75);
  const double without = gemm_time(two), with = gemm_time(two + key("step_ns", std::lround(product_ns / 2)));
  // Alone it would take five products longer.
  CHECK(with < without + 2 * product_ns);
}

TEST_CASE("stores of 4 bytes pass the port in twice the time of stores of 8") {
  const Settings one = alone(64, 64, 32);
  const double four = gemm_time(one + key("store_bytes", 4)), eight = gemm_time(one + key("store_bytes", 8));
  const double bytes = 64 * 64 * 2, port = 64;
  CHECK(four - eight == Approx(bytes * (32 / 4 - 32 / 8) / port).epsilon(0.02));
}

TEST_CASE("compute.store_bytes_per_cycle is the rate of stores, and 0 that of the port") {
  const Settings one = alone(64, 64, 32);
  const auto at = [&](double rate) {
    return gemm_time(one + Settings{"system.compute.store_bytes_per_cycle=" + std::to_string(rate)});
  };
  CHECK(at(0) == at(64));
  CHECK(at(4) - at(8) == Approx(64 * 64 * 2 * (1.0 / 4 - 1.0 / 8)).epsilon(0.02));
}

TEST_CASE("stages of 1 load a K tile when the one before it has been multiplied") {
  const Settings one = alone(64, 64, 320);
  const double product_ns = 2.0 * 64 * 64 * 32 / (1024 * 0.75), load_ns = 2 * 64 * 32 * 2 / 64.0;
  CHECK(gemm_time(one + key("stages", 1)) > 10 * (product_ns + load_ns));
  CHECK(gemm_time(one + key("stages", 0)) == gemm_time(one + key("stages", 2)));
  CHECK(gemm_time(one + key("stages", 2)) < gemm_time(one + key("stages", 1)));
}

TEST_CASE("a persistent workgroup loads its next tile behind the products of the one before, and stores beside them") {
  // Four tiles of ten K tiles each on the only compute unit. Stores take a tenth of a tile's products.
  const Settings four = alone(64, 64 * 4, 320) + Settings{"system.compute.compute_units=1", "workload.gemm.tile=64x64",
                                                          "system.compute.workgroups_per_cu=1"};
  const double products_ns = 2.0 * 64 * 64 * 320 / (1024 * 0.75);
  const auto time = [&](std::uint32_t workgroups) {
    return gemm_time(four + key("persistent_workgroups", workgroups));
  };
  const double one =
      gemm_time(alone(64, 64, 320) + Settings{"system.compute.compute_units=1", "workload.gemm.tile=64x64",
                                              "system.compute.workgroups_per_cu=1"});
  CHECK(time(1) == Approx(one + 3 * products_ns).epsilon(0.005));
  CHECK(time(0) > time(1) + 2 * (one - products_ns - 3000));
  CHECK(time(4) == time(0));
  CHECK(time(1000) == time(0));
}

TEST_CASE("persistent workgroups compute every tile once, whatever their number and the order") {
  for (const std::uint32_t workgroups : {1u, 3u, 7u, 100u}) {
    CAPTURE(workgroups);
    const Settings sums = gemm(300, 200, 72) + Settings{on_small_system(), "gpus=2", "method=sequential", "check=all"};
    const Run plain = right_run(sums + key("persistent_workgroups", workgroups)),
              grouped = right_run(sums + key("persistent_workgroups", workgroups) + key("group", 2));
    CHECK(compare(plain, 2, Element::fp16).wrong == 0);
    CHECK(compare(grouped, 2, Element::fp16).wrong == 0);
  }
}

TEST_CASE("tiles in groups of columns share more of A, and the sums stay right") {
  const Settings columns{"workload.gemm.group_columns=true"};
  const Settings wide = alone(512, 1024, 256);  // A 256 KiB and B 512 KiB, beside a cache of 256 KiB
  const auto read = [](const Settings& settings) { return right_run(settings).dram_bytes("gemm_read"); };
  CHECK(read(wide + key("group", 4) + columns) < 0.8 * read(wide + key("group", 100)));
  CHECK(read(wide + key("group", 100) + columns) == read(wide));  // all columns: row by row
  for (const std::uint32_t group : {2u, 3u, 100u}) {
    const Settings sums = gemm(300, 200, 64) + Settings{on_small_system(), "gpus=2", "method=sequential"};
    const Run run = right_run(sums + columns + key("group", group) + Settings{"check=all"});
    CHECK(compare(run, 2, Element::fp16).wrong == 0);
  }
}

TEST_CASE("tiles in groups of rows share more of B, and the sums stay right") {
  const Settings tall = alone(1024, 512, 256);  // A 512 KiB and B 256 KiB, beside a cache of 256 KiB
  const double rows = right_run(tall).dram_bytes("gemm_read"),
               grouped = right_run(tall + key("group", 4)).dram_bytes("gemm_read");
  CHECK(grouped < 0.8 * rows);
  for (const std::uint32_t group : {2u, 3u, 100u}) {
    const Settings sums = gemm(300, 200, 64) + Settings{on_small_system(), "gpus=2", "method=sequential"};
    const Run run = right_run(sums + key("group", group) + Settings{"check=all"});
    CHECK(compare(run, 2, Element::fp16).wrong == 0);
  }
}

TEST_CASE("a cache full of another buffer's modified lines is written back while the GEMM runs") {
  const Settings large = alone(1024, 1024, 512);  // its operands are 2 MiB
  const Run clean = right_run(large), dirty = right_run(large + Settings{"workload.cache_at_start=dirty"});
  double extra = 0;
  for (const auto& [name, bytes] : dirty.report()["dram_bytes"].items())
    if (name.find("write") != std::string::npos) extra += bytes.get<double>() - clean.dram_bytes(name);
  CHECK(extra == Approx(0.25 * (1 << 20)).epsilon(0.02));
  CHECK(dirty.time("gemm") > clean.time("gemm"));
  CHECK(dirty.dram_bytes("gemm_read") == Approx(clean.dram_bytes("gemm_read")).epsilon(0.05));
}

TEST_CASE("a GEMM alone leaves its output in the cache") {
  CHECK(right_run(alone(64, 64, 32)).dram_bytes("gemm_write") == 0);
  const double all = right_run(alone(1024, 1024, 64)).dram_bytes("gemm_write");
  CHECK(all >= 1024 * 1024 * 2 - 0.25 * (1 << 20));
  CHECK(all < 1024 * 1024 * 2);
}

TEST_CASE("a GEMM alone whose k is split adds each share to its output, by more workgroups") {
  const Settings one = alone(64, 64, 1024);
  const Run whole = right_run(one), split = right_run(one + Settings{"workload.split_k=4"});
  CHECK(split.dram_bytes("gemm_write") == 4.0 * 64 * 64 * 2);
  CHECK(split.time("gemm") < 0.6 * whole.time("gemm"));
  CHECK_THAT(refusal_of(alone(64, 128, 1024) + Settings{"workload.split_k=4", "gpus=2"}),
             Catch::Contains("/workload/split_k: found 4"));
}

TEST_CASE("keys of the kernel are refused where they mean nothing") {
  const Settings fused = gemm(256, 256, 64) + Settings{on_small_system(), "gpus=2", "method=t3"};
  CHECK_THAT(refusal_of(fused + key("group", 2)),
             Catch::Contains("/workload/gemm/group: found 2 (--set), expected 1, or method"));
  CHECK_THAT(refusal_of(fused + Settings{"workload.cache_at_start=dirty"}),
             Catch::Contains("/workload/cache_at_start: found \"dirty\" (--set), expected clean, or method"));
  const Settings split = alone(64, 64, 1024) + Settings{"workload.split_k=4"};
  for (const Settings& settings : {fused, split})
    CHECK_THAT(refusal_of(settings + key("persistent_workgroups", 2)),
               Catch::Contains("/workload/gemm/persistent_workgroups: found 2 (--set), expected 0, or method"));
  CHECK_THAT(refusal_of(fused + key("stages", 3)),
             Catch::Contains("/workload/gemm/stages: found 3 (--set), expected 0 to 2, compute.prefetch_slabs"));
}

}  // namespace t3vp::test::kernel_keys_test
