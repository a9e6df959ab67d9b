// Memory becomes zero before somebody writes it or behind that, and never in between.
#include <catch2/catch.hpp>

#include "driver_errors/gpu_pair.h"

namespace t3vp::test::zeroing_test {

namespace {

void add_zeroing(std::vector<Told>& told, t3_status all, t3_status part) {
  told.insert(told.end(), {{"fill", all}, {"fill of the first tiles", part}, {"arm", all}, {"disarm", T3_OK}});
}

}  // namespace

TEST_CASE("what a kernel writes or a map counts is not zeroed and no kernel runs where a fill does") {
  GpuPair pair(guest_zeroed_in_use, {"system.memory.valid_bits_KiB=4"}, guest_late);
  pair.run();
  std::vector<Told> told{{"dma_map of half", T3_OK}};
  add_zeroing(told, T3_OK, T3_OK);  // nothing has been counted
  told.push_back({"gemm", T3_OK});
  add_zeroing(told, T3_BUSY, T3_BUSY);
  told.push_back({"wait_kernels", T3_OK});
  add_zeroing(told, T3_BUSY, T3_OK);  // the map is about other tiles
  told.insert(told.end(), {{"second gemm", T3_OK}, {"wait_kernels", T3_OK}, {"wait_dma", T3_OK}});
  add_zeroing(told, T3_OK, T3_OK);
  told.insert(told.end(), {{"unmap_all", T3_OK},
                           {"memory", T3_OK},
                           {"timeout 100", T3_OK},
                           {"fill", T3_TIMEOUT},
                           {"no timeout", T3_OK},
                           {"gemm on what is being zeroed", T3_OK},
                           {"gemm beside it", T3_OK},
                           {"the first", T3_BUSY},
                           {"the second", T3_OK},
                           {"all", T3_BUSY},
                           {"fill", T3_OK},
                           {"gemm", T3_OK},
                           {"wait_kernels", T3_OK}});
  for (const char* by : {"logged by dma", "logged by dma", "logged by near_memory", "logged by dma",
                         "logged by near_memory", "logged by kernel_queue"})
    told.push_back({by, T3_BUSY});
  REQUIRE(pair.told() == lines(told));
  const Lines logged = pair.logged(0);
  CHECK_THAT(logged[0], Catch::Contains("fill of 0x") && Catch::Contains(": queue 0 runs a kernel that writes 0x"));
  CHECK_THAT(logged[2], Catch::Contains(" bytes at 0x") && Catch::Contains(": queue 0 runs a kernel that writes 0x"));
  for (const std::size_t counted : {3u, 4u})
    CHECK_THAT(logged[counted], Catch::Contains("workgroups 32 to 63 of the output at 0x") &&
                                    Catch::Contains("are being counted: 0 of 128 wavefront tiles are complete"));
  CHECK_THAT(logged[5], Catch::Contains("the kernel writes 0x") && Catch::Contains(": a fill zeroes 0x"));
  pair.require_right_result();
}

}  // namespace t3vp::test::zeroing_test
