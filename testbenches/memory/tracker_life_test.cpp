// How long a map is busy, and how it is removed.
#include "data_path/register_values.h"
#include "memory/memory_bench.h"
#include "memory/tracker_bench.h"

namespace t3vp::test::tracker_life_test {

using namespace memory;

TEST_CASE("a map is busy from its first access until it is complete and then can be removed by itself") {
  TrackerBench bench;
  const TileGrid grid = TrackerBench::ragged_grid();
  REQUIRE(bench.map(grid, 0, 1, 1) == Status::ok);
  REQUIRE(bench.map(grid, 1, 1, 1) == Status::ok);
  bench.count(grid, 0, 0, 0, 1);
  bench.registers.set("command", 2);  // remove_all
  REQUIRE(bench.registers.command_status() == Status::busy);
  REQUIRE(bench.registers.take_report() == Status::busy);
  REQUIRE(bench.registers["chunks"] == 2);
  REQUIRE(bench.remove(grid, 0, 1) == Status::busy);
  REQUIRE(bench.registers.take_report() == Status::busy);
  REQUIRE(bench.remove(grid, 2, 1) == Status::invalid_argument);
  REQUIRE(bench.registers.take_report() == Status::invalid_argument);
  REQUIRE(bench.remove(grid, 1, 1) == Status::ok);
  REQUIRE(bench.registers["chunks"] == 1);
  bench.count(grid, 0, 0, 1, 7);
  for (std::uint32_t wf = 1; wf < 4; ++wf) bench.count_tile(grid, 0, wf);
  REQUIRE(bench.registers["triggers"] == 4);
  REQUIRE(bench.remove(grid, 0, 1) == Status::ok);
  REQUIRE(bench.registers["chunks"] == 0);
}

TEST_CASE(
    "a store of a kernel that names no wavefronts into a map that is not complete is told, and such kernels are "
    "refused") {
  TrackerBench bench;
  const TileGrid grid = TrackerBench::ragged_grid();
  const OutputRange output{TrackerBench::base + 64, TrackerBench::base + 65},
      beside{TrackerBench::base + grid.bytes(), TrackerBench::base + 2 * grid.bytes()};
  REQUIRE(bench.map(grid, 1, 1, 1, Operation::store) == Status::ok);
  REQUIRE_THAT(bench.tracker.in_the_way(output, false), Catch::Contains("are mapped and not complete"));
  REQUIRE(bench.tracker.in_the_way(beside, true).empty());
  Tracker::Access ring = TrackerBench::access(grid, 2, 0, grid.tile(2), false, TrackerBench::base, Operation::store);
  ring.producer.wf_id = no_wavefront;
  bench.count(ring);  // beside the map in the same rows
  REQUIRE(bench.registers.reported.empty());
  ring = TrackerBench::access(grid, 1, 0, grid.tile(1), false, TrackerBench::base, Operation::store);
  ring.producer.wf_id = no_wavefront;
  bench.count(ring);
  bench.count(ring);
  REQUIRE(bench.registers.reported.size() == 1);
  CHECK_THAT(bench.registers.reported[0].text, Catch::StartsWith("store of no wavefront of GPU 0's workgroup 1"));
  REQUIRE(bench.registers.take_report() == Status::mismatch);
  for (std::uint32_t wf = 0; wf < 4; ++wf) bench.count(grid, 1, wf, 0, 8, true, TrackerBench::base, Operation::store);
  bench.registers.reported.clear();
  bench.count(ring);  // an all-gather behind it
  REQUIRE(bench.registers.reported.empty());
  REQUIRE(bench.tracker.in_the_way(output, true).empty());
}

TEST_CASE("the Tracker tells who writes from a map's first access until it is complete and while a kernel runs") {
  TrackerBench bench;
  const TileGrid grid = TrackerBench::ragged_grid();
  const auto found = [&](std::uint64_t begin, std::uint64_t end) {
    return bench.tracker.use_of({TrackerBench::base + begin, TrackerBench::base + end});
  };
  const std::uint64_t tile = grid.offset(grid.tile(1)), all = grid.bytes();
  REQUIRE(bench.map(grid, 1, 1, 1) == Status::ok);
  CHECK(found(0, all).empty());  // an output is zeroed between its mapping and its updates
  bench.count(grid, 1, 0, 0, 1);
  CHECK(found(0, all) ==
        "workgroups 1 to 1 of the output at 0x10000 are being counted: 0 of 4 wavefront tiles are complete");
  CHECK_FALSE(found(tile + 32, tile + 64).empty());
  CHECK_FALSE(found(tile + 192 - 32, tile + 192 + 32).empty());
  CHECK(found(tile + 64, tile + 192).empty());  // beside it in the same row
  CHECK(found(32 * 192, all).empty());
  CHECK(found(all, all + 32).empty());
  CHECK(bench.tracker.use_of({0, ~std::uint64_t{0}}) == found(0, all));
  for (std::uint32_t wf = 0; wf < 4; ++wf) {
    CHECK_FALSE(found(0, all).empty());
    bench.count(grid, 1, wf, wf == 0 ? 1 : 0, wf == 0 ? 7 : 8);
  }
  CHECK(found(0, all).empty());
}

TEST_CASE("a map is busy while a kernel that writes its output runs") {
  TrackerBench bench;
  const TileGrid grid = TrackerBench::ragged_grid();
  const auto runs = [&](std::uint64_t begin, std::uint64_t end) {
    bench.running_output.write({begin, end});
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_PS));
  };
  REQUIRE(bench.map(grid, 0, 1, 1) == Status::ok);
  runs(TrackerBench::base - 64, TrackerBench::base);
  REQUIRE(bench.map(grid, 1, 1, 1) == Status::ok);
  REQUIRE(bench.remove(grid, 1, 1) == Status::ok);
  runs(TrackerBench::base + grid.bytes() - 1, TrackerBench::base + grid.bytes());
  REQUIRE(bench.map(grid, 1, 1, 1) == Status::busy);
  REQUIRE(bench.remove(grid, 0, 1) == Status::busy);
  bench.registers.reported.clear();
  for (std::uint32_t wf = 0; wf < 4; ++wf) bench.count_tile(grid, 0, wf);
  REQUIRE(bench.remove(grid, 0, 1) == Status::ok);  // complete
  runs(0, 0);
  REQUIRE(bench.map(grid, 1, 1, 1) == Status::ok);
}

