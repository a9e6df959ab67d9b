#include <map>

#include "data_path/random.h"
#include "memory/memory_bench.h"
#include "memory/tracker_bench.h"

namespace t3vp::test::tracker_test {

using namespace memory;

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
    const auto count = [&](std::uint32_t row, std::uint32_t rows, std::uint32_t column, std::uint32_t columns) {
      bench.count(TrackerBench::access(grid, wg, 0, {tile.row + row, tile.column + column, rows, columns}));
    };
    count(0, tile.rows, 0, tile.columns);
    count(0, tile.rows - 1, 0, tile.columns);
    count(tile.rows - 1, 1, 0, tile.columns - 1);
    REQUIRE(bench.registers["triggers"] == triggers);
    count(tile.rows - 1, 1, tile.columns - 1, 1);
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

TEST_CASE("the time in which a tile's counts come back from memory is the Tracker's") {
  TrackerParameters parameters;
  parameters.sets = parameters.ways = 1;
  TrackerBench bench(parameters);
  bench.registers.set("spill_base", 0x80000);
  bench.registers.set("spill_entries", 4096);
  bench.spills.latency = 50'000;
  Cause triggered;
  bench.triggers.serve = [&](tlm::tlm_generic_payload&) {
    triggered = Cause::current();
    return tlm::TLM_OK_RESPONSE;
  };
  const TileGrid grid = TrackerBench::ragged_grid();
  REQUIRE(bench.map(grid, 0, grid.workgroups(), 2) == Status::ok);
  bench.count_tile(grid, 0, 0);
  bench.count_tile(grid, 1, 0);  // pushes out workgroup 0
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
  const Picoseconds begin = now();
  const std::uint32_t window = Cause::open_window(begin);
  Cause counted = Cause::begin();
  counted.extend(begin, t3vp::Part::launch);
  const Tracker::Access access = TrackerBench::access(grid, 0, 0, grid.wavefront_tile(0, 0));
  bench.tracker.count(bench.tracker.accept(access), access.shape.bytes(), begin, counted);
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
  REQUIRE(triggered.time() >= begin + 50'000);
  CHECK(of(triggered.within(window, triggered.time()), t3vp::Part::tracker) == triggered.time() - begin);
}

TEST_CASE("a chunk that may spill more than the table in memory holds is refused") {
  TrackerParameters parameters;
  parameters.sets = parameters.ways = 2;
  parameters.index = TrackerIndex::workgroup;
  TrackerBench bench(parameters);
  const TileGrid grid = TrackerBench::ragged_grid();  // 4 wavefronts
  REQUIRE(bench.map(grid, 0, 1, 2) == Status::capacity);
  REQUIRE(bench.registers.take_report() == Status::capacity);
  bench.registers.set("spill_base", 0x80000);
  bench.registers.set("spill_entries", 11);
  REQUIRE(bench.map(grid, 0, 2, 2) == Status::ok);
  REQUIRE(bench.map(grid, 2, 1, 2) == Status::capacity);
  REQUIRE(bench.registers.take_report() == Status::capacity);
  bench.remove(grid, 0, 2);
  bench.registers.set("spill_entries", 12);
  REQUIRE(bench.map(grid, 0, 2, 2) == Status::ok);
  REQUIRE(bench.map(grid, 2, 1, 2) == Status::ok);
  REQUIRE(bench.map(grid, 3, 1, 2) == Status::capacity);
}

namespace {

/// Workgroup 0 has one of two updates and is in memory, workgroup 1 in the only entry; then 0 is updated again.
struct SpilledBench : TrackerBench {
  static TrackerParameters one_entry() {
    TrackerParameters parameters;
    parameters.sets = parameters.ways = 1;
    return parameters;
  }
  SpilledBench() : TrackerBench(one_entry()) {
    registers.set("spill_base", 0x80000);
    registers.set("spill_entries", 64);
    const TileGrid grid = ragged_grid();
    REQUIRE(map(grid, 0, 12, 2) == Status::ok);
    count_tile(grid, 0, 0);
    count_tile(grid, 1, 0);
    REQUIRE(memory.size() == 1);
  }
  std::vector<unsigned char>& slot() { return memory.begin()->second; }
  void update_again() { count_tile(ragged_grid(), 0, 0); }
  Status counting() { return static_cast<Status>(registers["status"] >> 8 & 0xFF); }
};

}  // namespace

TEST_CASE("counts that were spilled are in memory and come back from there") {
  SpilledBench bench;
  bench.update_again();
  REQUIRE(bench.registers["triggers"] == 1);
  REQUIRE(bench.counting() == Status::ok);
}

TEST_CASE("what is stored over the spill table is told, and spoils the counts") {
  SpilledBench bench;
  std::fill(bench.slot().begin(), bench.slot().end(), 0xAB);
  bench.update_again();
  REQUIRE(bench.registers.take_report() == Status::mismatch);
  REQUIRE(bench.counting() == Status::mismatch);
  REQUIRE(bench.registers["triggers"] == 0);
}

TEST_CASE("a count that was changed in memory is believed") {
  SpilledBench bench;
  bench.slot()[16] ^= 1;  // one byte more of this GPU
  bench.update_again();
  REQUIRE(bench.counting() == Status::excess);
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
  bench.count_tile(grid, 4, 0);                                           // another chunk
  bench.count_tile(grid, 0, 0, true, TrackerBench::base + grid.bytes());  // another output
  Tracker::Access nameless = TrackerBench::access(grid, 0, 0, grid.wavefront_tile(0, 0));
  nameless.producer = {};
  bench.count(nameless);
  REQUIRE(bench.registers["triggers"] == 0);
  REQUIRE(bench.registers["entries"] == 0);
  REQUIRE(bench.registers.reported.empty());
}

TEST_CASE("a mapped store counts stores") {
  TrackerBench bench;
  const TileGrid grid = TrackerBench::ragged_grid();
  REQUIRE(bench.map(grid, 0, 4, 1, Operation::store) == Status::ok);
  bench.count(grid, 0, 0, 0, 8, true, TrackerBench::base, Operation::store);
  REQUIRE(bench.registers["triggers"] == 1);
  REQUIRE(bench.registers.reported.empty());
}

TEST_CASE("an access that does not fit its map is told with its place and never triggers") {
  TrackerBench bench;
  const TileGrid grid = TrackerBench::ragged_grid();
  REQUIRE(bench.map(grid, 0, grid.workgroups(), 1) == Status::ok);
  const std::uint32_t last_row = grid.workgroups() - 1;  // 4 of its 32 rows are left, all of wavefront 0
  REQUIRE(grid.wavefront_tile(last_row, 1).empty());
  const Rectangle tile = grid.wavefront_tile(0, 1);
  const auto refused = [&](const char* what, const Tracker::Access& access) {
    CAPTURE(what);
    bench.count(access);
    REQUIRE(bench.registers.reported.back().address == access.address);
    REQUIRE(bench.registers.take_report() == Status::mismatch);
    REQUIRE((bench.registers["status"] >> 8 & 0xFF) == static_cast<std::uint64_t>(Status::mismatch));
    REQUIRE(bench.registers["interrupt"] == 1);
    REQUIRE(bench.registers["triggers"] == 0);
    bench.registers.set("interrupt", 1);
    bench.registers.set("command", 2);  // remove_all
    REQUIRE(bench.registers["status"] == 0);
    REQUIRE(bench.map(grid, 0, grid.workgroups(), 1) == Status::ok);
  };
  Tracker::Access access = TrackerBench::access(grid, 0, 1, tile);
  access.producer.wf_id = 7;
  refused("no such wavefront", access);
  access = TrackerBench::access(grid, last_row, 0, grid.wavefront_tile(last_row, 0));
  access.producer.wf_id = 1;
  refused("a wavefront without rows", access);
  access = TrackerBench::access(grid, 0, 1, tile, true, TrackerBench::base, Operation::store);
  refused("a store where updates are counted", access);
  access = TrackerBench::access(grid, 0, 1, tile);
  access.element = ElementType::bf16;
  refused("another element type", access);
  refused("the tile of another wavefront", TrackerBench::access(grid, 0, 1, grid.wavefront_tile(0, 2)));
  refused("one row too many", TrackerBench::access(grid, 0, 1, {tile.row, tile.column, tile.rows + 1, tile.columns}));
  refused("one row too early", TrackerBench::access(grid, 0, 1, {tile.row - 1, tile.column, 2, tile.columns}));
  refused("one column too many", TrackerBench::access(grid, 0, 1, {tile.row, tile.column, 1, tile.columns + 1}));
  access = TrackerBench::access(grid, 0, 1, tile);
  access.shape.stride += 32;
  refused("rows further apart", access);
}

TEST_CASE("an access of a tile that is complete is told, and triggers no second time") {
  TrackerBench bench;
  const TileGrid grid = TrackerBench::ragged_grid();
  REQUIRE(bench.map(grid, 0, 4, 2) == Status::ok);
  bench.count_tile(grid, 1, 1);
  bench.count_tile(grid, 1, 1, false);
  REQUIRE(bench.registers.reported.empty());
  bench.count(grid, 1, 1, 0, 1, true, TrackerBench::base, Operation::store);  // of a kernel after it
  REQUIRE(bench.registers.reported.empty());
  bench.count_tile(grid, 1, 1, false);
  REQUIRE(bench.registers["triggers"] == 1);
  REQUIRE(bench.registers.take_report() == Status::excess);
  REQUIRE((bench.registers["status"] >> 8 & 0xFF) == static_cast<std::uint64_t>(Status::excess));
}

TEST_CASE("an access that completes a tile and has more is told") {
  TrackerBench bench;
  const TileGrid grid = TrackerBench::ragged_grid();
  REQUIRE(bench.map(grid, 0, 4, 2) == Status::ok);
  bench.count_tile(grid, 1, 1);
  bench.count(grid, 1, 1, 0, 1);
  bench.count_tile(grid, 1, 1, false);
  REQUIRE(bench.registers["triggers"] == 1);
  REQUIRE(bench.registers.take_report() == Status::excess);
}

TEST_CASE("what the cache writes back into a mapped tile is told") {
  TrackerBench bench;
  const TileGrid grid = TrackerBench::ragged_grid();
  REQUIRE(bench.map(grid, 4, 2, 1) == Status::ok);
  const auto write_back = [&](std::uint64_t address) {
    bench.count(Tracker::Access{{}, address, {1, 32, 0}, Operation::store, ElementType::fp16, true, true});
  };
  const auto at = [&](std::uint32_t wg) { return TrackerBench::base + grid.offset(grid.tile(wg)); };
  write_back(at(3));
  write_back(at(6));
  write_back(TrackerBench::base + grid.bytes());
  write_back(TrackerBench::base - 32);
  for (std::uint32_t wf = 0; wf < 4; ++wf) bench.count_tile(grid, 4, wf);
  write_back(at(4));  // complete
  REQUIRE(bench.registers.reported.empty());
  write_back(at(5));
  REQUIRE(bench.registers.take_report() == Status::mismatch);
}

TEST_CASE("counts wait for an entry that comes back from memory, and a Tracker of one entry is slow but right") {
  TrackerParameters parameters;
  parameters.sets = parameters.ways = 1;
  TrackerBench bench(parameters);
  bench.spills.latency = 100'000;
  bench.registers.set("spill_base", 0x80000);
  bench.registers.set("spill_entries", 64);
  const TileGrid grid = TrackerBench::ragged_grid();
  REQUIRE(bench.map(grid, 0, 12, 2) == Status::ok);
  for (std::uint32_t wg = 0; wg < 3; ++wg) bench.count_tile(grid, wg, 0);
  const Picoseconds begin = now();
  for (std::uint32_t wg = 0; wg < 3; ++wg) bench.count_tile(grid, wg, 0, false);
  REQUIRE(bench.registers["triggers"] == 0);
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));
  REQUIRE(bench.registers["triggers"] == 3);
  const auto& triggers = bench.triggers.arrivals();
  Picoseconds waited = 0;  // the last access of each was counted a picosecond after that of the one before
  for (std::uint32_t wg = 0; wg < 3; ++wg) waited += triggers[wg].at - (begin + wg);
  REQUIRE(bench.tracker.trigger_wait_ns() == to_ns(waited));
  // Workgroup 0 comes back alone, and 1 when it has gone, as 0 triggers: each takes the memory's latency.
  for (std::uint32_t wg = 0; wg < 2; ++wg) {
    REQUIRE(triggers[wg].extension.producer.wg_id == wg);
    REQUIRE(triggers[wg].at >= begin + (wg + 1) * 100'000);
    REQUIRE(triggers[wg].at <= begin + (wg + 1) * 100'000 + 10);
  }
  REQUIRE(bench.registers["entries"] == 0);
}

TEST_CASE("the table takes the 19 KiB of the paper") {
  TrackerBench bench;
  REQUIRE(bench.tracker.size_bytes() == 256 * 8 * 76 / 8);
  REQUIRE(bench.tracker.size_bytes() == 19 * 1024);
}

TEST_CASE("the diagnosis tells what a short chunk has and expects") {
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
  CHECK_THAT(lines[0],
             Catch::Contains(
                 "3072 of 4096 element updates counted (2 per element expected): own kernels' 2048, incoming 1024"));
  CHECK_THAT(lines[0], Catch::Contains("workgroup 1 wavefront 0 at 0x10040 has 256 local + 0 incoming of 512"));
}

TEST_CASE("a tile that nobody has counted in is named, and not one that is complete") {
  TrackerBench bench;
  const TileGrid grid = TrackerBench::ragged_grid();
  REQUIRE(bench.map(grid, 0, 2, 1) == Status::ok);
  for (std::uint32_t tile = 0; tile < 8; ++tile)
    if (tile != 5) bench.count_tile(grid, tile / 4, tile % 4, false);
  const auto shortages = bench.tracker.shortages();
  REQUIRE(shortages.size() == 1);
  CHECK(shortages[0].complete == 7);
  CHECK(shortages[0].wg_id == 1);
  CHECK(shortages[0].wf_id == 1);
}

TEST_CASE("in the controller, own and incoming updates of a tile trigger when the last enters the DRAM queue") {
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
  CHECK_THAT(
      lines[0],
      Catch::Contains("1024 of 2048 element updates counted (2 per element expected): own kernels' 1024, incoming 0"));
  const std::size_t second = bench.send(bench.peers, access, 5'000'000);
  bench.settle();
  REQUIRE(bench.triggers.arrivals().size() == 1);
  REQUIRE(bench.triggers.arrivals()[0].at == bench.peers.answer(second).at);
  REQUIRE(bench.triggers.arrivals()[0].extension.producer.wg_id == 0);
}

}  // namespace t3vp::test::tracker_test
