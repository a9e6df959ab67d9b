// How much the engine has in flight, to the byte.
#include "dma/dma_bench.h"

namespace t3vp::test::in_flight_test {

using namespace dma;

using Sent = DmaBench::Sent;

namespace {

/// Tiles of 8 rows of 32 fp16, 512 bytes each, that an engine with so much room reads before one is sent; then a tile
/// is taken at a time.
void require_tiles_in_flight(std::uint32_t room, std::size_t tiles) {
  DmaParameters parameters;
  parameters.bytes_in_flight = room;
  DmaBench bench(parameters);
  bench.link.holds = true;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 2) == Status::ok);
  for (std::uint32_t wf = 0; wf < 8; ++wf) bench.trigger(grid, wf / 4, wf % 4);
  for (std::size_t taken = 0; taken + tiles <= 8; ++taken) {
    bench.settle();
    CHECK(bench.memory.arrivals().size() == taken + tiles);
    bench.link.answer_one();
  }
}

/// Pieces of 4096 bytes of a fill that an engine with so much room stores before one is answered.
void require_pieces_in_flight(std::uint32_t room, std::size_t pieces) {
  DmaParameters parameters;
  parameters.bytes_in_flight = room;
  DmaBench bench(parameters);
  bench.memory.holds = true;
  REQUIRE(bench.fill(DmaBench::output, 8 * 4096) == Status::ok);
  for (std::size_t answered = 0; answered + pieces <= 8; ++answered) {
    bench.settle();
    CHECK(bench.memory.arrivals().size() == answered + pieces);
    bench.memory.answer_one();
  }
}

}  // namespace

TEST_CASE("three tiles are in flight when the engine can buffer exactly three") { require_tiles_in_flight(3 * 512, 3); }
TEST_CASE("two tiles are in flight when the engine can buffer a byte less than three") {
  require_tiles_in_flight(3 * 512 - 1, 2);
}
TEST_CASE("two pieces of a fill are in flight when the engine can buffer exactly two") {
  require_pieces_in_flight(2 * 4096, 2);
}
TEST_CASE("one piece of a fill is in flight when the engine can buffer a byte less than two") {
  require_pieces_in_flight(2 * 4096 - 1, 1);
}

}  // namespace t3vp::test::in_flight_test
