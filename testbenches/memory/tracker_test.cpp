#include <map>

#include "data_path/random.h"
#include "memory/memory_bench.h"
#include "memory/tracker_bench.h"

using namespace t3vp;

namespace {

struct Part {
  std::uint32_t wg, wf, from, rows;
  bool local;
};

/// Every wavefront tile of the grid cut into `updates` times its rows, in pieces of one to three rows.
std::vector<Part> parts_of(const TileGrid& grid, std::uint32_t updates, Random& random) {
  std::vector<Part> parts;
  for (std::uint32_t wg = 0; wg < grid.workgroups(); ++wg)
    for (std::uint32_t wf = 0; wf < grid.wavefronts; ++wf)
      for (std::uint32_t update = 0; update < updates; ++update)
        for (std::uint32_t row = 0; row < grid.wavefront_tile(wg, wf).rows;) {
          const auto rows = std::min<std::uint32_t>(grid.wavefront_tile(wg, wf).rows - row, 1 + random.below(3));
          parts.push_back({wg, wf, row, rows, update == 0});
          row += rows;
        }
  return parts;
}

/// Feeds the parts in a random order and checks that each tile triggers with its last part, once, with its ids and
/// start.
void check_triggers(TrackerBench& bench, std::uint32_t updates) {
  const TileGrid grid = TrackerBench::ragged_grid();
  REQUIRE(bench.map(grid, 0, grid.workgroups(), updates) == Status::ok);
  Random random(9);
  std::vector<Part> parts = parts_of(grid, updates, random);
  std::shuffle(parts.begin(), parts.end(), random.engine());
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> left;
  for (const Part& part : parts) left[{part.wg, part.wf}] += part.rows;

  std::vector<std::pair<std::uint32_t, std::uint32_t>> expected;
  for (const Part& part : parts) {
    bench.count(grid, part.wg, part.wf, part.from, part.rows, part.local);
    if ((left[{part.wg, part.wf}] -= part.rows) == 0) expected.emplace_back(part.wg, part.wf);
    REQUIRE(bench.registers["triggers"] == expected.size());
  }
  const auto triggered = bench.triggered();
  REQUIRE(triggered.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Producer& producer = triggered[i].extension.producer;
    REQUIRE(producer.wg_id == expected[i].first);
    REQUIRE(producer.wf_id == expected[i].second);
    REQUIRE(triggered[i].address ==
            TrackerBench::base + grid.offset(grid.wavefront_tile(producer.wg_id, producer.wf_id)));
  }
  REQUIRE(bench.registers["entries"] == 0);
  REQUIRE(bench.tracker.diagnosis().empty());
}

}  // namespace

TEST_CASE("a wavefront tile triggers once, when its clipped elements have had all their updates, in any order") {
  TrackerBench bench;
  check_triggers(bench, 2);
  REQUIRE(bench.registers["spills"] == 0);
}

TEST_CASE("one expected update triggers with the first full tile") {
  TrackerBench bench;
  check_triggers(bench, 1);
}

TEST_CASE("a tile triggers with its last element, and not one before") {
  TrackerBench bench;
  const TileGrid grid = TrackerBench::ragged_grid();
  REQUIRE(bench.map(grid, 0, grid.workgroups(), 2) == Status::ok);
  std::uint64_t triggers = 0;
  for (const std::uint32_t wg : {0u, 2u, grid.workgroups() - 1}) {  // whole, and clipped at one edge and at both
    const Rectangle tile = grid.wavefront_tile(wg, 0);
    const std::uint64_t address = TrackerBench::base + grid.offset(tile), all = tile.elements() * 2;
    const auto count = [&](std::uint64_t bytes, bool local) {
      bench.tracker.count({wg, 0, 0}, address, bytes, Operation::update, local, now());
    };
    count(all, true);
    count(all - 2, false);
    REQUIRE(bench.registers["triggers"] == triggers);
    count(2, false);
    REQUIRE(bench.registers["triggers"] == ++triggers);
  }
}

TEST_CASE("workgroups that share a set spill to memory, come back and still trigger once") {
  TrackerParameters parameters;
  parameters.sets = 2;
  parameters.ways = 3;
  TrackerBench bench(parameters);
  bench.registers.set("spill_base", 0x80000);
  bench.registers.set("spill_entries", 64);
  check_triggers(bench, 3);
  REQUIRE(bench.registers["spills"] > 0);
  REQUIRE(bench.registers["peak_entries"] > 6);
  std::uint64_t stores = 0, loads = 0;
  for (const DataTarget::Arrival& access : bench.spills.arrivals()) {
    (access.extension.operation == Operation::store ? stores : loads) += 1;
    REQUIRE(access.address >= 0x80000);
    REQUIRE(access.address + access.extension.shape.bytes() <= 0x80000 + 64 * 32);
    REQUIRE(access.extension.traffic == TrafficClass::control);
    REQUIRE(access.extension.stream == Stream::communication);
    REQUIRE(access.extension.producer.wg_id == no_workgroup);
  }
  REQUIRE(stores == bench.registers["spills"]);
  REQUIRE(loads == stores);  // all came back
  REQUIRE(bench.registers.reported.empty());
}

