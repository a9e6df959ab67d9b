#include "dma/dma_bench.h"

namespace t3vp::test::interrupt_test {

using namespace dma;

using Sent = DmaBench::Sent;

namespace {

constexpr std::uint64_t complete = 1, filled = 2;

}  // namespace

TEST_CASE("notify completes with its last tile and transfers nothing") {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::notify, grid, 9, 3) == Status::ok);  // the last row of tiles: one wavefront tile each
  REQUIRE(bench.registers["pending"] == 1);
  bench.trigger(grid, 9, 0);
  bench.trigger(grid, 11, 0);
  bench.settle();
  REQUIRE_FALSE(bench.interrupt.read());
  REQUIRE(bench.registers["pending"] == 1);
  bench.trigger(grid, 10, 0);
  bench.settle();
  REQUIRE(bench.interrupt.read());
  REQUIRE(bench.registers["interrupt"] == complete);
  REQUIRE(bench.registers["pending"] == 0);
  REQUIRE(bench.memory.arrivals().empty());
  REQUIRE(bench.link.arrivals().empty());
}

TEST_CASE("a command completes when the peer has acknowledged its last tile, not when the link has taken it") {
  DmaBench bench;
  bench.link.holds = true;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 1) == Status::ok);
  for (std::uint32_t wf = 0; wf < 4; ++wf) bench.trigger(grid, 0, wf);
  bench.settle();
  bench.link.take_all();
  for (int i = 0; i < 4; ++i) {
    bench.settle();
    REQUIRE(bench.busy());
    REQUIRE_FALSE(bench.interrupt.read());
    REQUIRE(bench.registers["pending"] == 1);
    bench.link.answer_one();
  }
  bench.settle();
  REQUIRE(bench.interrupt.read());
  REQUIRE(bench.registers["pending"] == 0);
}

TEST_CASE("interrupt bits are cleared by writing ones, each by itself, and the line follows") {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::notify, grid, 9, 1) == Status::ok);
  REQUIRE(bench.fill(DmaBench::output, 64) == Status::ok);
  bench.trigger(grid, 9, 0);
  bench.settle();
  REQUIRE(bench.registers["interrupt"] == (complete | filled));
  bench.registers.set("interrupt", 0);
  bench.settle();
  REQUIRE(bench.registers["interrupt"] == (complete | filled));
  bench.registers.set("interrupt", filled);
  bench.settle();
  REQUIRE(bench.registers["interrupt"] == complete);
  REQUIRE(bench.interrupt.read());
  bench.registers.set("interrupt", complete);
  bench.settle();
  REQUIRE(bench.registers["interrupt"] == 0);
  REQUIRE_FALSE(bench.interrupt.read());
}

TEST_CASE("a reset lowers the line and empties the table and the statistics") {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 9, 1) == Status::ok);
  bench.trigger(grid, 9, 0);
  bench.settle();
  REQUIRE(bench.interrupt.read());
  bench.engine.registers.reset();
  bench.settle();
  REQUIRE_FALSE(bench.interrupt.read());
  REQUIRE(bench.registers["used"] == 0);
  REQUIRE(bench.registers["blocks"] == 0);
  REQUIRE(bench.registers["bytes"] == 0);
  REQUIRE(bench.registers["capacity"] == bench.parameters.commands);
}

}  // namespace t3vp::test::interrupt_test
