// One GPU that stands for all, the paper's own method (T3 section 5), against a ring of real neighbours.
#include <catch2/catch.hpp>

#include "system/platform_run.h"

using namespace t3vp::test;

namespace {

struct Case {
  const char* what;
  std::uint32_t gpus, m, n;
};

void require_agreement(const Case& c, const std::string& method) {
  const auto simulate = [&](const std::string& which) {
    return Run::of_platform(gemm(c.m, c.n, 128) + Settings{on_small_system(), "gpus=" + std::to_string(c.gpus),
                                                           "method=" + method, "data=timing-only",
                                                           "simulate=" + which});
  };
  const Run all = simulate("all"), mirror = simulate("mirror");
  CAPTURE(c.what, c.gpus, method);
  REQUIRE(mirror.exit_code() == 0);
  REQUIRE(mirror.time("total") == Approx(all.time("total")).epsilon(0.01));
  REQUIRE(mirror.time("all_gather") == Approx(all.time("all_gather")).epsilon(0.025));
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
