// dma_map's errors as the DMA engine's registers give them.
#include "data_path/foreign_access.h"
#include "dma/dma_bench.h"

namespace t3vp::test::commands_test {

using namespace dma;

using Sent = DmaBench::Sent;

namespace {

void check_refused(DmaBench& bench, Status code, Sent operation = Sent::update) {
  const std::uint64_t used = bench.registers["used"];
  REQUIRE(bench.add(operation) == code);
  REQUIRE(bench.registers.take_report() == code);
  REQUIRE(bench.registers["used"] == used);
}

}  // namespace

TEST_CASE("the DMA engine refuses commands that are out of range or not aligned") {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  const auto refused = [&](const char* name, std::uint64_t value, Status code = Status::invalid_argument) {
    bench.stage(grid, 0, 1);
    bench.registers.set(name, value);
    CAPTURE(name, value);
    check_refused(bench, code);
  };
  refused("rows", 0);
  refused("columns", 0);
  refused("tile_rows", 0);
  refused("tile_columns", 0);
  refused("layout", 0);
  refused("layout", 9);
  refused("row_stride", 160);
  refused("row_stride", 200, Status::unaligned);
  refused("workgroups", 0);
  refused("workgroups", grid.workgroups() + 1);
  refused("first_workgroup", grid.workgroups());
  refused("block_tiles", 0);
  refused("block_tiles", 3);
  refused("block_tiles", 8);
  refused("output_base", DmaBench::output + 16, Status::unaligned);
  refused("output_base", address_map::on_gpu(peer_gpu, 0), Status::bad_address);
  refused("output_base", address_map::on_gpu(bench_gpu, address_map::registers_base), Status::bad_address);
  refused("destination_base", DmaBench::peer_output + 16, Status::unaligned);
  bench.stage(grid, 0, 1);
  check_refused(bench, Status::invalid_argument, Sent::none);
  REQUIRE(bench.add(Sent::update) == Status::ok);
}

TEST_CASE("the DMA engine refuses a destination that is no other GPU it can reach, except for notify") {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  for (const std::uint16_t gpu : {bench_gpu, lost_gpu}) {
    bench.stage(grid, 0, 1, DmaBench::output, address_map::on_gpu(gpu, 0));
    check_refused(bench, Status::no_peer, Sent::update);
    check_refused(bench, Status::no_peer, Sent::store);
  }
  REQUIRE(bench.add(Sent::notify) == Status::ok);
}

TEST_CASE("the DMA engine refuses a destination that is not all memory") {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  for (const std::uint64_t local : {address_map::registers_base, address_map::hbm_limit - 32}) {
    bench.stage(grid, 0, 1, DmaBench::output, address_map::on_gpu(peer_gpu, local));
    check_refused(bench, Status::bad_address);
  }
}

TEST_CASE("the DMA engine refuses what is beyond the memory that there is, here and at the peer, in any arithmetic") {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  const std::uint64_t here = address_map::local_of(DmaBench::output) + grid.bytes();
  const std::uint64_t there = address_map::local_of(DmaBench::peer_output) + grid.bytes();
  bench.stage(grid, 0, 1);
  bench.memory.capacity = here - 1;
  check_refused(bench, Status::bad_address);
  bench.memory.capacity = here;
  bench.link.capacity = there - 1;
  check_refused(bench, Status::bad_address);
  bench.link.capacity = there;
  REQUIRE(bench.add(Sent::update) == Status::ok);
  const auto refused = [&](const char* name, std::uint64_t value, Status code) {
    bench.stage(grid, 1, 1);
    bench.registers.set(name, value);
    CAPTURE(name);
    check_refused(bench, code);
  };
  refused("row_stride", std::uint64_t{1} << 58, Status::bad_address);
  refused("row_stride", ~std::uint64_t{31}, Status::bad_address);
  refused("rows", 0xFFFFFFFF, Status::bad_address);
  refused("output_base", ~std::uint64_t{31}, Status::bad_address);
  refused("destination_base", ~std::uint64_t{31}, Status::bad_address);
  REQUIRE(bench.fill(DmaBench::output, grid.bytes() + 32) == Status::bad_address);
  REQUIRE(bench.registers.take_report() == Status::bad_address);
  REQUIRE(bench.fill(DmaBench::output, grid.bytes()) == Status::ok);
}

TEST_CASE("the DMA engine refuses an output of more tiles than there are numbers") {
  DmaBench bench;
  TileGrid grid = DmaBench::ragged_grid(1);
  grid.rows = grid.columns = 1 << 18;
  grid.tile_rows = grid.tile_columns = 1;
  grid.row_stride = std::uint64_t{grid.columns} * 2;
  bench.stage(grid, 0, 1);
  check_refused(bench, Status::invalid_argument);
}

TEST_CASE("the DMA engine refuses chunks that overlap, and takes neighbours and other outputs") {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 4, 4) == Status::ok);
  for (const auto& [first, count] : {std::pair{4u, 4u}, {0u, 5u}, {7u, 1u}, {0u, 12u}}) {
    bench.stage(grid, first, count);
    check_refused(bench, Status::overlap);
    check_refused(bench, Status::overlap, Sent::notify);
  }
  REQUIRE(bench.map(Sent::update, grid, 0, 4) == Status::ok);
  REQUIRE(bench.map(Sent::notify, grid, 8, 4) == Status::ok);
  REQUIRE(bench.map(Sent::update, grid, 0, 12, DmaBench::output + 0x40000) == Status::ok);
}

