// What is stored in mapped tiles without a tile's name, or under another one's.
#include <fmt/format.h>

#include "memory/memory_bench.h"
#include "memory/tracker_bench.h"

namespace t3vp::test::tracker_names_test {

using namespace memory;

namespace {

/// A bench on which workgroups 0 to 3 are mapped, and accesses to their tiles under other names.
struct StrayBench : TrackerBench {
  const TileGrid grid = ragged_grid();
  explicit StrayBench() { REQUIRE(map(grid, 0, 4, 1) == Status::ok); }

  /// An update of a kernel of the first tile of a workgroup; `name` says whose it is.
  Tracker::Access update_of(std::uint32_t workgroup, Producer name) const {
    Tracker::Access access = TrackerBench::access(grid, workgroup, 0, grid.wavefront_tile(workgroup, 0));
    access.producer = name;
    access.of_kernel = true;
    return access;
  }
  void complete() {
    for (std::uint32_t wg = 0; wg < 4; ++wg)
      for (std::uint32_t wf = 0; wf < 4; ++wf) count_tile(grid, wg, wf);
    REQUIRE(registers.reported.empty());
  }
  void require_told(const Tracker::Access& access, const std::string& text) {
    count(access);
    REQUIRE(registers.reported.size() == 1);
    CHECK(registers.reported[0].address == access.address);
    CHECK(registers.reported[0].text == text);
    CHECK(registers.take_report() == Status::mismatch);
    CHECK((registers["status"] >> 8 & 0xFF) == static_cast<std::uint64_t>(Status::mismatch));
  }
  void require_taken(const Tracker::Access& access) {
    count(access);
    REQUIRE(registers.reported.empty());
  }
};

constexpr const char* expected_there =
    ": the mapped workgroups 0 to 3 of the output at 0x10000 count those of wavefront 0 of workgroup 1 there";

}  // namespace

TEST_CASE("what a kernel stores in a mapped tile without a tile's name is told and what others prepare is not") {
  StrayBench bench;
  Tracker::Access access = bench.update_of(1, {});
  access.of_kernel = false;
  bench.require_taken(access);
  bench.require_taken(bench.update_of(4, {}));  // outside of the chunk
  bench.require_told(bench.update_of(1, {}), std::string("update of no workgroup of GPU 0") + expected_there);
}

namespace {

void require_told_as(std::uint32_t workgroup) {
  StrayBench bench;
  bench.require_taken(bench.update_of(4, {workgroup, 2, 0}));  // its own workgroup's, or none's
  bench.require_told(bench.update_of(1, {workgroup, 2, 0}),
                     fmt::format("update of wavefront 2 of GPU 0's workgroup {}{}", workgroup, expected_there));
}

}  // namespace

TEST_CASE("what is stored in a mapped tile under the name of one that is elsewhere is told") { require_told_as(4); }

TEST_CASE("what is stored in a mapped tile under the name of one that there is not is told") { require_told_as(104); }

TEST_CASE("what a peer stores in a mapped tile under the name of another one is told") {
  StrayBench bench;
  Tracker::Access store = bench.update_of(1, {104, 2, 3});
  store.operation = Operation::store;
  store.of_kernel = store.local = false;
  bench.require_told(store, std::string("store of wavefront 2 of GPU 3's workgroup 104") + expected_there);
}

TEST_CASE("a wavefront whose tile is complete stores in no other tile of an incomplete map") {
  StrayBench bench;
  bench.count_tile(bench.grid, 0, 0);
  Tracker::Access store = bench.update_of(1, {0, 0, 0});
  store.operation = Operation::store;
  bench.count(store);
  CHECK(bench.registers.take_report() == Status::mismatch);
}

TEST_CASE("a complete map is asked for nothing but more of what it has counted") {
  StrayBench bench;
  bench.complete();
  bench.require_taken(bench.update_of(1, {}));
  Tracker::Access store = bench.update_of(1, {104, 2, 0});
  store.operation = Operation::store;
  bench.require_taken(store);
  store.producer = {0, 0, 0};
  bench.require_taken(store);
  bench.require_told(bench.update_of(1, {104, 2, 0}),
                     std::string("update of wavefront 2 of GPU 0's workgroup 104") + expected_there);
}

namespace {

void require_no_pass(DataInitiator MemoryBench::*sender) {
  MemoryBench bench;
  TileGrid grid;
  grid.rows = grid.columns = grid.tile_rows = grid.tile_columns = 32;
  grid.row_stride = 64;
  const std::pair<const char*, std::uint64_t> staged[] = {
      {"output_base", local(0)}, {"row_stride", 64}, {"rows", 32},      {"columns", 32}, {"tile_rows", 32},
      {"tile_columns", 32},      {"layout", 1},      {"workgroups", 1}, {"updates", 1},  {"command", 1 | 2 << 4}};
  for (const auto& [name, value] : staged) bench.tracker.set(name, value);
  REQUIRE(bench.tracker.command_status() == Status::ok);
  DataAccess access{
      Operation::update, local(0), grid.shape(grid.tile(0)), {}, Stream::compute, TrafficClass::gemm_write,
      ElementType::fp16, {}};
  bench.send(bench.dma, access);
  access.traffic = TrafficClass::control;
  bench.send(bench.peers, access);  // of firmware
  bench.settle();
  REQUIRE(bench.tracker.reported.empty());
  access.traffic = TrafficClass::gemm_write;
  bench.send(bench.*sender, access);
  bench.settle();
  REQUIRE(bench.tracker.take_report() == Status::mismatch);
}

}  // namespace

TEST_CASE("a nameless update of a kernel does not pass for one of the DMA engine") {
  require_no_pass(&MemoryBench::bypass);
}

TEST_CASE("a nameless update of a kernel of a peer does not pass for one of its firmware") {
  require_no_pass(&MemoryBench::peers);
}

TEST_CASE("an update of the NIC does not pass for one of the DMA engine") { require_no_pass(&MemoryBench::nic); }

}  // namespace t3vp::test::tracker_names_test