namespace {

void check_forced_removal(bool all) {
  TrackerParameters parameters;
  parameters.sets = parameters.ways = 1;
  TrackerBench bench(parameters);
  bench.registers.set("spill_base", 0x80000);
  bench.registers.set("spill_entries", 64);
  const TileGrid grid = TrackerBench::ragged_grid();
  REQUIRE(bench.map(grid, 0, 1, 1) == Status::ok);
  REQUIRE(bench.map(grid, 1, 1, 1) == Status::ok);
  bench.count(grid, 0, 0, 0, 1);
  bench.count(grid, 0, 1, 0, 1);  // the first is spilled now
  REQUIRE(bench.registers["entries"] == 2);
  const Tracker::Counted accepted = bench.tracker.accept(TrackerBench::access(grid, 0, 2, grid.wavefront_tile(0, 2)));
  if (all)
    bench.registers.set("command", 2 | 1 << 8);
  else
    REQUIRE(bench.remove(grid, 0, 1, true) == Status::ok);
  REQUIRE(bench.registers["chunks"] == (all ? 0 : 1));
  REQUIRE(bench.registers["entries"] == 0);
  bench.tracker.count(accepted, 64, now(), {});
  REQUIRE(bench.registers["entries"] == 0);
  REQUIRE(bench.registers.reported.empty());
  bench.count(grid, 0, 0, 1, 1);
  REQUIRE(bench.registers.take_report() == Status::aborted);
  REQUIRE(bench.map(grid, 0, 1, 1) == Status::ok);
  for (std::uint32_t wf = 0; wf < 4; ++wf) bench.count_tile(grid, 0, wf);
  REQUIRE(bench.registers["triggers"] == 4);
  REQUIRE(bench.registers.reported.empty());
}

}  // namespace

TEST_CASE("maps removed by force have lost their counts, and what comes late is told") { check_forced_removal(true); }

TEST_CASE("one map removed by force leaves the others") { check_forced_removal(false); }

TEST_CASE("a reset forgets what was removed by force, and what comes late then is not told") {
  TrackerBench bench;
  const TileGrid grid = TrackerBench::ragged_grid();
  REQUIRE(bench.map(grid, 0, 1, 1) == Status::ok);
  bench.count(grid, 0, 0, 0, 1);
  REQUIRE(bench.remove(grid, 0, 1, true) == Status::ok);
  bench.count(grid, 0, 0, 1, 1);
  REQUIRE(bench.registers.take_report() == Status::aborted);
  bench.tracker.registers.reset();
  bench.count(grid, 0, 0, 2, 1);
  CHECK(bench.registers.reported.empty());
}