TEST_CASE("a further destination is of a command that sends, new, at another GPU and before the first tile") {
  constexpr std::uint64_t second = address_map::on_gpu(0, 0x40000), third = address_map::on_gpu(4, 0x40000);
  DmaParameters parameters;
  parameters.commands = 3;
  DmaBench bench(parameters);
  const TileGrid grid = DmaBench::ragged_grid();
  const auto refused = [&](std::uint64_t destination, Status code) {
    CHECK(bench.add_destination(destination) == code);
    CHECK(bench.registers.take_report() == code);
  };
  bench.stage(grid, 0, 4);
  refused(second, Status::invalid_argument);  // no command
  REQUIRE(bench.map(Sent::notify, grid, 4, 4) == Status::ok);
  refused(second, Status::invalid_argument);  // one that sends nothing
  REQUIRE(bench.map(Sent::store, grid, 0, 4) == Status::ok);
  refused(DmaBench::peer_output, Status::overlap);
  refused(second + 16, Status::unaligned);
  refused(address_map::on_gpu(bench_gpu, 0), Status::no_peer);
  refused(address_map::on_gpu(lost_gpu, 0), Status::no_peer);
  CHECK(bench.add_destination(second) == Status::ok);
  refused(third, Status::table_full);
  bench.registers.set("command", 2);  // remove_all
  REQUIRE(bench.map(Sent::store, grid, 0, 4) == Status::ok);
  bench.trigger(grid, 0, 0);
  refused(second, Status::busy);
}

TEST_CASE("a further destination has no bytes in common with another one of the command") {
  constexpr std::uint64_t second = address_map::on_gpu(0, 0x40000);
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();  // rows of 180 bytes, 192 apart; 3 tiles of 32 x 32 in each 32 rows
  REQUIRE(bench.map(Sent::store, grid, 0, 1) == Status::ok);
  REQUIRE(bench.add_destination(second) == Status::ok);
  for (const std::uint64_t offset : {32u, 192u, 31 * 192u, 31 * 192 + 32u}) {
    CHECK(bench.add_destination(second + offset) == Status::overlap);
    CHECK_THAT(bench.registers.reported.back().text,
               Catch::Contains("overlap the same at 0x40000, where they are sent already: no common bytes expected"));
    CHECK(bench.registers.take_report() == Status::overlap);
    CHECK(bench.add_destination(second - offset) == Status::overlap);
    CHECK(bench.registers.take_report() == Status::overlap);
  }
  CHECK(bench.add_destination(second + 64) == Status::ok);        // beside the tile, in the same rows
  CHECK(bench.add_destination(second + 32 * 192) == Status::ok);  // below it
}

TEST_CASE("a further destination has the layout of its map") {
  constexpr std::uint64_t second = address_map::on_gpu(0, 0x40000);
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::store, grid, 0, 4) == Status::ok);
  const auto refused = [&](void (*change)(TileGrid & other), const std::string& text) {
    TileGrid other = grid;
    change(other);
    bench.stage(other, 0, 4);
    CHECK(bench.add_destination(second) == Status::invalid_argument);
    CHECK_THAT(bench.registers.reported.back().text,
               Catch::Contains("a further destination for workgroups 0 to 3 of") && Catch::Contains("with " + text));
    CHECK(bench.registers.take_report() == Status::invalid_argument);
  };
  refused([](TileGrid& g) { g.wavefronts = 2; }, "2 wavefronts per workgroup: the map's 4 expected");
  refused([](TileGrid& g) { g.tile_rows = 64; }, "tiles of 64 x 32: the map's 32 x 32 expected");
  refused([](TileGrid& g) { g.rows = 99; }, "an output of 99 x 90 fp16, 192 bytes from row to row: the map's 100 x 90");
  refused([](TileGrid& g) { g.row_stride = 224; }, "an output of 100 x 90 fp16, 224 bytes from row to row");
  bench.stage(grid, 0, 4);
  CHECK(bench.add_destination(second) == Status::ok);
}

TEST_CASE("a full table of commands refuses the next, and can be emptied") {
  DmaParameters parameters;
  parameters.commands = 2;
  DmaBench bench(parameters);
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.registers["capacity"] == 2);
  REQUIRE(bench.map(Sent::update, grid, 0, 1) == Status::ok);
  REQUIRE(bench.map(Sent::update, grid, 1, 1) == Status::ok);
  bench.stage(grid, 2, 1);
  check_refused(bench, Status::table_full);
  bench.registers.set("command", 2);  // remove_all
  REQUIRE(bench.registers.command_status() == Status::ok);
  REQUIRE(bench.registers["used"] == 0);
  REQUIRE(bench.map(Sent::update, grid, 2, 1) == Status::ok);
}

