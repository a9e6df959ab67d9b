// Memory in use is not given out: operands of a kernel that runs, staging, mapped outputs, packets.
#include <catch2/catch.hpp>

#include "driver_errors/gpu_pair.h"

namespace t3vp::test::in_use_test {

using Catch::Contains;

TEST_CASE("what a kernel reads is not zeroed") {
  GpuPair pair(guest_with_operands_in_use, {"system.memory.valid_bits_KiB=4"}, guest_late);
  pair.run();
  REQUIRE(pair.told() == lines({{"memory of a", T3_OK},
                                {"memory of b", T3_OK},
                                {"gemm", T3_OK},
                                {"fill of a", T3_BUSY},
                                {"fill of b", T3_BUSY},
                                {"arm of b", T3_BUSY},
                                {"its end", T3_OK},
                                {"fill of a", T3_OK},
                                {"fill of b", T3_OK},
                                {"logged by dma", T3_BUSY},
                                {"logged by dma", T3_BUSY},
                                {"logged by near_memory", T3_BUSY}}));
  for (const std::string& text : pair.logged(0)) CHECK_THAT(text, Contains(": queue 0 runs a kernel that reads 0x"));
  pair.require_right_result();
}

namespace {

void require_staging_left_alone(const std::string& gpus) {
  GpuPair pair(guest_with_staging_in_use, {gpus}, guest_with_staging_in_use);
  pair.run();
  REQUIRE(pair.told() == lines({{"memory of the staging", T3_OK},
                                {"memory beside it", T3_OK},
                                {"reduce-scatter", T3_OK},
                                {"fill of the staging", T3_BUSY},
                                {"fill beside it", T3_OK},
                                {"its end", T3_OK},
                                {"fill of the staging", T3_OK},
                                {"logged by dma", T3_BUSY}}));
  CHECK_THAT(pair.logged(0).at(0), Contains(": queue 0 runs a kernel that writes 0x"));
  pair.require_right_result();
}

}  // namespace

TEST_CASE("the staging of a ring kernel is not zeroed while it runs") { require_staging_left_alone("gpus=2"); }

TEST_CASE("the staging of a ring kernel of three is not zeroed while it runs") { require_staging_left_alone("gpus=3"); }

TEST_CASE("what a rows kernel writes in place is not zeroed while it runs") {
  GpuPair pair(guest_written_in_place, {}, guest_late);
  pair.run();
  std::vector<Told> told(4, {"memory", T3_OK});
  told.push_back({"adam", T3_OK});
  told.insert(told.end(), 4, {"fill", T3_BUSY});
  told.push_back({"its end", T3_OK});
  told.insert(told.end(), 4, {"logged by dma", T3_BUSY});
  REQUIRE(pair.told() == lines(told));
  const Lines logged = pair.logged(0);
  CHECK_THAT(logged[0], Contains(": queue 0 runs a kernel that writes 0x"));
  CHECK_THAT(logged[1], Contains(": queue 0 runs a kernel that reads 0x"));  // the gradient
  for (const std::size_t state : {2u, 3u})
    CHECK_THAT(logged[state], Contains(": queue 0 runs a kernel that writes 0x"));
  pair.require_right_result();
}

TEST_CASE("a kernel does not read what is mapped and has not arrived") {
  GpuPair pair(guest_that_reads_what_is_mapped, {}, guest_late);
  pair.run();
  REQUIRE(pair.told() == lines({{"memory of a", T3_OK},
                                {"memory of b", T3_OK},
                                {"memory of the sum", T3_OK},
                                {"dma_map of half", T3_OK},
                                {"rows that read it", T3_OK},
                                {"their end", T3_BUSY},
                                {"rows that read the other half", T3_OK},
                                {"their end", T3_OK},
                                {"gemm", T3_OK},
                                {"its end", T3_OK},
                                {"rows that read it", T3_OK},
                                {"their end", T3_OK},
                                {"logged by kernel_queue", T3_BUSY}}));
  CHECK_THAT(pair.logged(0).at(0), Contains("the kernel reads 0x") &&
                                       Contains(": workgroups 32 to 63 of the output at 0x") &&
                                       Catch::EndsWith("are mapped and not complete"));
  pair.require_right_result();
}

TEST_CASE("nobody writes or zeroes what a neighbour's ring kernel has stored before it is awaited") {
  GpuPair pair(guest_where_it_has_arrived, {}, guest_where_it_has_arrived);
  pair.run();
  REQUIRE(pair.told() == lines({{"memory of a", T3_OK},
                                {"memory of b", T3_OK},
                                {"gemm", T3_OK},
                                {"its end", T3_BUSY},
                                {"gemm of updates", T3_OK},
                                {"its end", T3_OK},
                                {"fill", T3_BUSY},
                                {"fill beside it", T3_OK},
                                {"all-gather", T3_OK},
                                {"its end", T3_OK},
                                {"gemm", T3_OK},
                                {"its end", T3_OK},
                                {"logged by kernel_queue", T3_BUSY},
                                {"logged by dma", T3_BUSY}}));
  const Lines logged = pair.logged(0);
  CHECK_THAT(logged[0], Contains("the kernel writes 0x") && Contains(": GPU 1's ring kernel has stored 0x") &&
                            Contains(" and signalled by counter 16, which no ring kernel has awaited here"));
  CHECK_THAT(logged[1], Contains("fill of 0x") && Contains(": GPU 1's ring kernel has stored 0x"));
  pair.require_right_result();
}

TEST_CASE("nobody writes or zeroes what a neighbour's ring kernel has staged before it is awaited") {
  GpuPair pair(guest_where_it_is_staged, {"gpus=3"}, guest_where_it_is_staged);
  pair.run();
  REQUIRE(pair.told() == lines({{"memory of a", T3_OK},
                                {"memory of b", T3_OK},
                                {"memory of the staging", T3_OK},
                                {"gemm into the staging", T3_OK},
                                {"its end", T3_BUSY},
                                {"fill of the staging", T3_BUSY},
                                {"gemm", T3_OK},
                                {"its end", T3_OK},
                                {"reduce-scatter", T3_OK},
                                {"its end", T3_OK},
                                {"logged by kernel_queue", T3_BUSY},
                                {"logged by dma", T3_BUSY}}));
  CHECK_THAT(pair.logged(0)[0], Contains(": GPU 1's ring kernel has stored 0x"));
  pair.require_right_result();
}

TEST_CASE("the packets of the kernel queue are nobody's operands and are not zeroed") {
  GpuPair pair(guest_on_its_packets, {"system.memory.valid_bits_KiB=4"}, guest_late);
  pair.run();
  REQUIRE(pair.told() == lines({{"memory of a", T3_OK},
                                {"memory of b", T3_OK},
                                {"memory of the output", T3_OK},
                                {"gemm", T3_OK},
                                {"its end", T3_OK},
                                {"gemm of a at 0", T3_OK},
                                {"its end", T3_BAD_PACKET},
                                {"gemm of b at 0", T3_OK},
                                {"its end", T3_BAD_PACKET},
                                {"gemm into 0", T3_OK},
                                {"its end", T3_BAD_PACKET},
                                {"fill at 0", T3_BUSY},
                                {"arm at 0", T3_BUSY},
                                {"logged by kernel_queue", T3_BAD_PACKET},
                                {"logged by kernel_queue", T3_BAD_PACKET},
                                {"logged by kernel_queue", T3_BAD_PACKET},
                                {"logged by dma", T3_BUSY},
                                {"logged by near_memory", T3_BUSY}}));
  const Lines logged = pair.logged(0);
  for (const std::size_t read : {0u, 1u})
    CHECK_THAT(logged[read],
               Contains("the kernel reads 0x0 to 0x") && Contains(": its queue's packets are at 0x0 to 0x"));
  CHECK_THAT(logged[2], Contains("the kernel writes 0x0 to 0x") && Contains(": its queue's packets are at 0x0 to 0x"));
  for (const std::size_t zeroed : {3u, 4u})
    CHECK_THAT(logged[zeroed], Contains(": queue 0 reads its packets from 0x0 to 0x"));
  pair.require_right_result();
}

TEST_CASE("zeros that a kernel writes over or a map counts on are not given up") {
  GpuPair pair(guest_that_disarms_in_use, {"system.memory.valid_bits_KiB=4"}, guest_late);
  pair.run();
  REQUIRE(pair.told() == lines({{"memory of a", T3_OK},
                                {"memory of b", T3_OK},
                                {"memory", T3_OK},
                                {"dma_map of half", T3_OK},
                                {"arm", T3_OK},
                                {"gemm", T3_OK},
                                {"disarm", T3_BUSY},
                                {"its end", T3_OK},
                                {"disarm", T3_BUSY},
                                {"gemm", T3_OK},
                                {"its end", T3_OK},
                                {"wait_dma", T3_OK},
                                {"disarm", T3_OK},
                                {"logged by near_memory", T3_BUSY},
                                {"logged by near_memory", T3_BUSY}}));
  const Lines logged = pair.logged(0);
  for (const std::string& text : logged)
    CHECK_THAT(text, Contains(" bytes at 0x") && Contains(" are not written yet: "));
  CHECK_THAT(logged[0], Contains(": queue 0 runs a kernel that writes 0x"));
  CHECK_THAT(logged[1], Contains(": workgroups 32 to 63 of the output at 0x") && Contains(" are being counted: 0 of "));
  pair.require_right_result();
}

TEST_CASE("the processor does not write what a map counts before it is complete") {
  GpuPair pair(guest_that_writes_what_is_counted, {}, guest_late);
  pair.run();
  REQUIRE(pair.told() == lines({{"memory of a", T3_OK},
                                {"memory of b", T3_OK},
                                {"dma_map of half", T3_OK},
                                {"last row", T3_OK},  // nothing has been counted
                                {"gemm", T3_OK},
                                {"its end", T3_OK},
                                {"first row", T3_OK},  // the map is about other tiles
                                {"last row", T3_ACCESS_DENIED},
                                {"gemm", T3_OK},
                                {"its end", T3_OK},
                                {"wait_dma", T3_OK},
                                {"first row", T3_OK},
                                {"last row", T3_OK},
                                {"logged by memory_controller", T3_BUSY}}));
  CHECK_THAT(pair.logged(0).at(0), Catch::StartsWith("write of 8 bytes at 0x") &&
                                       Contains(": workgroups 32 to 63 of the output at 0x") &&
                                       Contains(" are being counted: 0 of "));
  pair.require_right_result();
}

TEST_CASE("the spill table is nobody else's while chunks are mapped") {
  GpuPair pair(guest_that_spills_over_operands, {"system.memory.valid_bits_KiB=4"}, guest_late);
  pair.run();
  std::vector<Told> told{{"memory of a", T3_OK},
                         {"memory of b", T3_OK},
                         {"dma_map of half", T3_OK},
                         {"unmap_all", T3_OK},
                         {"place of the spill table", T3_OK},
                         {"spill table on b", T3_OK}};
  for (const t3_status use : {T3_BUSY, T3_OK}) {
    told.push_back({use == T3_BUSY ? "dma_map of half" : "unmap_all", T3_OK});
    for (const char* kernel : {"gemm of b", "rows on b"}) told.insert(told.end(), {{kernel, T3_OK}, {"its end", use}});
    told.insert(told.end(),
                {{"fill of b", use}, {"arm of b", use}, {"write to b", use == T3_BUSY ? T3_ACCESS_DENIED : T3_OK}});
  }
  told.push_back({"spill table in its place", T3_OK});
  for (const char* by : {"logged by kernel_queue", "logged by kernel_queue", "logged by dma", "logged by near_memory",
                         "logged by memory_controller"})
    told.push_back({by, T3_BUSY});
  REQUIRE(pair.told() == lines(told));
  const Lines logged = pair.logged(0);
  for (const std::string& text : logged)
    CHECK_THAT(text, Contains(": the Tracker keeps counts of what is mapped in its spill table at 0x"));
  CHECK_THAT(logged[0], Contains("the kernel reads 0x"));
  CHECK_THAT(logged[1], Contains("the kernel writes 0x"));
  pair.require_right_result();
}

}  // namespace t3vp::test::in_use_test