TEST_CASE("the least recently used entry of a set is the one that spills") {
  TrackerParameters parameters;
  parameters.sets = 1;
  parameters.ways = 2;
  TrackerBench bench(parameters);
  bench.registers.set("spill_base", 0x80000);
  bench.registers.set("spill_entries", 4096);
  const TileGrid grid = TrackerBench::ragged_grid();
  REQUIRE(bench.map(grid, 0, grid.workgroups(), 4) == Status::ok);
  bench.count_tile(grid, 0, 0);
  bench.count_tile(grid, 1, 0);
  bench.count_tile(grid, 0, 0);
  bench.count_tile(grid, 2, 0);  // pushes out workgroup 1
  REQUIRE(bench.registers["spills"] == 1);
  bench.count_tile(grid, 0, 0);
  REQUIRE(bench.registers["spills"] == 1);
  bench.count_tile(grid, 1, 0);
  REQUIRE(bench.registers["spills"] == 2);
  REQUIRE(bench.registers["entries"] == 3);
}

TEST_CASE("a spill without room for it is reported and counting goes on") {
  TrackerParameters parameters;
  parameters.sets = parameters.ways = 1;
  TrackerBench bench(parameters);
  const TileGrid grid = TrackerBench::ragged_grid();
  REQUIRE(bench.map(grid, 0, 3, 2) == Status::ok);
  for (int round = 0; round < 2; ++round)
    for (std::uint32_t wg = 0; wg < 3; ++wg) bench.count_tile(grid, wg, 0);
  REQUIRE_FALSE(bench.registers.reported.empty());
  REQUIRE(static_cast<Status>(bench.registers.reported[0].code) == Status::capacity);
  REQUIRE(bench.registers["triggers"] == 3);
}

TEST_CASE("tiles of two outputs with the same ids are counted apart, spilled or not") {
  TrackerParameters parameters;
  parameters.sets = 1;
  parameters.ways = 8;
  TrackerBench bench(parameters);
  bench.registers.set("spill_base", 0x80000);
  bench.registers.set("spill_entries", 4096);
  const TileGrid grid = TrackerBench::ragged_grid();
  const std::uint64_t other = TrackerBench::base + 0x10000;
  REQUIRE(bench.map(grid, 0, grid.workgroups(), 2) == Status::ok);
  REQUIRE(bench.map(grid, 0, grid.workgroups(), 2, Operation::update, other) == Status::ok);
  for (std::uint32_t wg = 0; wg < grid.workgroups(); ++wg) {
    bench.count_tile(grid, wg, 0, true);
    bench.count_tile(grid, wg, 0, true, other);
  }
  REQUIRE(bench.registers["triggers"] == 0);
  REQUIRE(bench.registers["spills"] > 0);
  for (std::uint32_t wg = 0; wg < grid.workgroups(); ++wg) bench.count_tile(grid, wg, 0, false, other);
  const auto triggered = bench.triggered();
  REQUIRE(triggered.size() == grid.workgroups());
  for (const DataTarget::Arrival& trigger : triggered) REQUIRE(trigger.address >= other);
}

TEST_CASE("accesses that are not mapped do not count") {
  TrackerBench bench;
  const TileGrid grid = TrackerBench::ragged_grid();
  REQUIRE(bench.map(grid, 0, 4, 1) == Status::ok);
  bench.count_tile(grid, 4, 0);                                                     // another chunk
  bench.count_tile(grid, 0, 0, true, TrackerBench::base + grid.bytes());            // another output
  bench.count(grid, 0, 0, 0, 8, true, TrackerBench::base, Operation::store);        // not an update
  bench.tracker.count({}, TrackerBench::base, 64, Operation::update, true, now());  // no tile at all
  REQUIRE(bench.registers["triggers"] == 0);
  REQUIRE(bench.registers["entries"] == 0);
}

TEST_CASE("a mapped store counts stores") {
  TrackerBench bench;
  const TileGrid grid = TrackerBench::ragged_grid();
  REQUIRE(bench.map(grid, 0, 4, 1, Operation::store) == Status::ok);
  bench.count_tile(grid, 0, 0);
  REQUIRE(bench.registers["triggers"] == 0);
  bench.count(grid, 0, 0, 0, 8, true, TrackerBench::base, Operation::store);
  REQUIRE(bench.registers["triggers"] == 1);
}