TEST_CASE("a trigger that no command covers is answered with an error and reported") {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::update, grid, 0, 4) == Status::ok);
  REQUIRE(bench.trigger(grid, 4, 0) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  REQUIRE(bench.registers.take_report() == Status::mismatch);
  REQUIRE(bench.trigger(grid, 0, 0, DmaBench::output + grid.bytes()) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  REQUIRE(bench.registers.take_report() == Status::mismatch);
}

TEST_CASE("a trigger of a wavefront that the command's tiles do not have is answered with an error and reported") {
  DmaBench bench;
  const TileGrid one_wavefront = DmaBench::ragged_grid(1), eight = DmaBench::ragged_grid(8);
  REQUIRE(bench.map(Sent::update, one_wavefront, 0, 12) == Status::ok);
  for (std::uint32_t wf = 1; wf < 8; ++wf) {
    REQUIRE(bench.trigger(eight, 0, wf) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    REQUIRE(bench.registers.take_report() == Status::mismatch);
  }
  bench.settle();
  REQUIRE(bench.memory.arrivals().empty());
}

TEST_CASE("a trigger whose tile is not the command's is a failed transfer that says how they differ") {
  DmaBench bench;
  const auto transfer = [&] { return static_cast<Status>(bench.registers["status"] >> 16 & 0xFF); };
  const TileGrid grid = DmaBench::ragged_grid();
  const auto refused = [&](const TileGrid& mapped, const char* text) {
    INFO(text);
    REQUIRE(bench.map(Sent::update, mapped, 0, 6) == Status::ok);
    REQUIRE(bench.trigger(grid, 1, 1) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    bench.settle();
    REQUIRE(bench.memory.arrivals().empty());
    REQUIRE(transfer() == Status::mismatch);
    REQUIRE((bench.registers["interrupt"] & 4) != 0);
    REQUIRE(bench.registers.reported.size() == 1);
    CHECK_THAT(bench.registers.reported[0].text, Catch::Contains(text));
    REQUIRE(bench.registers.take_report() == Status::mismatch);
    bench.registers.set("interrupt", 4);
    bench.registers.set("command", 2);  // nothing has begun: the table can be emptied
    REQUIRE(transfer() == Status::ok);
  };
  TileGrid other = grid;
  other.tile_rows = 16;
  refused(other, "8 rows of 64 bytes of fp16, 192 apart");
  other = grid;
  other.tile_columns = 16;
  refused(other, "has 8 rows of 32 bytes");
  other = grid;
  other.row_stride = 224;
  refused(other, "224 apart");
  other = grid;
  other.element = ElementType::bf16;
  refused(other, "64 bytes of bf16");
  other = grid;
  other.wavefronts = 1;
  refused(other, "has 1 wavefronts");
  other = grid;
  other.wavefronts = 2;
  refused(other, "has 16 rows of 64 bytes");
}

TEST_CASE("the DMA engine's trigger socket serves blocking initiators between others and refuses what is no trigger") {
  DmaBench bench;
  const TileGrid grid = DmaBench::ragged_grid();
  REQUIRE(bench.map(Sent::notify, grid, 0, 2) == Status::ok);
  std::vector<DataAccess> triggers;
  for (const std::uint32_t wg : {0u, 1u, 5u})  // the last is not mapped
    for (std::uint32_t wf = 0; wf < 4; ++wf) triggers.push_back(DmaBench::trigger_of(grid, wg, wf));
  const auto answers = blocking_accesses(bench.tracker.socket, triggers,
                                         [&] { REQUIRE(bench.trigger(grid, 0, 1) == tlm::TLM_OK_RESPONSE); });
  for (std::size_t i = 0; i < answers.size(); ++i)
    REQUIRE(answers[i].status == (i % 12 < 8 ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE));
  bench.registers.reported.clear();

  BarePayload bare(tlm::TLM_WRITE_COMMAND, DmaBench::output, 0);
  const std::size_t without = bench.tracker.send(bare.payload());
  REQUIRE(bench.tracker.answer(without).status == tlm::TLM_GENERIC_ERROR_RESPONSE);
  REQUIRE(bench.registers.take_report() == Status::invalid_argument);
  for (const Operation operation : {Operation::load, Operation::update, Operation::wait}) {
    DataAccess other = triggers[0];
    other.operation = operation;
    const std::size_t number = bench.tracker.send(other);
    REQUIRE(bench.tracker.answer(number).status == tlm::TLM_COMMAND_ERROR_RESPONSE);
    REQUIRE(bench.registers.take_report() == Status::invalid_argument);
  }
}

}  // namespace t3vp::test::commands_test
