// One GPU that stands for all, the paper's own method (T3 section 5), against a ring of real neighbours.
#include <catch2/catch.hpp>

#include "system/platform_run.h"

namespace t3vp::test::mirror_test {

namespace {

struct Case {
  const char* what;
  std::uint32_t gpus, m, n;
};

Run simulate(const Case& c, const std::string& method, const std::string& which, const Settings& more = {}) {
  return Run::of_platform(gemm(c.m, c.n, 128) +
                          Settings{on_small_system(), "gpus=" + std::to_string(c.gpus), "method=" + method,
                                   "data=timing-only", "simulate=" + which} +
                          more);
}

void require_agreement(const Case& c, const std::string& method) {
  const Run all = simulate(c, method, "all"), mirror = simulate(c, method, "mirror");
  CAPTURE(c.what, c.gpus, method);
  REQUIRE(mirror.exit_code() == 0);
  REQUIRE(mirror.time("total") == Approx(all.time("total")).epsilon(0.01));
  // The chunk that a GPU sends first depends on its place in the ring, and so does how much of it the cache still holds
  // after the kernel before; the mirror is GPU 0. The fused methods' chunks are not in the cache.
  const double gathered = method == "sequential" ? 0.025 : 0.02;
  REQUIRE(mirror.time("all_gather") == Approx(all.time("all_gather")).epsilon(gathered));
  const bool fused = method == "t3" || method == "t3-mca";
  const char* scatter = fused ? "fused" : "reduce_scatter";
  REQUIRE(mirror.time(scatter) == Approx(all.time(scatter)).epsilon(0.02));
  for (const char* traffic : {"gemm_write", "rs_read", "rs_write", "ag_read", "ag_write"}) {
    // What the cache still holds of the chunks that a GPU sends first depends on its place in the ring.
    if (method == "sequential") break;
    INFO(traffic);
    REQUIRE(mirror.dram_bytes(traffic) == Approx(all.dram_bytes(traffic)).epsilon(0.01));
  }
  REQUIRE(mirror.report()["links"].size() == 1);
  REQUIRE(mirror.report()["links"][0]["payload_bytes"] == all.report()["links"][0]["payload_bytes"]);
  REQUIRE(mirror.report()["tracker"]["triggers"] == all.report()["tracker"]["triggers"]);
}

}  // namespace

TEST_CASE("the mirror agrees with all GPUs") {
  const Case c = GENERATE(Case{"rows of tiles", 2, 512, 512}, Case{"rows of tiles", 4, 512, 512},
                          Case{"two thirds of a row of tiles and more", 3, 512, 576},
                          Case{"half a row of tiles", 16, 512, 512}, Case{"a row and a half", 8, 768, 512},
                          Case{"one tile", 8, 64, 512}, Case{"clipped columns", 4, 512, 456});
  if (c.m > 64)
    for (const char* method : {"sequential", "t3", "t3-mca", "ideal-overlap", "ideal-rs-nmc"})
      require_agreement(c, method);
  else
    for (const char* method : {"t3", "t3-mca", "ideal-rs-nmc"}) require_agreement(c, method);
}

TEST_CASE("the sequential mirror agrees to the byte when the cache holds everything, whatever the place in the ring") {
  for (const std::uint32_t gpus : {2u, 4u}) {
    const Case c{"rows of tiles", gpus, 512, 512};
    const Settings large{"system.cache.capacity_MiB=4"};
    const Run all = simulate(c, "sequential", "all", large), mirror = simulate(c, "sequential", "mirror", large);
    CAPTURE(gpus);
    for (const char* phase : {"total", "gemm", "reduce_scatter", "all_gather"}) {
      INFO(phase);
      REQUIRE(mirror.time(phase) == Approx(all.time(phase)).epsilon(0.001));
    }
    for (const char* traffic : {"gemm_write", "rs_read", "rs_write", "ag_read", "ag_write"})
      REQUIRE(mirror.dram_bytes(traffic) == all.dram_bytes(traffic));
  }
}

}  // namespace t3vp::test::mirror_test
