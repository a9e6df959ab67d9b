// A reset at any moment: what was sent arrives, and nothing else of before is ever seen again.
#include "data_path/register_values.h"
#include "dma/dma_bench.h"

namespace t3vp::test::reset_test {

using namespace dma;

using Sent = DmaBench::Sent;

namespace {

/// Resets, and requires that the engine is as after its construction, now and when everything has come to rest.
void require_nothing_after_reset(DmaBench& bench, std::size_t reads, std::size_t packets) {
  bench.engine.registers.reset();
  const auto require_new = [&] {
    REQUIRE_FALSE(bench.busy());
    for (const char* name : {"used", "pending", "blocks", "bytes", "interrupt", "status"}) {
      CAPTURE(name);
      REQUIRE(bench.registers[name] == 0);
    }
    REQUIRE(bench.engine.diagnosis().empty());
  };
  require_new();
  bench.memory.holds = bench.link.holds = false;
  bench.memory.answer_all();
  bench.link.answer_all();
  bench.settle();
  require_new();
  REQUIRE_FALSE(bench.interrupt.read());
  REQUIRE(bench.memory.arrivals().size() == reads);
  REQUIRE(bench.link.arrivals().size() == packets);
  REQUIRE(bench.registers.reported.empty());
}

void trigger_all(DmaBench& bench, const TileGrid& grid) {
  for (std::uint32_t wf = 0; wf < 4; ++wf) bench.trigger(grid, 0, wf);
}

DmaParameters room_for_two() {
  DmaParameters parameters;
  parameters.bytes_in_flight = 1100;  // tiles of 512
  return parameters;
}

void begin(DmaBench& bench) {
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 1) == Status::ok);
  trigger_all(bench, grid);
}

/// The next job is not disturbed by answers that are still to come.
void require_works(DmaBench& bench) {
  const TileGrid grid = DmaBench::ragged_grid();
  const std::size_t before = bench.link.arrivals().size();
  REQUIRE(bench.map(Sent::update, grid, 0, 1) == Status::ok);
  trigger_all(bench, grid);
  bench.settle();
  REQUIRE(bench.link.arrivals().size() == before + 4);
  REQUIRE(bench.registers["pending"] == 0);
  REQUIRE(bench.registers["bytes"] == 4 * 512);
  REQUIRE(bench.interrupt.read());
}

}  // namespace

TEST_CASE("a reset forgets triggers that have not been looked at") {
  DmaBench bench(room_for_two());
  begin(bench);
  require_nothing_after_reset(bench, 0, 0);
  require_works(bench);
}

TEST_CASE("a reset forgets reads that are on their way, and tiles that wait for room") {
  DmaBench bench(room_for_two());
  bench.memory.holds = true;
  begin(bench);
  bench.settle();
  require_nothing_after_reset(bench, 2, 0);
  require_works(bench);
}

TEST_CASE("a reset forgets tiles that wait for the link, and those that it has just taken") {
  DmaBench bench(room_for_two());
  bench.link.holds = true;
  begin(bench);
  bench.settle();
  bench.link.take_all();
  require_nothing_after_reset(bench, 2, 2);
  require_works(bench);
}

TEST_CASE("a reset forgets tiles that are not acknowledged") {
  DmaBench bench(room_for_two());
  bench.link.holds = true;
  begin(bench);
  bench.settle();
  bench.link.take_all();
  bench.settle();
  require_nothing_after_reset(bench, 4, 4);
  require_works(bench);
}

TEST_CASE("a reset forgets a fill") {
  DmaBench bench(room_for_two());
  bench.memory.holds = true;
  REQUIRE(bench.fill(DmaBench::output, 1 << 20) == Status::ok);
  bench.settle();
  require_nothing_after_reset(bench, 1, 0);
  require_works(bench);
}

TEST_CASE("answers to what was before a reset do not count for the same tiles after it") {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  bench.link.holds = true;
  REQUIRE(bench.map(Sent::update, grid, 0, 1) == Status::ok);
  trigger_all(bench, grid);
  bench.settle();
  bench.engine.registers.reset();
  REQUIRE(bench.map(Sent::update, grid, 0, 1) == Status::ok);
  trigger_all(bench, grid);
  bench.settle();
  REQUIRE(bench.link.arrivals().size() == 8);
  for (int i = 0; i < 4; ++i) bench.link.answer_one();  // of before
  bench.settle();
  REQUIRE(bench.registers["pending"] == 1);
  REQUIRE(bench.registers["bytes"] == 0);
  REQUIRE_FALSE(bench.interrupt.read());
  bench.link.answer_all();
  bench.settle();
  REQUIRE(bench.registers["pending"] == 0);
  REQUIRE(bench.registers["bytes"] == 4 * 512);
}

TEST_CASE("refusals of what was sent before a reset are not reported after it") {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  bench.link.serve = [](tlm::tlm_generic_payload&) { return tlm::TLM_ADDRESS_ERROR_RESPONSE; };
  bench.link.holds = true;
  REQUIRE(bench.map(Sent::update, grid, 0, 1) == Status::ok);
  trigger_all(bench, grid);
  bench.settle();
  require_nothing_after_reset(bench, 4, 4);
}

TEST_CASE(
    "after a reset every register of the DMA engine is that of a new one, and its statistics are those of the run") {
  DmaBench bench;
  const Values fresh = shown_by(bench.engine, bench.registers);
  begin(bench);
  bench.settle();
  REQUIRE(bench.fill(DmaBench::output + (1 << 20), 64) == Status::ok);
  REQUIRE(bench.map(Sent::update, DmaBench::ragged_grid(), 0, 1) == Status::overlap);
  bench.registers.set("queue_entries", 16, 1);
  bench.settle();
  const Values driven = shown_by(bench.engine, bench.registers);
  for (const char* name : {"statistic blocks", "statistic bytes", "blocks 0", "bytes 0", "used 0", "status 0",
                           "interrupt 0", "queue_entries 1", "output_base 0"}) {
    CAPTURE(name);
    CHECK(driven.at(name) != fresh.at(name));
  }
  CHECK(driven.at("statistic blocks") == driven.at("blocks 0"));
  CHECK(driven.at("statistic bytes") == driven.at("bytes 0"));
  const Values expected = expected_after_reset(fresh, bench.engine);
  bench.engine.registers.reset();
  bench.settle();
  CHECK(shown_by(bench.engine, bench.registers) == expected);
  CHECK_FALSE(bench.interrupt.read());
  begin(bench);
  bench.settle();
  const Values again = shown_by(bench.engine, bench.registers);
  for (const char* name : {"blocks", "bytes"}) {
    CAPTURE(name);
    CHECK(again.at(std::string(name) + " 0") == driven.at(std::string(name) + " 0"));
    CHECK(again.at(std::string("statistic ") + name) == 2 * driven.at(std::string(name) + " 0"));
  }
}

}  // namespace t3vp::test::reset_test
