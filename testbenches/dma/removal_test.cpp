// Commands that are removed, one by one or all, idle, busy or by force; triggers that come twice.
#include "dma/dma_bench.h"

namespace t3vp::test::removal_test {

using namespace dma;

using Sent = DmaBench::Sent;

namespace {

Status remove(DmaBench& bench, const TileGrid& grid, std::uint32_t first, std::uint32_t count, bool force = false) {
  bench.stage(grid, first, count);
  bench.registers.set("command", 4u | (force ? 1u : 0u) << 8);
  return bench.registers.command_status();
}

Status transfer_status(DmaBench& bench) { return static_cast<Status>(bench.registers["status"] >> 16 & 0xFF); }

void trigger_all(DmaBench& bench, const TileGrid& grid, std::uint32_t wg) {
  for (std::uint32_t wf = 0; wf < grid.wavefronts; ++wf) bench.trigger(grid, wg, wf);
}

}  // namespace

TEST_CASE("a command is busy from its first trigger until its last tile is acknowledged and others are not") {
  DmaBench bench;
  bench.link.holds = true;
  const TileGrid grid = DmaBench::ragged_grid();
  for (std::uint32_t wg = 0; wg < 3; ++wg) REQUIRE(bench.map(Sent::update, grid, wg, 1) == Status::ok);
  trigger_all(bench, grid, 1);
  REQUIRE(remove(bench, grid, 1, 1) == Status::busy);
  REQUIRE(bench.registers.take_report() == Status::busy);
  REQUIRE(remove(bench, grid, 0, 1) == Status::ok);
  REQUIRE(remove(bench, grid, 0, 1) == Status::invalid_argument);
  REQUIRE(bench.registers.take_report() == Status::invalid_argument);
  bench.settle();
  bench.registers.set("command", 2);  // remove_all
  REQUIRE(bench.registers.command_status() == Status::busy);
  REQUIRE(bench.registers.take_report() == Status::busy);
  REQUIRE(bench.registers["used"] == 2);
  bench.link.answer_all();
  bench.settle();
  REQUIRE(remove(bench, grid, 1, 1) == Status::ok);
  // The last command has kept its place and its name.
  trigger_all(bench, grid, 2);
  bench.settle();
  bench.link.answer_all();
  bench.settle();
  REQUIRE(bench.registers["pending"] == 0);
  REQUIRE(bench.link.arrivals().back().extension.producer.wg_id == 2);
}

TEST_CASE("what a command removed by force had under way goes on and counts for nobody") {
  DmaBench bench;
  bench.link.holds = true;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 1) == Status::ok);
  REQUIRE(bench.map(Sent::update, grid, 1, 1) == Status::ok);
  trigger_all(bench, grid, 0);
  bench.settle();  // with the link
  trigger_all(bench, grid, 1);
  bench.run_for(1000);  // triggered, being read
  REQUIRE(remove(bench, grid, 0, 1, true) == Status::ok);
  REQUIRE(bench.map(Sent::update, grid, 0, 1) == Status::ok);
  bench.settle();
  bench.link.answer_all();
  bench.settle();
  bench.link.answer_all();
  bench.settle();
  REQUIRE(bench.registers["pending"] == 1);  // the new command of workgroup 0
  REQUIRE_FALSE(bench.busy());
  trigger_all(bench, grid, 0);
  bench.settle();
  bench.link.answer_all();
  bench.settle();
  REQUIRE(bench.registers["pending"] == 0);
  REQUIRE(bench.registers.reported.empty());
}

TEST_CASE("reads of a command removed by force are not sent") {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 1) == Status::ok);
  trigger_all(bench, grid, 0);
  bench.run_for(1000);
  REQUIRE(remove(bench, grid, 0, 1, true) == Status::ok);
  bench.settle();
  REQUIRE(bench.link.arrivals().empty());
  REQUIRE_FALSE(bench.busy());
}

TEST_CASE("a tile that is triggered twice is told and sent once, however often it comes") {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 1, DmaBench::output, DmaBench::peer_output, 2) == Status::ok);
  for (int time = 0; time < 300; ++time) bench.trigger(grid, 0, 0);
  bench.settle();
  REQUIRE(bench.registers.reported.size() == 299);
  REQUIRE(static_cast<Status>(bench.registers.reported.back().code) == Status::excess);
  REQUIRE(transfer_status(bench) == Status::excess);
  REQUIRE(bench.link.arrivals().empty());
  REQUIRE((bench.registers["interrupt"] & 4) != 0);
  bench.trigger(grid, 0, 1);
  bench.settle();
  REQUIRE(bench.link.arrivals().size() == 2);
  REQUIRE(remove(bench, grid, 0, 1, true) == Status::ok);
  REQUIRE(transfer_status(bench) == Status::ok);
}

TEST_CASE("notify of a tile that comes twice does not stand for another tile") {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::notify, grid, 0, 1) == Status::ok);
  for (const std::uint32_t wf : {0u, 1u, 1u, 2u}) bench.trigger(grid, 0, wf);
  bench.settle();
  REQUIRE(bench.registers["pending"] == 1);
  REQUIRE(transfer_status(bench) == Status::excess);
  bench.trigger(grid, 0, 3);
  bench.settle();
  REQUIRE(bench.registers["pending"] == 0);
}

}  // namespace t3vp::test::removal_test
