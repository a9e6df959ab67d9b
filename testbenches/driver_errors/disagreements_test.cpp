// Disagreements are reported: between a map and the kernel that uses it, Tracker and DMA engine, ring kernels of
// neighbours.
#include <algorithm>
#include <catch2/catch.hpp>

#include "driver_errors/gpu_pair.h"

namespace t3vp::test::disagreements_test {

using Catch::Contains;

namespace {

std::vector<Told> sent(const char* what, t3_status gemm) {
  std::vector<Told> told{{what, T3_OK}, {"gemm", gemm}, {"unmap_all", T3_OK}};
  if (gemm != T3_OK) told.push_back({"logged by output_map", gemm});
  return told;
}

void append(std::vector<Told>& told, const std::vector<Told>& more) {
  told.insert(told.end(), more.begin(), more.end());
}

/// Codes of what the ring kernels of a GPU have logged.
std::vector<Status> codes(GpuPair& pair, std::size_t gpu) {
  std::vector<Status> codes;
  for (const auto& entry : pair.gpu(gpu).error_log.records())
    if (entry.block == "kernel_queue") codes.push_back(static_cast<Status>(entry.record.code));
  return codes;
}

void require_rings(const std::vector<std::string>& settings) {
  GpuPair pair(guest_disagreeing_rings, settings, guest_disagreeing_rings);
  pair.run();
  std::vector<Told> told{{"the same", T3_OK}};
  for (const char* what : {"other tiles", "another element type", "fewer rows", "fewer rows, elsewhere",
                           "another collective", "another position", "another epoch"})
    told.push_back({what, T3_MISMATCH});
  append(told,
         {{"memory of another output", T3_OK}, {"memory of the staging", T3_OK}, {"another output", T3_MISMATCH}});
  told.push_back({"the same again", T3_OK});
  for (int i = 0; i < 8; ++i) told.push_back({"logged by kernel_queue", T3_MISMATCH});
  REQUIRE(pair.told() == lines(told));
  // The neighbour that GPU 0 signals has noticed it too.
  const std::size_t last = pair.gpus() - 1;
  const Lines neighbour = pair.logged(last);
  const std::string tile = std::to_string(pair.gemm().tile_rows), half = std::to_string(pair.gemm().tile_rows / 2);
  const std::string rows = std::to_string(8 * pair.gemm().tile_rows),
                    half_rows = std::to_string(4 * pair.gemm().tile_rows);
  const std::vector<std::string> expected{"tile_rows found " + half + ", expected " + tile,
                                          "element found bf16, expected fp16",
                                          "m found " + half_rows + ", expected " + rows,
                                          "m found " + half_rows + ", expected " + rows + "; out found ",
                                          "collective found near-memory reduce-scatter, expected all-gather",
                                          "gpu found 0, expected " + std::to_string(last),
                                          "signal_epoch found ",
                                          "out found "};
  REQUIRE(neighbour.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK_THAT(neighbour[i], Contains("the neighbour that signals by counter ") &&
                                 Contains(", GPU 0, runs another ring kernel: " + expected[i]));
  for (std::size_t gpu = 1; gpu < last; ++gpu) CHECK(codes(pair, gpu) == std::vector<Status>(8, Status::peer_failed));
  pair.require_right_result();
}

/// `failed`: what each GPU's ring kernel has ended with, ok where it got right data.
void require_changed(t3_program* guest, const std::vector<Status>& failed, std::size_t changed) {
  GpuPair pair(guest, {"gpus=" + std::to_string(failed.size())}, guest);
  pair.run();
  std::vector<Told> told{{"before", T3_OK},
                         {"add", T3_OK},
                         {"changed counters", static_cast<t3_status>(failed[0])},
                         {"add", T3_OK},
                         {"as before", T3_OK}};
  if (failed[0] != Status::ok) told.push_back({"logged by kernel_queue", static_cast<t3_status>(failed[0])});
  REQUIRE(pair.told() == lines(told));
  for (std::size_t gpu = 0; gpu < failed.size(); ++gpu) {
    INFO("GPU " << gpu);
    CHECK(codes(pair, gpu) == std::vector<Status>(failed[gpu] == Status::ok ? 0 : 1, failed[gpu]));
  }
  CHECK_THAT(pair.logged(changed).at(0),
             Contains("counter 17: found ") && Contains(", expected " + std::to_string(failed.size()) + ": something"));
  pair.require_right_result();
}

/// GPU 1 sends and awaits fewer signals than the others. Every kernel ends, and says so.
void require_out_of_step(t3_program* guest, std::size_t gpus, const std::string& difference) {
  GpuPair pair(guest, {"gpus=" + std::to_string(gpus)}, guest);
  pair.run();
  INFO(gpus << " GPUs");
  REQUIRE(pair.told().size() == 4);
  CHECK(pair.told()[0] == lines({{"all-gather", T3_MISMATCH}})[0]);  // the one that GPU 1 signals
  CHECK(Lines(pair.told().begin() + 1, pair.told().end()) ==
        lines({{"logged by kernel_queue", T3_MISMATCH}, {"reset", T3_OK}, {"init", T3_OK}}));
  CHECK_THAT(pair.logged(0).at(0), Contains(", GPU 1, runs another ring kernel: ") && Contains(difference));
  CHECK(codes(pair, 1) == std::vector<Status>{Status::mismatch});
  for (std::size_t gpu = 2; gpu < gpus; ++gpu) CHECK(codes(pair, gpu) == std::vector<Status>{Status::peer_failed});
  pair.require_right_result();
}

/// GPU 1 refuses what its neighbour sends, and adds up and passes on what it lacks.
void require_refused(std::size_t gpus) {
  GpuPair pair(guest_refused_ring_stores, {"gpus=" + std::to_string(gpus)}, guest_refused_ring_stores);
  pair.run();
  for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
    INFO("GPU " << gpu << " of " << gpus);
    const std::vector<Status> told = codes(pair, gpu);
    REQUIRE(!told.empty());
    CHECK(told[0] == (gpu == 2 % gpus ? Status::disabled : Status::peer_failed));
  }
  REQUIRE(pair.told().size() >= 2);
  CHECK(pair.told()[0] == lines({{"refused", gpus == 2 ? T3_DISABLED : T3_PEER_FAILED}})[0]);
  CHECK(pair.told()[1] == lines({{"taken", T3_OK}})[0]);
  const Lines receiver = pair.logged(1);
  const std::string named = "GPU " + std::to_string(2 % gpus) + ", has failed: found \"the unit that ";
  CHECK(std::any_of(receiver.begin(), receiver.end(),
                    [&](const std::string& text) { return text.find(named) != std::string::npos; }));
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
             Contains("names no wavefront tiles: workgroups 0 to 7") && Catch::EndsWith("are mapped to a peer"));
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

// The chunks that go through a GPU reach the others one step later each; those of the last step go nowhere.
TEST_CASE("a ring kernel whose counter something else has changed ends with mismatch") {
  require_changed(guest_changed_counters, {Status::mismatch, Status::ok}, 0);
}

TEST_CASE("behind a ring kernel whose counter something else has changed two end with peer_failed") {
  require_changed(guest_changed_counters, {Status::mismatch, Status::ok, Status::peer_failed, Status::peer_failed}, 0);
}

TEST_CASE("a ring kernel whose counter a peer has changed ends with mismatch") {
  require_changed(guest_changed_counters_of_its_neighbour,
                  {Status::ok, Status::peer_failed, Status::peer_failed, Status::mismatch}, 3);
}

TEST_CASE("both of two GPUs that get wrong data of a ring kernel whose stores one refuses are told") {
  require_refused(2);
}

TEST_CASE("all of four GPUs that get wrong data of a ring kernel whose stores one refuses are told") {
  require_refused(4);
}

TEST_CASE("both of two ring kernels with other numbers of workgroups end with mismatch") {
  require_out_of_step(guest_with_fewer_ring_workgroups, 2, "workgroups found 3, expected 4");
}

TEST_CASE("all of three ring kernels end when one has another number of workgroups") {
  require_out_of_step(guest_with_fewer_ring_workgroups, 3, "workgroups found 3, expected 4");
}

TEST_CASE("all of four ring kernels end when one has another number of workgroups") {
  require_out_of_step(guest_with_fewer_ring_workgroups, 4, "workgroups found 3, expected 4");
}

TEST_CASE("all of three ring kernels end when one takes the ring for a smaller one") {
  require_out_of_step(guest_in_a_smaller_ring, 3, "gpus found 2, expected 3");
}

TEST_CASE("all of four ring kernels end when one takes the ring for a smaller one") {
  require_out_of_step(guest_in_a_smaller_ring, 4, "gpus found 3, expected 4");
}

}  // namespace t3vp::test::disagreements_test
