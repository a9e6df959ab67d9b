// How far one command of the table is, and the signal that its end adds to.
#include "dma/dma_bench.h"

namespace t3vp::test::chunk_progress_test {

using namespace dma;

namespace {

struct ChunkBench {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();

  void look(std::uint32_t first, std::uint32_t count) {
    bench.stage(grid, first, count);
    bench.registers.set("command", 6);
  }
  std::pair<std::uint64_t, std::uint64_t> progress() {
    return {bench.registers["chunk_done"], bench.registers["chunk_tiles"]};
  }
};

using Progress = std::pair<std::uint64_t, std::uint64_t>;

}  // namespace

TEST_CASE("a look reads how many tiles of one command are done, whatever others do") {
  ChunkBench chunk;
  DmaBench& bench = chunk.bench;
  REQUIRE(bench.map(DmaBench::Sent::notify, chunk.grid, 0, 1) == Status::ok);
  REQUIRE(bench.map(DmaBench::Sent::update, chunk.grid, 1, 2) == Status::ok);
  bench.trigger(chunk.grid, 0, 2);
  bench.trigger(chunk.grid, 1, 0);
  DmaBench::settle();
  chunk.look(0, 1);
  REQUIRE(chunk.progress() == Progress{1, 4});
  chunk.look(1, 2);
  REQUIRE(chunk.progress() == Progress{1, 8});
  for (const std::uint32_t wavefront : {0u, 1u, 3u}) bench.trigger(chunk.grid, 0, wavefront);
  DmaBench::settle();
  chunk.look(0, 1);
  REQUIRE(chunk.progress() == Progress{4, 4});
}

TEST_CASE("a look at what is not mapped finds no tiles, is reported and leaves the status") {
  ChunkBench chunk;
  DmaBench& bench = chunk.bench;
  REQUIRE(bench.map(DmaBench::Sent::notify, chunk.grid, 0, 2) == Status::ok);
  chunk.look(0, 1);
  REQUIRE(chunk.progress() == Progress{0, 0});
  REQUIRE(bench.registers.take_report() == Status::invalid_argument);
  REQUIRE(bench.registers.command_status() == Status::ok);
}

TEST_CASE("a signal that is no counter for chunks is refused") {
  ChunkBench chunk;
  DmaBench& bench = chunk.bench;
  for (const std::uint64_t signal : {0ull, 512ull}) {
    bench.registers.set("signal", signal);
    REQUIRE(bench.map(DmaBench::Sent::notify, chunk.grid, 0, 1) == Status::invalid_argument);
    REQUIRE(bench.registers.take_report() == Status::invalid_argument);
  }
  bench.registers.set("signal", 511);
  REQUIRE(bench.map(DmaBench::Sent::notify, chunk.grid, 0, 1) == Status::ok);
}

TEST_CASE("a command adds 1 to its signal when it is complete, and one without a signal adds nothing") {
  ChunkBench chunk;
  DmaBench& bench = chunk.bench;
  bench.registers.set("signal", 7);
  REQUIRE(bench.map(DmaBench::Sent::notify, chunk.grid, 0, 1) == Status::ok);
  bench.registers.set("signal", 0xFFFFFFFF);
  REQUIRE(bench.map(DmaBench::Sent::notify, chunk.grid, 1, 1) == Status::ok);
  for (std::uint32_t wavefront = 0; wavefront < 4; ++wavefront) {
    REQUIRE(bench.counters.counted.empty());
    bench.trigger(chunk.grid, 0, wavefront);
    bench.trigger(chunk.grid, 1, wavefront);
    DmaBench::settle();
  }
  REQUIRE(bench.counters.counted == std::vector<std::uint32_t>{7});
}

}  // namespace t3vp::test::chunk_progress_test
