// Kernels that cannot run end with a code.
#include <catch2/catch.hpp>

#include "driver_errors/gpu_pair.h"

using namespace t3vp::test;

namespace {

/// The first lines, then so many equal ones.
Lines with_entries(const std::vector<Told>& told, std::size_t count, const Told& entry) {
  Lines expected = lines(told);
  expected.insert(expected.end(), count, lines({entry})[0]);
  return expected;
}

constexpr std::size_t workgroups_at_once = 8;  // 2 on each of 4 compute units
constexpr std::size_t log_entries = 16;

}  // namespace

TEST_CASE("malformed packets are refused one by one") {
  GpuPair pair(guest_bad_packets);
  pair.run();
  REQUIRE(pair.told() == lines({{"memory of a", T3_OK},
                                {"memory of b", T3_OK},
                                {"packet of zeros", T3_BAD_PACKET},
                                {"ring of one GPU", T3_BAD_PACKET},
                                {"gemm of a shifted matrix", T3_BAD_PACKET},
                                {"gemm of 3 wavefronts in 64 rows", T3_BAD_PACKET},
                                {"gemm of matrices that do not fit", T3_INVALID_ARGUMENT},
                                {"gemm after all", T3_OK},
                                {"logged by kernel_queue", T3_BAD_PACKET},
                                {"logged by kernel_queue", T3_BAD_PACKET},
                                {"logged by kernel_queue", T3_BAD_PACKET},
                                {"logged by kernel_queue", T3_BAD_PACKET}}));
  REQUIRE(pair.logged(0)[0] ==
          "kind 0: 1 (gemm), 2 (reduce-scatter), 3 (all-gather), 4 (rows) or 5 (attention) expected");
  pair.require_right_result();
}

TEST_CASE("a GEMM on operands outside memory ends with an error before it starts further workgroups") {
  GpuPair pair(guest_gemm_outside_memory);
  pair.run();
  REQUIRE(pair.told() ==
          with_entries(
              {{"memory of a", T3_OK}, {"memory of b", T3_OK}, {"gemm of a matrix that is nowhere", T3_BAD_ADDRESS}},
              workgroups_at_once, {"logged by memory_controller", T3_BAD_ADDRESS}));
  pair.require_right_result();
}

TEST_CASE("updates need near-memory units that are switched on, and the error log stays bounded") {
  GpuPair pair(guest_updates_switched_off);
  pair.run();
  REQUIRE(pair.told() == with_entries({{"memory of a", T3_OK},
                                       {"memory of b", T3_OK},
                                       {"near-memory units off", T3_OK},
                                       {"gemm with updates", T3_DISABLED},
                                       {"near-memory units on", T3_OK},
                                       {"gemm with updates", T3_OK}},
                                      log_entries, {"logged by memory_controller", T3_DISABLED}));
  REQUIRE(pair.gpu(0).error_log.reported() == workgroups_at_once * 4);  // one for each wavefront tile
  pair.require_right_result();
}

TEST_CASE("memory that is used up is told, and what is left can be had") {
  GpuPair pair(guest_memory_exhausted);
  pair.run();
  REQUIRE(pair.told() == lines({{"2 GiB", T3_OUT_OF_MEMORY},
                                {"a size that wraps around", T3_OUT_OF_MEMORY},
                                {"1023 MiB", T3_OK},
                                {"1 MiB more", T3_OUT_OF_MEMORY},
                                {"256 bytes more", T3_OK},
                                {"a matrix", T3_OUT_OF_MEMORY}}));
  REQUIRE(pair.logged(0).empty());  // the hardware has no part in it
  pair.require_right_result();
}
