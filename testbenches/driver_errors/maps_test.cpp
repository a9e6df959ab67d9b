// A range that cannot be mapped gets its code and its entry in the error log; the driver and the platform go on.
#include <catch2/catch.hpp>

#include "driver_errors/gpu_pair.h"

namespace t3vp::test::maps_test {

TEST_CASE("chunks that overlap mapped ones are refused") {
  GpuPair pair(guest_overlapping_maps);
  pair.run();
  REQUIRE(pair.told() == lines({{"remote_map 0 to 7", T3_OK},
                                {"remote_map 7 to 10", T3_OVERLAP},
                                {"remote_map 8 to 10", T3_OK},
                                {"dma_map 16 to 31", T3_OK},
                                {"dma_map 31 to 32", T3_OVERLAP},
                                {"dma_map 0 to 63", T3_OVERLAP},
                                {"dma_map 32 to 40", T3_OK},
                                {"unmap", T3_OK},
                                {"dma_map of the left half", T3_OK},
                                {"dma_map of the right half", T3_OVERLAP},
                                {"logged by output_map", T3_OVERLAP},
                                {"logged by tracker", T3_OVERLAP},
                                {"logged by tracker", T3_OVERLAP},
                                {"logged by tracker", T3_OVERLAP}}));
  REQUIRE(
      pair.logged(0)[0] ==
      "workgroups 7 to 10 of the output at 0x1000 overlap the mapped workgroups 0 to 7 of the output at 0x1000: both "
      "have workgroup 7, and both outputs, from the first row to the last, have 0x1000");
  CHECK_THAT(pair.logged(0)[3], Catch::Contains(": both have workgroup 0, and both outputs, from the first row "));
  pair.require_right_result();
}

TEST_CASE("a further destination that overlaps one of the map, or has another layout, is refused") {
  GpuPair pair(guest_further_destinations);
  pair.run();
  Lines expected = lines({{"dma_map", T3_OK},
                          {"also where it goes already", T3_OVERLAP},
                          {"also 32 bytes further", T3_OVERLAP},
                          {"also with other wavefronts", T3_INVALID_ARGUMENT},
                          {"also behind it", T3_OK},
                          {"unmap", T3_OK},
                          {"logged by dma", T3_OVERLAP},
                          {"logged by dma", T3_OVERLAP},
                          {"logged by dma", T3_INVALID_ARGUMENT}});
  expected.insert(expected.begin() + 3, "peer_output");  // the parameter, by t3_last_error
  REQUIRE(pair.told() == expected);
  const Lines logged = pair.logged(0);
  CHECK_THAT(logged[0], Catch::Contains("are sent to 0x100000001000 already"));
  CHECK_THAT(logged[1], Catch::Contains(" at 0x100000001020 overlap the same at 0x100000001000, where they are sent "
                                        "already: no common bytes expected"));
  CHECK_THAT(logged[2], Catch::Contains("a further destination for workgroups 0 to 7 of the output at 0x1000 with ") &&
                            Catch::Contains(" wavefronts per workgroup: the map's "));
  pair.require_right_result();
}

TEST_CASE("ranges that are not aligned are refused") {
  GpuPair pair(guest_unaligned_maps);
  pair.run();
  REQUIRE(pair.told() == lines({{"remote_map of a shifted output", T3_UNALIGNED},
                                {"remote_map to a shifted peer", T3_UNALIGNED},
                                {"dma_map of a shifted output", T3_UNALIGNED},
                                {"dma_map to a shifted peer", T3_UNALIGNED},
                                {"dma_map of rows at any distance", T3_UNALIGNED},
                                {"fill of a shifted matrix", T3_UNALIGNED},
                                {"dma_map after all", T3_OK},
                                {"logged by output_map", T3_UNALIGNED},
                                {"logged by output_map", T3_UNALIGNED},
                                {"logged by tracker", T3_UNALIGNED},
                                {"logged by dma", T3_UNALIGNED},
                                {"logged by tracker", T3_UNALIGNED},
                                {"logged by dma", T3_UNALIGNED}}));
  REQUIRE(pair.logged(0)[3] == "destination 0x100000001010 must be a multiple of 32");
  pair.require_right_result();
}

TEST_CASE("a peer that is not there is refused, and so is the GPU itself") {
  GpuPair pair(guest_missing_peers);
  pair.run();
  REQUIRE(pair.told() == lines({{"remote_map to GPU 7 of 2", T3_NO_PEER},
                                {"remote_map to myself", T3_NO_PEER},
                                {"dma_map to GPU 7 of 2", T3_NO_PEER},
                                {"remote_map to GPU 1048577", T3_NO_PEER},
                                {"dma_map to GPU 1048577", T3_NO_PEER},
                                {"dma_map to myself", T3_NO_PEER},
                                {"dma_map after all", T3_OK},
                                {"logged by output_map", T3_NO_PEER},
                                {"logged by output_map", T3_NO_PEER},
                                {"logged by dma", T3_NO_PEER},
                                {"logged by output_map", T3_NO_PEER},
                                {"logged by dma", T3_NO_PEER},
                                {"logged by dma", T3_NO_PEER}}));
  REQUIRE(pair.logged(0)[0] == "GPU 7 of peer address 0x700000001000 cannot be reached");
  pair.require_right_result();
}

TEST_CASE("maps that make no sense are refused") {
  GpuPair pair(guest_senseless_maps);
  pair.run();
  REQUIRE(pair.told() == lines({{"remote_map of no workgroup", T3_INVALID_ARGUMENT},
                                {"dma_map of no workgroup", T3_INVALID_ARGUMENT},
                                {"dma_map beyond the last workgroup", T3_INVALID_ARGUMENT},
                                {"dma_map of no updates", T3_INVALID_ARGUMENT},
                                {"dma_map of 256 updates", T3_INVALID_ARGUMENT},
                                {"dma_map in blocks of 3 of 4 tiles", T3_INVALID_ARGUMENT},
                                {"remote_map of the peer's output", T3_BAD_ADDRESS},
                                {"dma_map of the peer's output", T3_BAD_ADDRESS},
                                {"dma_map after all", T3_OK},
                                {"logged by output_map", T3_INVALID_ARGUMENT},
                                {"logged by tracker", T3_INVALID_ARGUMENT},
                                {"logged by tracker", T3_INVALID_ARGUMENT},
                                {"logged by tracker", T3_INVALID_ARGUMENT},
                                {"logged by tracker", T3_INVALID_ARGUMENT},
                                {"logged by dma", T3_INVALID_ARGUMENT},
                                {"logged by output_map", T3_BAD_ADDRESS},
                                {"logged by tracker", T3_BAD_ADDRESS}}));
  pair.require_right_result();
}

TEST_CASE("chunks of billions of workgroups are refused at once") {
  GpuPair pair(guest_of_billions);
  pair.run();
  const Lines& told = pair.told();
  REQUIRE(told.size() > 7);
  REQUIRE(Lines(told.begin(), told.begin() + 7) ==
          lines({{"remote_map of 2^32 - 1 workgroups", T3_INVALID_ARGUMENT},
                 {"dma_map of 2^32 - 1 workgroups", T3_INVALID_ARGUMENT},
                 {"remote_map of 2^20 + 1 workgroups", T3_INVALID_ARGUMENT},
                 {"dma_map of 2^20 + 1 workgroups of one element", T3_INVALID_ARGUMENT},
                 {"dma_map of an output of nearly 2^32", T3_INVALID_ARGUMENT},
                 {"dma_map of an output of nearly 2^64", T3_INVALID_ARGUMENT},
                 {"dma_map after all", T3_OK}}));
  pair.require_right_result();
}

namespace {

void check_full_tables(const std::vector<std::string>& settings, const char* full) {
  GpuPair pair(guest_full_tables, settings);
  pair.run();
  REQUIRE(pair.told() == lines({{"remote_map after 32", T3_TABLE_FULL},
                                {"dma_map after 32", T3_TABLE_FULL},
                                {"unmap", T3_OK},
                                {"remote_map after unmap", T3_OK},
                                {"dma_map after unmap", T3_OK},
                                {"logged by output_map", T3_TABLE_FULL},
                                {full, T3_TABLE_FULL}}));
  pair.require_right_result();
}

}  // namespace

TEST_CASE("more maps than the Tracker's table has are refused") { check_full_tables({}, "logged by tracker"); }

TEST_CASE("more maps than the DMA engine's table has are refused") {
  check_full_tables({"system.tracker.chunks=64"}, "logged by dma");
}

TEST_CASE("a strict Tracker refuses what may not fit its sets together with what is mapped") {
  GpuPair pair(guest_chunk_too_large, {"system.tracker.strict=true", "system.tracker.index=workgroup"});
  pair.run();
  REQUIRE(pair.told() == lines({{"dma_map of 17 workgroups", T3_CAPACITY},
                                {"dma_map of 8 workgroups", T3_OK},
                                {"dma_map of 8 in the same sets", T3_CAPACITY},
                                {"dma_map of 8 in the others", T3_OK},
                                {"logged by tracker", T3_CAPACITY},
                                {"logged by tracker", T3_CAPACITY}}));
  pair.require_right_result();
}

TEST_CASE("a Tracker that is not strict takes any chunk") {
  GpuPair pair(guest_chunk_too_large);
  pair.run();
  REQUIRE(pair.told() == lines({{"dma_map of 17 workgroups", T3_OK},
                                {"dma_map of 8 workgroups", T3_OVERLAP},
                                {"dma_map of 8 in the same sets", T3_OVERLAP},
                                {"dma_map of 8 in the others", T3_OK},
                                {"logged by tracker", T3_OVERLAP},
                                {"logged by tracker", T3_OVERLAP}}));
  pair.require_right_result();
}

}  // namespace t3vp::test::maps_test
