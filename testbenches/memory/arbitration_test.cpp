#include "memory/arbitration.h"

#include <catch2/catch.hpp>

namespace t3vp::test::arbitration_test {

namespace {

ArbitrationView view_of(bool compute, bool communication, unsigned occupancy = 0, dram::Cycle now = 0,
                        dram::Cycle waiting_since = 0) {
  return {compute, communication, occupancy, now, waiting_since};
}

struct PolicyUnderTest {
  ArbitrationControl control;
  std::unique_ptr<ArbitrationPolicy> policy;
  dram::Cycle retry = dram::never_cycle;

  explicit PolicyUnderTest(Policy which) : policy(make_policy(which, control)) {}
  Grant operator()(const ArbitrationView& view) {
    retry = dram::never_cycle;
    return policy->choose(view, retry);
  }
};

}  // namespace

TEST_CASE("every policy serves a stream that is alone, and none when none is ready") {
  for (const Policy which : {Policy::round_robin, Policy::compute_first, Policy::mca}) {
    PolicyUnderTest choose(which);
    REQUIRE(choose(view_of(true, false)) == Grant::compute);
    REQUIRE(choose(view_of(false, true)) == Grant::communication);
    REQUIRE(choose(view_of(false, false)) == Grant::none);
  }
}

TEST_CASE("round-robin alternates while both streams are ready and never leaves one that is alone waiting") {
  PolicyUnderTest choose(Policy::round_robin);
  Grant last = choose(view_of(true, true));
  for (int i = 0; i < 20; ++i) {
    const Grant next = choose(view_of(true, true, 63));
    REQUIRE(next != Grant::none);
    REQUIRE(next != last);
    last = next;
  }
  for (int i = 0; i < 3; ++i) REQUIRE(choose(view_of(false, true, 63)) == Grant::communication);
  REQUIRE(choose(view_of(true, true)) == Grant::compute);  // communication was the last
}

TEST_CASE("compute-first issues communication only when compute has nothing") {
  PolicyUnderTest choose(Policy::compute_first);
  for (dram::Cycle now = 0; now < 100'000; now += 1000) REQUIRE(choose(view_of(true, true, 0, now)) == Grant::compute);
  REQUIRE(choose(view_of(false, true, 63)) == Grant::communication);
}

TEST_CASE("mca issues communication below the limit of occupancy only") {
  PolicyUnderTest choose(Policy::mca);
  for (const unsigned limit : {5u, 10u, 30u}) {
    choose.control.limit = limit;
    for (unsigned occupancy = 0; occupancy < 64; ++occupancy) {
      REQUIRE(choose(view_of(false, true, occupancy)) == (occupancy < limit ? Grant::communication : Grant::none));
      REQUIRE(choose(view_of(true, true, occupancy)) == Grant::compute);
    }
  }
  choose.control.limit = ~0u;
  REQUIRE(choose(view_of(false, true, 63)) == Grant::communication);
  REQUIRE(choose(view_of(true, true, 0)) == Grant::compute);
}

TEST_CASE("mca lets communication go first once it has waited for the aging time, and tells when that is") {
  PolicyUnderTest choose(Policy::mca);
  choose.control.limit = 5;
  choose.control.aging = 300;
  REQUIRE(choose(view_of(false, true, 40, 1299, 1000)) == Grant::none);
  REQUIRE(choose.retry == 1300);
  REQUIRE(choose(view_of(true, true, 40, 1299, 1000)) == Grant::compute);
  REQUIRE(choose(view_of(true, true, 40, 1300, 1000)) == Grant::communication);
  REQUIRE(choose(view_of(false, true, 40, 1300, 1000)) == Grant::communication);
}

}  // namespace t3vp::test::arbitration_test
