// Kernels that cannot run end with a code.
#include <catch2/catch.hpp>

#include "compute/kernel_registry.h"
#include "driver_errors/gpu_pair.h"
#include "kernels/kernels.h"

namespace t3vp::test::kernels_test {

namespace {

/// The first lines, then so many equal ones.
Lines with_entries(const std::vector<Told>& told, std::size_t count, const Told& entry) {
  Lines expected = lines(told);
  expected.insert(expected.end(), count, lines({entry})[0]);
  return expected;
}

void require_mixed_kernels_told(const std::vector<std::string>& settings) {
  GpuPair pair(guest_mixed_kernels, settings);
  pair.run();
  REQUIRE(pair.told() == with_entries({{"memory of a", T3_OK},
                                       {"memory of b", T3_OK},
                                       {"memory of the fill", T3_OK},
                                       {"40 kernels", T3_OK},
                                       {"an unrelated fill", T3_OK},
                                       {"all of them", T3_BAD_PACKET},
                                       {"once more", T3_OK},
                                       {"each has its code", T3_OK},
                                       {"kernel 0", T3_INVALID_ARGUMENT},
                                       {"a kernel that is not there", T3_INVALID_ARGUMENT},
                                       {"the last one", T3_OK}},
                                      13, {"logged by kernel_queue", T3_BAD_PACKET}));
  pair.require_right_result();
}

void require_aborts(const std::vector<std::string>& settings) {
  GpuPair pair(guest_aborted_kernels, settings);
  pair.run();
  std::vector<Told> expected = {{"memory of a", T3_OK}, {"memory of b", T3_OK}, {"nothing to abort", T3_OK}};
  for (int i = 0; i < 4; ++i) {
    for (int n = 0; n < 3; ++n) expected.push_back({"gemm", T3_OK});
    expected.push_back({"abort", T3_OK});
    for (int n = 0; n < 3; ++n) expected.push_back({"its code", T3_ABORTED});
    expected.push_back({"all of them", T3_ABORTED});
    expected.push_back({"gemm after that", T3_OK});
  }
  REQUIRE(pair.told() == lines(expected));
  pair.require_right_result();
}

void require_aborted_ring(const std::vector<std::string>& settings) {
  GpuPair pair(guest_aborted_ring, settings, guest_late_after_reset);
  pair.run();
  REQUIRE(pair.told() == lines({{"ring kernel", T3_OK},
                                {"timeout", T3_OK},
                                {"it waits for its neighbour", T3_TIMEOUT},
                                {"abort", T3_OK},
                                {"its code", T3_ABORTED},
                                {"memory of a", T3_OK},
                                {"memory of b", T3_OK},
                                {"gemm", T3_OK},
                                {"another ring kernel", T3_ABORTED},
                                {"close", T3_OK},
                                {"init", T3_OK},
                                {"ring kernel of the next context", T3_ABORTED},
                                {"reset", T3_OK},
                                {"init", T3_OK}}));
  pair.require_right_result();
}

void require_cleared_failures_told(const std::vector<std::string>& settings) {
  GpuPair pair(guest_that_clears_failures, settings);
  pair.run();
  std::vector<Told> expected = {{"memory of a", T3_OK}, {"memory of b", T3_OK}};
  const auto tell = [&](std::initializer_list<Told> more) {
    for (const Told& told : {Told{"read", T3_OK}, {"clear", T3_OK}}) expected.push_back(told);
    expected.insert(expected.end(), more);
  };
  tell({{"one that failed", T3_BAD_PACKET}, {"once more", T3_OK}});
  tell({{"the first of three", T3_BAD_PACKET}});
  tell({{"two of three", T3_BAD_PACKET}});
  tell({{"one of forty", T3_BAD_PACKET},
        {"once more", T3_OK},
        {"close", T3_OK},
        {"init", T3_OK},
        {"of the next context", T3_OK}});
  tell({{"its failure", T3_BAD_PACKET}});
  REQUIRE(pair.told() == with_entries(expected, 6, {"logged by kernel_queue", T3_BAD_PACKET}));
  pair.require_right_result();
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
          "kernel 0x00000000: one of " + t3vp::compute::KernelRegistry(t3_kernels).text() + " expected");
  pair.require_right_result();
}

TEST_CASE("a GEMM on operands outside memory is refused, however much memory there could be") {
  GpuPair pair(guest_gemm_outside_memory);
  pair.run();
  REQUIRE(pair.told() == lines({{"memory of a", T3_OK},
                                {"memory of b", T3_OK},
                                {"gemm of a matrix that is nowhere", T3_BAD_PACKET},
                                {"logged by kernel_queue", T3_BAD_PACKET}}));
  pair.require_right_result();
}

TEST_CASE("a failed kernel is told by the wait for all, and each kernel has its own code") {
  require_mixed_kernels_told({});
}

TEST_CASE("a failed kernel is told by the wait for all on the first of four GPUs too") {
  require_mixed_kernels_told({"gpus=4"});
}

TEST_CASE("a failure is told though its interrupt is cleared by hand") { require_cleared_failures_told({}); }

TEST_CASE("a failure is told though its interrupt is cleared by hand on the first of three GPUs") {
  require_cleared_failures_told({"gpus=3"});
}

TEST_CASE("a packet that is announced by hand and fails is told once by the next wait") {
  GpuPair pair(guest_with_packets_by_hand);
  pair.run();
  std::vector<Told> expected = {{"memory of a", T3_OK}, {"memory of b", T3_OK}, {"the driver's", T3_OK}};
  for (const bool is_cleared : {false, true}) {
    for (const char* step : {"ring", "packet", "doorbell"}) expected.push_back({step, T3_OK});
    if (is_cleared) expected.insert(expected.end(), {{"read", T3_OK}, {"clear", T3_OK}});
    expected.insert(expected.end(), {{"its failure", T3_BAD_PACKET}, {"once more", T3_OK}});
  }
  REQUIRE(pair.told() == with_entries(expected, 2, {"logged by kernel_queue", T3_BAD_PACKET}));
  pair.require_right_result();
}

TEST_CASE("parameters that a policy or a kernel does not have are refused in words that fit") {
  GpuPair pair(guest_with_wrong_parameters);
  pair.run();
  REQUIRE(pair.told() == lines({{"round-robin with a limit", T3_BAD_VALUE},
                                {"compute first without end", T3_BAD_VALUE},
                                {"select without end", T3_BAD_VALUE},
                                {"mca without end", T3_OK},
                                {"select", T3_OK},
                                {"round-robin", T3_OK},
                                {"97 bytes in the packet", T3_CAPACITY},
                                {"a ring kernel of no workgroups", T3_OK},
                                {"its end", T3_BAD_PACKET},
                                {"logged by memory_controller", T3_INVALID_ARGUMENT},
                                {"logged by memory_controller", T3_INVALID_ARGUMENT},
                                {"logged by memory_controller", T3_INVALID_ARGUMENT},
                                {"logged by kernel_queue", T3_BAD_PACKET}}));
  CHECK_THAT(pair.logged(0)[0], Catch::Contains("the limit 3 of the policy round-robin: 0, since it has no parameter"));
  CHECK_THAT(t3_status_text(T3_CAPACITY), Catch::Contains("bytes of a packet"));
  CHECK_THAT(t3_status_text(T3_ACCESS_DENIED), Catch::Contains("memory"));
  pair.require_right_result();
}

TEST_CASE("aborted kernels end with their code and later ones run") { require_aborts({}); }

TEST_CASE("aborted kernels end with their code and later ones run on the first of three GPUs") {
  require_aborts({"gpus=3"});
}

TEST_CASE("an aborted ring kernel stops those behind it until all GPUs have been reset") { require_aborted_ring({}); }

TEST_CASE("an aborted ring kernel stops those behind it until all four GPUs have been reset") {
  require_aborted_ring({"gpus=4"});
}

TEST_CASE("sizes that have no 32 or 64 bits are refused") {
  GpuPair pair(guest_huge_sizes);
  pair.run();
  REQUIRE(pair.told() == lines({{"memory of a", T3_OK},
                                {"memory of b", T3_OK},
                                {"gemm of 2^32 tiles", T3_INVALID_ARGUMENT},
                                {"2^32 workgroups are none", T3_OK},
                                {"a batch of 2^32 workgroups", T3_INVALID_ARGUMENT},
                                {"gemm with rows 2^58 apart", T3_INVALID_ARGUMENT},
                                {"gemm of k 2^32 - 1", T3_OK},
                                {"its end", T3_BAD_PACKET},
                                {"rows larger than memory", T3_OK},
                                {"their end", T3_BAD_PACKET},
                                {"fill of rows 2^58 apart", T3_INVALID_ARGUMENT},
                                {"a matrix of 2^66 bytes", T3_OUT_OF_MEMORY},
                                {"no chunk of none", T3_OK},
                                {"gemm of an element type of 256", T3_INVALID_ARGUMENT},
                                {"logged by kernel_queue", T3_BAD_PACKET},
                                {"logged by kernel_queue", T3_BAD_PACKET}}));
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

TEST_CASE("freed memory is given out again, and nothing else is freed") {
  GpuPair pair(guest_freed_memory);
  pair.run();
  REQUIRE(pair.told() == lines({{"first", T3_OK},
                                {"second", T3_OK},
                                {"third", T3_OK},
                                {"free", T3_OK},
                                {"free again", T3_INVALID_ARGUMENT},
                                {"free what is inside", T3_INVALID_ARGUMENT},
                                {"free nothing", T3_INVALID_ARGUMENT},
                                {"6000 bytes", T3_OK},
                                {"behind the others", T3_OK},
                                {"5000 bytes", T3_OK},
                                {"in the gap", T3_OK},
                                {"free", T3_OK},
                                {"as many as there are", T3_TABLE_FULL},
                                {"most of the table's", T3_OK}}));
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

}  // namespace t3vp::test::kernels_test
