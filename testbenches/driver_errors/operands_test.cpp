// What the driver refuses by itself, and what it keeps for itself.
#include <catch2/catch.hpp>

#include "driver_errors/gpu_pair.h"

namespace t3vp::test::operands_test {

TEST_CASE("operands and chunks that an operation cannot use are refused") {
  GpuPair pair(guest_with_wrong_operands);
  pair.run();
  REQUIRE(pair.told() == lines({{"memory", T3_OK},
                                {"rows into an uncached output", T3_INVALID_ARGUMENT},
                                {"a sum without its second term", T3_INVALID_ARGUMENT},
                                {"a softmax of two", T3_INVALID_ARGUMENT},
                                {"a layer norm without its vectors", T3_INVALID_ARGUMENT},
                                {"attention forward with a gradient", T3_INVALID_ARGUMENT},
                                {"attention forward with a result", T3_INVALID_ARGUMENT},
                                {"a gemm with the strides of no batch", T3_INVALID_ARGUMENT},
                                {"updates near memory of a cached output", T3_INVALID_ARGUMENT},
                                {"stores of a cached output counted", T3_INVALID_ARGUMENT},
                                {"an operation 7 counted", T3_INVALID_ARGUMENT},
                                {"remote_map of workgroups 64 to 67", T3_INVALID_ARGUMENT},
                                {"remote_map of workgroups 60 to 64", T3_INVALID_ARGUMENT},
                                {"remote_map of the last", T3_OK},
                                {"dma_map of the same", T3_OK},
                                {"logged by output_map", T3_INVALID_ARGUMENT},
                                {"logged by output_map", T3_INVALID_ARGUMENT}}));
  pair.require_right_result();
}

TEST_CASE("zeroing a part of a matrix leaves the rest of it alone") {
  GpuPair pair(guest_that_zeroes_views);
  pair.run();
  std::vector<Told> expected = {{"memory", T3_OK},
                                {"pattern", T3_OK},
                                {"fill of a view", T3_INVALID_ARGUMENT},
                                {"arm of a view", T3_INVALID_ARGUMENT},
                                {"fill of rows that overlap", T3_UNALIGNED},
                                {"fill of rows that overlap by half", T3_INVALID_ARGUMENT},
                                {"fill of no rows", T3_INVALID_ARGUMENT},
                                {"nothing is zero", T3_OK}};
  expected.insert(expected.end(), 8, {"fill of a row of the view", T3_OK});
  for (const char* told : {"the view alone is zero", "fill of all", "all is zero"}) expected.push_back({told, T3_OK});
  REQUIRE(pair.told() == lines(expected));
  pair.require_right_result();
}

TEST_CASE("the driver's own memory cannot be freed and moves nothing that is allocated") {
  GpuPair pair(guest_in_the_drivers_memory);
  pair.run();
  std::vector<Told> expected = {{"memory", T3_OK}, {"free", T3_OK}};
  for (int i = 0; i < 3; ++i)
    for (const Told& told : {Told{"dma_map", T3_OK}, Told{"base", T3_OK},
                             Told{"free of the spill table", T3_INVALID_ARGUMENT}, Told{"unmap", T3_OK}})
      expected.push_back(told);
  expected.insert(expected.end(), {{"base", T3_OK},
                                   {"free of the packet ring", T3_INVALID_ARGUMENT},
                                   {"memory", T3_OK},
                                   {"where it would be without maps", T3_OK}});
  REQUIRE(pair.told() == lines(expected));
  pair.require_right_result();
}

}  // namespace t3vp::test::operands_test
