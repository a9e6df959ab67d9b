// MCA arbitrates what overlaps with a GEMM, and the all-gather only when it is told to.
#include <catch2/catch.hpp>

#include "system/platform_run.h"

using namespace t3vp::test;

namespace {

/// Links that bring and take as much as half of the DRAM's peak: the all-gather meets itself in the memory.
Settings fast_links(const Settings& more) {
  return Settings{on_small_system(),
                  "gpus=4",
                  "data=timing-only",
                  "system.links.bandwidth_GBps=40",
                  "system.links.receive_buffer_KiB=256",
                  "system.memory.aging_ns=100"} +
         gemm(512, 512, 512) + more;
}

Run isolated_all_gather(const Settings& more) {
  return Run::of_platform(fast_links(Settings{"method=ideal-overlap", "phases=[\"all-gather\"]"} + more));
}

Run fused(const Settings& more) { return Run::of_platform(fast_links(Settings{"simulate=mirror"} + more)); }

}  // namespace

TEST_CASE("the scope of MCA leaves an isolated all-gather as it is without MCA while the wide one does not") {
  const double without = isolated_all_gather({"arbitration=round-robin"}).time("all_gather");
  for (const char* mca : {"mca", "mca-5", "mca-unlimited"}) {
    const std::string arbitration = std::string("arbitration=") + mca;
    CAPTURE(mca);
    CHECK(isolated_all_gather({arbitration}).time("all_gather") == without);
    CHECK(isolated_all_gather({arbitration, "mca_scope=always"}).time("all_gather") > 1.02 * without);
  }
}

TEST_CASE("MCA with its scope does for the fused phase what it does without and nothing to the all-gather") {
  const Run t3 = fused({"method=t3"}), mca = fused({"method=t3-mca"}),
            always = fused({"method=t3-mca", "mca_scope=always"});
  CHECK(mca.time("fused") == always.time("fused"));
  CHECK(mca.time("fused") != t3.time("fused"));
  CHECK(mca.time("all_gather") == Approx(t3.time("all_gather")).epsilon(0.005));
  CHECK(always.time("all_gather") > 1.02 * t3.time("all_gather"));
}
