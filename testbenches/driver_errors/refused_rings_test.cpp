// Ring kernels that are refused, on all GPUs or on one.
#include <catch2/catch.hpp>

#include "driver_errors/gpu_pair.h"

namespace t3vp::test::refused_rings_test {

namespace {

void require_refused_everywhere(const std::vector<std::string>& settings) {
  GpuPair pair(guest_refused_with_its_peers, settings, guest_refused_with_its_peers);
  pair.run();
  REQUIRE(pair.told() == lines({{"ring kernel", T3_OK},
                                {"ring kernel beyond memory", T3_OK},
                                {"another behind it", T3_OK},
                                {"their end", T3_BAD_PACKET},
                                {"ring kernel beyond memory", T3_OK},
                                {"its end", T3_BAD_PACKET},
                                {"logged by kernel_queue", T3_BAD_PACKET},
                                {"logged by kernel_queue", T3_BAD_PACKET},
                                {"flush", T3_OK},
                                {"close", T3_OK},
                                {"init", T3_OK},
                                {"ring kernel of the next context", T3_OK},
                                {"its end", T3_OK}}));
  pair.require_right_result();
}

void require_refused_alone(const std::vector<std::string>& settings) {
  GpuPair pair(guest_refused_alone, settings, guest_refused_alone);
  pair.run();
  REQUIRE(pair.told() == lines({{"ring kernel beyond memory", T3_OK},
                                {"its end", T3_BAD_PACKET},
                                {"ring kernel", T3_OK},
                                {"its end", T3_OK},
                                {"logged by kernel_queue", T3_BAD_PACKET}}));
  pair.require_right_result();
}

}  // namespace

TEST_CASE("a ring kernel that is refused on all GPUs counts as never queued: 2 GPUs") {
  require_refused_everywhere({});
}

TEST_CASE("a ring kernel that is refused on all GPUs counts as never queued: 4 GPUs") {
  require_refused_everywhere({"gpus=4"});
}

TEST_CASE("a right ring kernel behind one that was refused meets those that wait for it with 2 GPUs") {
  require_refused_alone({});
}

TEST_CASE("a right ring kernel behind one that was refused meets those that wait for it with 3 GPUs") {
  require_refused_alone({"gpus=3"});
}

TEST_CASE("a ring kernel that is refused because memory is in use counts as never queued") {
  GpuPair pair(guest_busy_alone, {}, guest_busy_alone);
  pair.run();
  REQUIRE(pair.told() == lines({{"memory", T3_OK},
                                {"timeout", T3_OK},
                                {"fill", T3_TIMEOUT},
                                {"timeout", T3_OK},
                                {"ring kernel under a fill", T3_OK},
                                {"its end", T3_BUSY},
                                {"another fill, behind it", T3_OK},
                                {"ring kernel", T3_OK},
                                {"its end", T3_OK},
                                {"logged by kernel_queue", T3_BUSY}}));
  pair.require_right_result();
}

TEST_CASE("when the others give theirs up a refused ring kernel breaks the ring until all GPUs have been reset") {
  GpuPair pair(guest_refused_and_given_up, {}, guest_that_gives_up_a_ring);
  pair.run();
  REQUIRE(pair.told() == lines({{"ring kernel beyond memory", T3_OK},
                                {"its end", T3_BAD_PACKET},
                                {"abort", T3_OK},
                                {"another ring kernel", T3_ABORTED},
                                {"reset", T3_OK},
                                {"init", T3_OK}}));
  pair.require_right_result();
}

}  // namespace t3vp::test::refused_rings_test
