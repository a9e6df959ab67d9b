// dma_map's errors as the Tracker's registers give them.
#include "memory/tracker_bench.h"

namespace t3vp::test::tracker_registers_test {

using namespace memory;

namespace {

/// The command is refused with the code, which the error log gets as well, and no chunk is added.
void check_refused(TrackerBench& bench, Status code, Operation operation = Operation::update) {
  const std::uint64_t chunks = bench.registers["chunks"];
  REQUIRE(bench.add(operation) == code);
  REQUIRE(bench.registers.take_report() == code);
  REQUIRE(bench.registers["chunks"] == chunks);
}

}  // namespace

TEST_CASE("the Tracker refuses what is not aligned") {
  TrackerBench bench;
  const TileGrid grid = TrackerBench::ragged_grid();
  bench.stage(grid, 0, 1, 1, TrackerBench::base + 16);
  check_refused(bench, Status::unaligned);
  bench.stage(grid, 0, 1, 1);
  bench.registers.set("row_stride", 200);
  check_refused(bench, Status::unaligned);
}

TEST_CASE("the Tracker refuses what is out of range") {
  TrackerBench bench;
  const TileGrid grid = TrackerBench::ragged_grid();
  const auto refused = [&](const char* name, std::uint64_t value, Status code = Status::invalid_argument) {
    bench.stage(grid, 0, 1, 1);
    bench.registers.set(name, value);
    CAPTURE(name, value);
    check_refused(bench, code);
  };
  refused("updates", 0);
  refused("updates", 256);
  refused("rows", 0);
  refused("columns", 0);
  refused("tile_rows", 0);
  refused("tile_columns", 0);
  refused("layout", 0);
  refused("layout", 9);
  refused("layout", 3);  // does not divide the tile's 32 rows
  refused("row_stride", 160);
  refused("workgroups", 0);
  refused("workgroups", grid.workgroups() + 1);
  refused("first_workgroup", grid.workgroups());
  refused("first_workgroup", 0xFFFFFFFF);
  refused("output_base", address_map::on_gpu(1, 0), Status::bad_address);
  refused("output_base", address_map::registers_base, Status::bad_address);
  refused("output_base", address_map::hbm_limit - 32, Status::bad_address);
  bench.stage(grid, 0, 1, 1);
  bench.registers.set("command", 1);  // operation none
  REQUIRE(bench.registers.take_report() == Status::invalid_argument);
  REQUIRE(bench.add(Operation::update) == Status::ok);
}

TEST_CASE("the Tracker refuses chunks that overlap, and takes neighbours and other outputs") {
  TrackerBench bench;
  const TileGrid grid = TrackerBench::ragged_grid();
  REQUIRE(bench.map(grid, 4, 4, 1) == Status::ok);
  for (const auto& [first, count] : {std::pair{4u, 4u}, {0u, 5u}, {7u, 1u}, {0u, 12u}}) {
    bench.stage(grid, first, count, 1);
    check_refused(bench, Status::overlap);
  }
  REQUIRE(bench.map(grid, 0, 4, 1) == Status::ok);
  REQUIRE(bench.map(grid, 8, 4, 1) == Status::ok);
  REQUIRE(bench.map(grid, 0, 12, 1, Operation::update, TrackerBench::base + 0x10000) == Status::ok);
}

TEST_CASE("a full table of chunks refuses the next, and can be emptied") {
  TrackerParameters parameters;
  parameters.chunks = 3;
  TrackerBench bench(parameters);
  const TileGrid grid = TrackerBench::ragged_grid();
  REQUIRE(bench.registers["capacity"] == 3);
  for (std::uint32_t wg = 0; wg < 3; ++wg) REQUIRE(bench.map(grid, wg, 1, 1) == Status::ok);
  bench.stage(grid, 3, 1, 1);
  check_refused(bench, Status::table_full);
  bench.count(grid, 0, 0, 0, 1);
  REQUIRE(bench.registers["entries"] == 1);
  bench.registers.set("command", 2 | 1 << 8);  // remove_all by force
  REQUIRE(bench.registers.command_status() == Status::ok);
  REQUIRE(bench.registers["chunks"] == 0);
  REQUIRE(bench.registers["entries"] == 0);
  REQUIRE(bench.map(grid, 0, 12, 1) == Status::ok);
}

TEST_CASE("a strict Tracker refuses exactly the chunks that may not fit a set") {
  TrackerParameters parameters;
  parameters.sets = 4;
  parameters.ways = 8;
  parameters.strict = true;
  TrackerBench bench(parameters);
  const TileGrid grid = TrackerBench::ragged_grid();  // 4 wavefronts: two workgroups to a set
  bench.stage(grid, 0, 9, 1);
  check_refused(bench, Status::capacity);
  REQUIRE(bench.map(grid, 0, 8, 1) == Status::ok);
  for (std::uint32_t wg = 0; wg < 8; ++wg)
    for (std::uint32_t wf = 0; wf < 4; ++wf) bench.count(grid, wg, wf, 0, 1);
  REQUIRE(bench.registers["spills"] == 0);
}

TEST_CASE("after a reset the Tracker has forgotten its chunks and counts but not its geometry") {
  TrackerBench bench;
  const TileGrid grid = TrackerBench::ragged_grid();
  REQUIRE(bench.map(grid, 0, 12, 1) == Status::ok);
  bench.count_tile(grid, 0, 0);
  bench.count(grid, 1, 0, 0, 1);
  bench.tracker.registers.reset();
  for (const char* name : {"chunks", "entries", "peak_entries", "triggers", "spills"}) {
    CAPTURE(name);
    REQUIRE(bench.registers[name] == 0);
  }
  REQUIRE(bench.registers["sets"] == 256);
  REQUIRE(bench.registers["ways"] == 8);
  REQUIRE(bench.registers["capacity"] == 128);
}

TEST_CASE("entries that are spilled are forgotten with the others, by remove_all and by a reset") {
  TrackerParameters parameters;
  parameters.sets = parameters.ways = 1;
  TrackerBench bench(parameters);
  const TileGrid grid = TrackerBench::ragged_grid();
  const auto map_all = [&] {
    bench.registers.set("spill_base", 0x80000);
    bench.registers.set("spill_entries", 64);
    REQUIRE(bench.map(grid, 0, 12, 2) == Status::ok);
  };
  const auto spill_one = [&] {
    map_all();
    const std::uint64_t before = bench.registers["spills"];
    bench.count_tile(grid, 0, 0);
    bench.count_tile(grid, 1, 0);
    REQUIRE(bench.registers["spills"] == before + 1);
  };
  const auto check_forgotten = [&] {
    const std::uint64_t before = bench.registers["triggers"];
    map_all();
    REQUIRE(bench.registers["entries"] == 0);
    bench.count_tile(grid, 0, 0);
    REQUIRE(bench.registers["triggers"] == before);
    REQUIRE(bench.registers["entries"] == 1);
    bench.count_tile(grid, 0, 0);
    REQUIRE(bench.registers["triggers"] == before + 1);
    bench.registers.set("command", 2 | 1 << 8);
  };
  spill_one();
  bench.registers.set("command", 2 | 1 << 8);  // remove_all by force
  check_forgotten();
  spill_one();
  bench.tracker.registers.reset();
  check_forgotten();
}

TEST_CASE("a strict Tracker counts what is mapped already") {
  TrackerParameters parameters;
  parameters.sets = 4;
  parameters.ways = 8;
  parameters.strict = true;
  TrackerBench bench(parameters);
  const TileGrid grid = TrackerBench::ragged_grid();
  REQUIRE(bench.map(grid, 0, 8, 1) == Status::ok);
  bench.stage(grid, 8, 1, 1);
  check_refused(bench, Status::capacity);
}

TEST_CASE("fewer chunks than before are found like the first ones") {
  TrackerBench bench;
  const TileGrid grid = TrackerBench::ragged_grid();
  for (std::uint32_t wg = 0; wg < 9; ++wg) REQUIRE(bench.map(grid, wg, 1, 1) == Status::ok);
  bench.count_tile(grid, 8, 0);
  REQUIRE(bench.registers["triggers"] == 1);
  bench.registers.set("command", 2 | 1 << 8);  // remove_all by force
  REQUIRE(bench.map(grid, 0, 2, 1) == Status::ok);
  bench.count_tile(grid, 1, 0);
  bench.count_tile(grid, 0, 0);
  bench.count_tile(grid, 2, 0);  // not mapped
  REQUIRE(bench.registers["triggers"] == 3);
}

}  // namespace t3vp::test::tracker_registers_test
