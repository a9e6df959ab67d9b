// Compute units shared between a GEMM and a ring all-reduce (T3 Figure 6), as two queues of kernels.
#include <catch2/catch.hpp>

#include "software/outside_run.h"

namespace t3vp::test::shared_test {

namespace {

/// How long each takes, in ns; 0 when it does not run. What they have computed is right.
struct Times {
  double gemm = 0, all_reduce = 0, total = 0;
};

Times times_of(std::uint32_t gemm_units, std::uint32_t ring_units, std::uint32_t first_ring_unit,
               std::uint32_t compute_units = 4, std::uint32_t priority = 0) {
  constexpr int m = 384, n = 256;
  const OutsideRun run(library("guests") + ":shared", {{"gpus", 4},
                                                       {"arguments",
                                                        {{"m", m},
                                                         {"n", n},
                                                         {"k", 96},
                                                         {"tile", 64},
                                                         {"gemm_units", gemm_units},
                                                         {"ring_units", ring_units},
                                                         {"first_ring_unit", first_ring_unit},
                                                         {"priority", priority}}}});
  const Outcome outcome = run.run({"--set", "system.compute.compute_units=" + std::to_string(compute_units), "--set",
                                   "system.memory.channels=2", "--set", "system.links.bandwidth_GBps=16"});
  INFO(outcome.err << outcome.out);
  REQUIRE(outcome.exit_code == 0);
  const auto report = run.report();
  REQUIRE(report.at("functional").at("elements") == 4 * m * n * (gemm_units != 0 ? 2 : 1));
  const auto time = [&](const char* name) {
    const auto found = report.at("time_ns").find(name);
    return found == report.at("time_ns").end() || found->is_null() ? 0.0 : found->get<double>();
  };
  return {time("gemm"), time("all_reduce"), time("total")};
}

}  // namespace

TEST_CASE("a queue's mask is the split of compute units and both at once meet contention that nobody configured") {
  const Times gemm = times_of(3, 0, 0), ring = times_of(0, 1, 3), both = times_of(3, 1, 3);
  CHECK(gemm.gemm == times_of(3, 0, 0, 3).gemm);  // as on a GPU that has no more
  CHECK(ring.all_reduce == times_of(0, 1, 0, 1).all_reduce);
  CHECK(gemm.gemm > times_of(4, 0, 0).gemm);
  CHECK(ring.all_reduce > times_of(0, 4, 0).all_reduce);
  INFO(gemm.gemm << " and " << ring.all_reduce << " alone, " << both.gemm << " and " << both.all_reduce << " at once");
  CHECK(both.gemm > 1.05 * gemm.gemm);
  CHECK(both.all_reduce > 1.1 * ring.all_reduce);
  CHECK(both.total < 0.9 * (gemm.gemm + ring.all_reduce));
}

TEST_CASE("without a split a ring kernel waits for room unless its queue has the higher priority") {
  const Times alone = times_of(0, 4, 0), equal = times_of(4, 4, 0), urgent = times_of(4, 4, 0, 4, 1);
  INFO(alone.all_reduce << ", " << equal.all_reduce << ", " << urgent.all_reduce);
  CHECK(equal.all_reduce > urgent.all_reduce);
  CHECK(urgent.all_reduce > alone.all_reduce);
  CHECK(urgent.gemm > equal.gemm);
}

}  // namespace t3vp::test::shared_test
