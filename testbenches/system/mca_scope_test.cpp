// MCA arbitrates the traffic that overlaps with a GEMM. It arbitrates the all-gather only with the key for it.
#include <catch2/catch.hpp>
#include <cmath>

#include "system/platform_run.h"

namespace t3vp::test::mca_scope_test {

namespace {

/// Links that bring and take as much as the DRAM moves: the all-gather meets itself in the memory. A register access
/// takes a slice of the memory controller, so that what comes after one more is the same, a slice later.
Settings fast_links(const Settings& more) {
  return Settings{on_small_system(),
                  "gpus=4",
                  "data=timing-only",
                  "system.links.bandwidth_GBps=120",
                  "system.links.receive_buffer_KiB=256",
                  "memory.bank_hash=none",  // what comes in meets in one bank what goes out
                  "system.tracker.sets=256",
                  "system.processor.register_access_ns=40"} +
         more;
}

Run isolated_all_gather(const Settings& more) {
  return Run::of_platform(fast_links(gemm(512, 512, 64)) + Settings{"method=ideal-overlap", "phases=[\"all-gather\"]"} +
                          more);
}

Run fused(const Settings& more) {
  return Run::of_platform(fast_links(gemm(1024, 768, 64)) + Settings{"simulate=mirror"} + more);
}

}  // namespace

TEST_CASE("the scope of MCA leaves an isolated all-gather as it is without MCA while the wide one does not") {
  const double without = isolated_all_gather({"arbitration=round-robin"}).time("all_gather");
  for (const std::string mca : {"mca", "mca-5", "mca-unlimited"}) {
    CAPTURE(mca);
    CHECK(isolated_all_gather({"arbitration=" + mca}).time("all_gather") == without);
    CHECK(isolated_all_gather({"arbitration=" + mca, "mca_scope=always"}).time("all_gather") != without);
  }
}

TEST_CASE("MCA with its scope does for the fused phase what it does without and nothing to the all-gather") {
  const Run t3 = fused({"method=t3"}), mca = fused({"method=t3-mca"}),
            always = fused({"method=t3-mca", "mca_scope=always"});
  CHECK(mca.time("fused") == always.time("fused"));
  CHECK(mca.time("fused") != t3.time("fused"));
  CHECK(mca.time("all_gather") == t3.time("all_gather"));
  CHECK(std::abs(always.time("all_gather") / t3.time("all_gather") - 1) > 0.02);
  CHECK(mca.time("total") == Approx(mca.time("fused") + mca.time("all_gather")).margin(1000));
}

}  // namespace t3vp::test::mca_scope_test