TEST_CASE("an access of a wavefront that the mapped tile does not have is reported and never triggers") {
  TrackerBench bench;
  const TileGrid grid = TrackerBench::ragged_grid();
  REQUIRE(bench.map(grid, 0, grid.workgroups(), 1) == Status::ok);
  bench.tracker.count({0, 7, 0}, TrackerBench::base, 64, Operation::update, true, now());
  REQUIRE(bench.registers.take_report() == Status::invalid_argument);
  const std::uint32_t last_row = grid.workgroups() - 1;  // 4 of its 32 rows are left, all of wavefront 0
  REQUIRE(grid.wavefront_tile(last_row, 1).empty());
  bench.tracker.count({last_row, 1, 0}, TrackerBench::base, 64, Operation::update, true, now());
  REQUIRE(bench.registers.take_report() == Status::invalid_argument);
  REQUIRE(bench.registers["triggers"] == 0);
  REQUIRE(bench.triggered().empty());
}

TEST_CASE("the table takes the 19 KiB of the paper") {
  TrackerBench bench;
  REQUIRE(bench.tracker.size_bytes() == 256 * 8 * 76 / 8);
  REQUIRE(bench.tracker.size_bytes() == 19 * 1024);
}

TEST_CASE("the diagnosis tells what a short chunk has and expects, and who owes the rest") {
  TrackerBench bench;
  const TileGrid grid = TrackerBench::ragged_grid();
  REQUIRE(bench.map(grid, 0, 2, 2) == Status::ok);
  for (std::uint32_t wf = 0; wf < 4; ++wf) {
    bench.count_tile(grid, 0, wf, true);
    bench.count_tile(grid, 0, wf, false);
    bench.count_tile(grid, 1, wf, true);
  }
  const auto lines = bench.tracker.diagnosis();
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0], Catch::Contains("GPU 0 Tracker: workgroups 0 to 1: 4 of 8 wavefront tiles complete"));
  CHECK_THAT(lines[0], Catch::Contains("own GEMM 2048 of 2048, incoming 1024 of 2048"));
  CHECK_THAT(lines[0], Catch::Contains("workgroup 1 wavefront 0 at 0x10040 has 256 local + 0 incoming of 512"));
  CHECK_THAT(lines[0], Catch::Contains("the peer that sends to GPU 0 owes 1024 elements"));
  CHECK_THAT(lines[0], !Catch::Contains("GEMM owes"));
}

TEST_CASE("the diagnosis blames the GPU's own GEMM when it is the GEMM that owes") {
  TrackerBench bench;
  const TileGrid grid = TrackerBench::ragged_grid();
  REQUIRE(bench.map(grid, 0, 1, 2) == Status::ok);
  bench.count_tile(grid, 0, 0, false);
  const auto lines = bench.tracker.diagnosis();
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0], Catch::Contains("GPU 0's GEMM owes 1024 elements"));
  CHECK_THAT(lines[0], Catch::Contains("the peer that sends to GPU 0 owes 768 elements"));
}

TEST_CASE("in the controller, own and incoming updates of a tile trigger when the last is accepted") {
  MemoryBench bench;
  TileGrid grid;
  grid.rows = grid.columns = grid.tile_rows = grid.tile_columns = 32;
  grid.row_stride = 64;
  const std::pair<const char*, std::uint64_t> staged[] = {
      {"output_base", local(0)}, {"row_stride", 64}, {"rows", 32},      {"columns", 32}, {"tile_rows", 32},
      {"tile_columns", 32},      {"layout", 1},      {"workgroups", 1}, {"updates", 2},  {"command", 1 | 2 << 4}};
  for (const auto& [name, value] : staged) bench.tracker.set(name, value);
  REQUIRE(bench.tracker.command_status() == Status::ok);
  DataAccess access{Operation::update,        local(0),          grid.shape(grid.tile(0)), {}, Stream::compute,
                    TrafficClass::gemm_write, ElementType::fp16, {0, 0, bench_gpu}};
  bench.send(bench.bypass, access);
  bench.run_for(3'000'000);
  const auto lines = bench.controller.tracker.diagnosis();
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0], Catch::Contains("own GEMM 1024 of 1024, incoming 0 of 1024"));
  const std::size_t second = bench.send(bench.peers, access, 5'000'000);
  bench.settle();
  REQUIRE(bench.triggers.arrivals().size() == 1);
  REQUIRE(bench.triggers.arrivals()[0].at == bench.peers.answer(second).arrival);
  REQUIRE(bench.triggers.arrivals()[0].extension.producer.wg_id == 0);
}