TEST_CASE("what comes late is told of the map that was removed by force, and of no other one of its output") {
  TrackerBench bench;
  const TileGrid grid = TrackerBench::ragged_grid();
  const auto reports_of_late = [&](std::uint32_t wg) {
    bench.registers.reported.clear();
    bench.count(grid, wg, 0, 0, 1);
    std::vector<Status> codes;
    for (const ErrorRecord& record : bench.registers.reported) codes.push_back(static_cast<Status>(record.code));
    return codes;
  };
  const std::vector<Status> none, aborted{Status::aborted};
  // Map 0 is busy when it is removed, map 1 has had nothing.
  REQUIRE(bench.map(grid, 0, 1, 1) == Status::ok);
  REQUIRE(bench.map(grid, 1, 1, 1) == Status::ok);
  bench.count(grid, 0, 0, 0, 1);
  bench.registers.set("command", 2 | 1 << 8);  // remove_all, by force
  CHECK(reports_of_late(0) == aborted);
  CHECK(reports_of_late(1) == none);
  CHECK(reports_of_late(0) == aborted);
  // The same tiles mapped again count again; a second forced removal is one more.
  REQUIRE(bench.map(grid, 0, 1, 1) == Status::ok);
  CHECK(reports_of_late(0) == none);
  CHECK(bench.registers["entries"] == 1);
  REQUIRE(bench.remove(grid, 0, 1, true) == Status::ok);
  CHECK(bench.registers["entries"] == 0);
  CHECK(reports_of_late(0) == aborted);
  // A complete map is not busy: nothing that comes later is late.
  REQUIRE(bench.map(grid, 0, 1, 1) == Status::ok);
  for (std::uint32_t wf = 0; wf < 4; ++wf) bench.count_tile(grid, 0, wf);
  REQUIRE(bench.remove(grid, 0, 1, true) == Status::ok);
  CHECK(reports_of_late(0) == none);
}

namespace {

/// One tile too much, another one's entry that goes to memory and comes back, and a map that is refused.
void drive(TrackerBench& bench) {
  const TileGrid grid = TrackerBench::ragged_grid();
  bench.registers.set("spill_base", 0x80000);
  bench.registers.set("spill_entries", 64);
  REQUIRE(bench.map(grid, 0, 1, 1) == Status::ok);
  bench.count_tile(grid, 0, 3);
  bench.count(grid, 0, 0, 0, 1);
  bench.count(grid, 0, 1, 0, 1);  // spills the first one's entry
  bench.count(grid, 0, 0, 1, 1);  // which comes back
  bench.count_tile(grid, 0, 3);   // too much
  REQUIRE(bench.map(grid, 0, 1, 1) == Status::overlap);
}

}  // namespace

TEST_CASE("after a reset every register of the Tracker is that of a new one, and its statistics are those of the run") {
  TrackerParameters parameters;
  parameters.sets = parameters.ways = 1;
  TrackerBench bench(parameters);
  const Values fresh = shown_by(bench.tracker, bench.registers);
  drive(bench);
  const Values driven = shown_by(bench.tracker, bench.registers);
  for (const char* name :
       {"statistic triggers", "statistic peak_entries", "statistic spills", "statistic reloads", "triggers 0",
        "peak_entries 0", "spills 0", "entries 0", "chunks 0", "status 0", "interrupt 0"}) {
    CAPTURE(name);
    CHECK(driven.at(name) != 0);
  }
  const Values expected = expected_after_reset(fresh, bench.tracker);
  bench.tracker.registers.reset();
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_NS));
  for (const auto& [name, value] : shown_by(bench.tracker, bench.registers)) {
    CAPTURE(name);
    CHECK(value == expected.at(name));
  }
  CHECK_FALSE(bench.interrupt.read());
  drive(bench);
  const Values again = shown_by(bench.tracker, bench.registers);
  for (const char* name : {"triggers", "spills"}) {
    CAPTURE(name);
    CHECK(again.at(std::string(name) + " 0") == driven.at(std::string(name) + " 0"));
    CHECK(again.at(std::string("statistic ") + name) == 2 * driven.at(std::string(name) + " 0"));
  }
  CHECK(again.at("statistic reloads") == 2 * driven.at("statistic reloads"));
  CHECK(again.at("statistic peak_entries") == driven.at("statistic peak_entries"));
  CHECK(again.at("peak_entries 0") == driven.at("peak_entries 0"));
}

}  // namespace t3vp::test::tracker_life_test
