// A wrong use of a map is reported at the first access, and maps in use stay unchanged.
#include <catch2/catch.hpp>

#include "driver_errors/gpu_pair.h"

namespace t3vp::test::map_use_test {

namespace {

void add_use(std::vector<Told>& told, const char* what) {
  told.insert(told.end(), {{what, T3_OK},
                           {"gemm", T3_OK},
                           {"wait_kernels", T3_OK},
                           {"wait_dma", T3_MISMATCH},
                           {"force_unmap_all", T3_OK},
                           {"logged by tracker", T3_MISMATCH}});
}

}  // namespace

TEST_CASE("accesses that are not what their map says are told at the first of them, by their place") {
  GpuPair pair(guest_maps_used_wrongly);
  pair.run();
  std::vector<Told> told;
  add_use(told, "8 wavefronts mapped");
  add_use(told, "another element type mapped");
  add_use(told, "updates mapped, stores come");
  add_use(told, "other tiles mapped");
  REQUIRE(pair.told() == lines(told));
  CHECK_THAT(pair.logged(0)[0], Catch::Contains("are not within its tile"));
  CHECK_THAT(pair.logged(0)[1], Catch::Contains("update of wavefront") && Catch::Contains("bf16"));
  CHECK_THAT(pair.logged(0)[2], Catch::Contains("store of wavefront") && Catch::Contains("count updates"));
  pair.require_right_result();
}

TEST_CASE("a GEMM that stores through the cache does not run on maps and older write-backs are told") {
  GpuPair pair(guest_cached_on_maps, {}, guest_late);
  pair.run();
  REQUIRE(pair.told() == lines({{"dma_map", T3_OK},
                                {"cached gemm", T3_OK},
                                {"wait_kernels", T3_MISMATCH},
                                {"cached gemm that updates", T3_OK},
                                {"wait_kernels", T3_OK},
                                {"wait_dma", T3_OK},
                                {"cached gemm on the complete map", T3_OK},
                                {"wait_kernels", T3_OK},
                                {"flush", T3_OK},
                                {"unmap_all", T3_OK},
                                {"remote_map", T3_OK},
                                {"cached gemm", T3_OK},
                                {"wait_kernels", T3_MISMATCH},
                                {"unmap_all", T3_OK},
                                {"cached gemm before the map", T3_OK},
                                {"wait_kernels", T3_OK},
                                {"dma_map", T3_OK},
                                {"flush", T3_OK},
                                {"wait_dma", T3_MISMATCH},
                                {"force_unmap_all", T3_OK},
                                {"logged by kernel_queue", T3_MISMATCH},
                                {"logged by kernel_queue", T3_MISMATCH},
                                {"logged by tracker", T3_MISMATCH}}));
  CHECK_THAT(pair.logged(0)[0], Catch::Contains("stores through the cache, which forgets the wavefront tiles: "
                                                "workgroups 32 to 63 of the output at 0x") &&
                                    Catch::Contains("are mapped and not complete"));
  CHECK_THAT(pair.logged(0)[1], Catch::Contains("are mapped to a peer"));
  CHECK_THAT(pair.logged(0)[2], Catch::Contains("the cache writes back"));
  pair.require_right_result();
}

TEST_CASE("a wait for maps ends at the first access that does not fit") {
  GpuPair pair(guest_misfit_in_a_wait);
  pair.run();
  REQUIRE(pair.told() == lines({{"8 wavefronts mapped", T3_OK},
                                {"gemm", T3_OK},
                                {"wait_dma", T3_MISMATCH},
                                {"wait_kernels", T3_OK},
                                {"force_unmap_all", T3_OK},
                                {"logged by tracker", T3_MISMATCH}}));
  pair.require_right_result();
}

TEST_CASE("more updates than expected are an error, before or after the map is complete") {
  GpuPair pair(guest_too_many_updates);
  pair.run();
  REQUIRE(pair.told() == lines({{"1 update mapped", T3_OK},
                                {"first gemm", T3_OK},
                                {"second gemm", T3_OK},
                                {"wait_kernels", T3_OK},
                                {"wait_dma", T3_EXCESS},
                                {"unmap_all", T3_EXCESS},
                                {"unmap_all again", T3_OK},
                                {"logged by tracker", T3_EXCESS}}));
  pair.require_right_result();
}

TEST_CASE("maps in use are not removed, all or nothing, and then one by one") {
  GpuPair pair(guest_busy_maps, {}, guest_late);
  pair.run();
  REQUIRE(pair.told() == lines({{"dma_map of half", T3_OK},
                                {"remote_map of the rest", T3_OK},
                                {"gemm", T3_OK},
                                {"unmap_all", T3_BUSY},
                                {"dma_unmap", T3_BUSY},
                                {"remote_unmap", T3_BUSY},
                                {"wait_kernels", T3_OK},
                                {"wait_dma", T3_OK},
                                {"remote_unmap of half", T3_INVALID_ARGUMENT},
                                {"remote_unmap", T3_OK},
                                {"dma_unmap", T3_OK},
                                {"dma_unmap again", T3_INVALID_ARGUMENT},
                                {"logged by tracker", T3_BUSY},
                                {"logged by output_map", T3_BUSY},
                                {"logged by output_map", T3_INVALID_ARGUMENT},
                                {"logged by tracker", T3_INVALID_ARGUMENT},
                                {"logged by dma", T3_INVALID_ARGUMENT}}));
  CHECK_THAT(pair.logged(0)[0], Catch::Contains("wavefront tiles are complete, and nothing is removed before all are"));
  CHECK_THAT(pair.logged(0)[1], Catch::Contains("a kernel that writes the output at 0x") &&
                                    Catch::Contains("runs, and its maps stay as they are until it has ended"));
  pair.require_right_result();
}

TEST_CASE("a map is not removed while a kernel is queued that has not begun, in whichever queue") {
  GpuPair pair(guest_queued_on_maps, {"system.processor.register_access_ns=1"}, guest_late);  // before it is fetched
  pair.run();
  std::vector<Told> told = {
      {"memory beside", T3_OK}, {"open_queue", T3_OK}, {"dma_map of half", T3_OK}, {"remote_map of the rest", T3_OK}};
  const auto append = [&told](const std::vector<Told>& more) { told.insert(told.end(), more.begin(), more.end()); };
  for (int queue = 0; queue < 2; ++queue)
    append({{"gemm beside", T3_OK},
            {"gemm", T3_OK},
            {"queued behind another one", T3_OK},
            {"remote_unmap", T3_BUSY},
            {"dma_unmap", T3_BUSY},
            {"both", T3_OK},
            {"both", T3_OK}});
  append({{"gemm", T3_OK},
          {"queued by itself", T3_OK},
          {"remote_unmap", T3_BUSY},
          {"dma_unmap", T3_BUSY},
          {"its end", T3_OK},
          {"wait_dma", T3_OK},
          {"gemm beside", T3_OK},
          {"another one runs", T3_OK},
          {"remote_unmap", T3_OK},
          {"dma_unmap", T3_OK},
          {"its end", T3_OK}});
  REQUIRE(pair.told() == lines(told));
  CHECK(pair.logged(0).empty());
  pair.require_right_result();
}

TEST_CASE("maps are not removed when a handler has queued kernels while the removal waits for the DMA engine") {
  GpuPair pair(guest_queued_in_a_removal, {}, guest_late);
  pair.run();
  std::vector<Told> told = {{"memory beside", T3_OK}, {"handler", T3_OK}};
  for (int all = 0; all < 2; ++all)
    for (const Told& line : {Told{"dma_map of half", T3_OK},
                             {"gemm", T3_OK},
                             {"its end", T3_OK},
                             {"gemm", T3_OK},
                             {"gemm", T3_OK},
                             {"removal", T3_BUSY},
                             {"their end", T3_OK},
                             {"removal", T3_OK},
                             {"their end", T3_OK}})
      told.push_back(line);
  REQUIRE(pair.told() == lines(told));
  pair.require_right_result();
}

TEST_CASE("after a timeout maps are removed by force, and what is late is told") {
  GpuPair pair(guest_maps_given_up);
  pair.run();
  const Lines expected = lines({{"2 updates mapped", T3_OK},
                                {"gemm", T3_OK},
                                {"set_timeout", T3_OK},
                                {"wait_dma", T3_TIMEOUT},
                                {"unmap_all", T3_BUSY},
                                {"abort_kernels", T3_OK},
                                {"force_unmap_all", T3_OK},
                                {"late gemm", T3_OK},
                                {"wait_kernels", T3_OK},
                                {"1 update mapped", T3_OK},
                                {"gemm", T3_OK},
                                {"wait_dma", T3_OK},
                                {"wait_kernels", T3_OK},
                                {"unmap_all", T3_OK},
                                {"logged by tracker", T3_BUSY},
                                {"logged by tracker", T3_ABORTED}});
  REQUIRE(pair.told().size() >= expected.size());
  REQUIRE(Lines(pair.told().begin(), pair.told().begin() + static_cast<std::ptrdiff_t>(expected.size())) == expected);
  pair.require_right_result();
}

TEST_CASE("a map without a transfer counts stores as well") {
  GpuPair pair(guest_counted_stores);
  pair.run();
  REQUIRE(pair.told() == lines({{"stores mapped", T3_OK},
                                {"gemm", T3_OK},
                                {"wait_dma", T3_OK},
                                {"wait_kernels", T3_OK},
                                {"unmap_all", T3_OK}}));
  pair.require_right_result();
}

}  // namespace t3vp::test::map_use_test
