// What does not fit together is told: a map and the kernel that uses it, Tracker and DMA engine, ring kernels of
// neighbours.
#include <algorithm>
#include <catch2/catch.hpp>

#include "driver_errors/gpu_pair.h"

using namespace t3vp::test;

namespace {

std::vector<Told> sent(const char* what, t3_status gemm) {
  std::vector<Told> told{{what, T3_OK}, {"gemm", gemm}, {"unmap_all", T3_OK}};
  if (gemm != T3_OK) told.push_back({"logged by output_map", gemm});
  return told;
}

void append(std::vector<Told>& told, const std::vector<Told>& more) {
  told.insert(told.end(), more.begin(), more.end());
}

void require_rings(const std::vector<std::string>& settings) {
  GpuPair pair(guest_disagreeing_rings, settings, guest_disagreeing_rings);
  pair.run();
  std::vector<Told> told{{"the same", T3_OK}};
  for (const char* what :
       {"other tiles", "another element type", "fewer rows", "fewer rows, elsewhere", "another collective"})
    told.push_back({what, T3_MISMATCH});
  told.push_back({"the same again", T3_OK});
  for (int i = 0; i < 5; ++i) told.push_back({"logged by kernel_queue", T3_MISMATCH});
  REQUIRE(pair.told() == lines(told));
  // The neighbour that GPU 0 signals has noticed it too.
  const Lines neighbour = pair.logged(pair.gpus() - 1);
  REQUIRE(neighbour.size() == 5);
  for (const std::string& text : neighbour) CHECK_THAT(text, Catch::Contains("runs another ring kernel"));
  pair.require_right_result();
}

}  // namespace

TEST_CASE("a kernel that does not fit its remote map ends with mismatch") {
  GpuPair pair(guest_other_outputs_sent, {}, guest_late);
  pair.run();
  std::vector<Told> told = sent("remote_map", T3_OK);
  append(told, sent("remote_map of smaller tiles", T3_MISMATCH));
  append(told, sent("remote_map of 2 wavefronts", T3_MISMATCH));
  append(told, sent("remote_map of another element type", T3_MISMATCH));
  append(told, sent("remote_map of half the columns", T3_MISMATCH));
  append(told, {{"remote_map beyond the output", T3_INVALID_ARGUMENT}, {"logged by output_map", T3_INVALID_ARGUMENT}});
  REQUIRE(pair.told() == lines(told));
  pair.require_right_result();
}

TEST_CASE("a kernel that names no tiles does not run on a mapped output") {
  GpuPair pair(guest_nameless_on_maps, {}, guest_late);
  pair.run();
  REQUIRE(pair.told() == lines({{"remote_map", T3_OK},
                                {"rows", T3_MISMATCH},
                                {"unmap_all", T3_OK},
                                {"dma_map", T3_OK},
                                {"rows", T3_MISMATCH},
                                {"gemm", T3_OK},
                                {"wait_dma", T3_OK},
                                {"rows when the map is complete", T3_OK},
                                {"unmap_all", T3_OK},
                                {"rows without maps", T3_OK},
                                {"logged by kernel_queue", T3_MISMATCH},
                                {"logged by kernel_queue", T3_MISMATCH}}));
  CHECK_THAT(pair.logged(0)[0],
             Catch::Contains("names no wavefront tiles: workgroups 0 to 7") && Catch::EndsWith("are mapped to a peer"));
  CHECK_THAT(pair.logged(0)[1], Catch::EndsWith("are mapped and not complete"));
  pair.require_right_result();
}

TEST_CASE("tiles that the Tracker completes and no command of the DMA engine is about fail the transfer") {
  GpuPair pair(guest_disagreeing_engines, {}, guest_late);
  pair.run();
  const auto once = [&](std::size_t begin, const std::vector<Told>& told) {
    const Lines expected = lines(told);
    REQUIRE(pair.told().size() >= begin + expected.size());
    const auto from = pair.told().begin() + static_cast<std::ptrdiff_t>(begin);
    REQUIRE(Lines(from, from + static_cast<std::ptrdiff_t>(expected.size())) == expected);
  };
  once(0, {{"dma_map", T3_OK},
           {"command removed", T3_OK},
           {"gemm", T3_OK},
           {"wait_dma", T3_MISMATCH},
           {"unmap_all", T3_OK},
           {"wait_dma without maps", T3_OK},
           {"logged by dma", T3_MISMATCH}});
  const auto second = std::find(pair.told().begin() + 1, pair.told().end(), lines({{"dma_map", T3_OK}})[0]);
  once(static_cast<std::size_t>(second - pair.told().begin()), {{"dma_map", T3_OK},
                                                                {"command removed", T3_OK},
                                                                {"command of smaller tiles", T3_OK},
                                                                {"gemm", T3_OK},
                                                                {"wait_dma", T3_MISMATCH},
                                                                {"unmap_all", T3_OK},
                                                                {"wait_dma without maps", T3_OK},
                                                                {"logged by dma", T3_MISMATCH}});
  CHECK_THAT(pair.logged(0)[0], Catch::EndsWith("no command covers it"));
  pair.require_right_result();
}

TEST_CASE("ring kernels of neighbours that are not the same end with mismatch on both") { require_rings({}); }

TEST_CASE("ring kernels of neighbours that are not the same end with mismatch on both of four") {
  require_rings({"gpus=4"});
}
