#include "interconnect/chunk_mirror.h"

#include <catch2/catch.hpp>

#include "data_path/checked_sockets.h"
#include "data_path/foreign_access.h"
#include "data_path/target.h"

namespace t3vp::test::chunk_mirror_test {

using namespace interconnect;

namespace {

struct Errors : ErrorReport {
  std::vector<ErrorRecord> entries;
  void report(const char*, const ErrorRecord& record) override { entries.push_back(record); }
};

struct MirrorBench {
  static constexpr std::uint64_t output = 0x40000;
  TileGrid grid;
  ChunkMirror mirror;
  DataInitiator link{"link"};
  DataTarget fabric{"fabric"};
  Errors errors;
  CheckedSockets checks;

  MirrorBench(const TileGrid& g, std::uint32_t gpus) : grid(g), mirror("mirror", g, gpus, 0) {
    checks.join_test(link.socket, mirror.in);
    checks.join(mirror.out, fabric.socket);
    mirror.errors.bind(errors);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  /// Everything this GPU may send comes back as the same part of the tile one chunk further.
  void check_relabelled(std::uint32_t gpus) {
    const std::uint32_t chunk = grid.workgroups() / gpus;
    for (std::uint32_t wg = 0; wg < grid.workgroups(); ++wg)
      for (std::uint32_t wf = 0; wf < grid.wavefronts; ++wf) {
        const Rectangle part = grid.wavefront_tile(wg, wf);
        DataAccess access;
        access.operation = Operation::update;
        access.address = address_map::on_gpu(3, output + grid.offset(part));
        access.shape = grid.shape(part);
        access.producer = {wg, static_cast<std::uint8_t>(wf), 0};
        access.traffic = TrafficClass::rs_write;
        link.send(access);
        sc_core::sc_start();
        const DataTarget::Arrival& arrival = fabric.arrivals().back();
        const std::uint32_t next = (wg + chunk) % grid.workgroups();
        // From rows and columns of tiles, not by the grid's own arithmetic.
        const std::uint32_t across = grid.columns / grid.tile_columns, rows_each = grid.tile_rows / grid.wavefronts;
        const std::uint64_t row = std::uint64_t{next} / across * grid.tile_rows + wf * rows_each;
        const std::uint64_t column = std::uint64_t{next} % across * grid.tile_columns;
        REQUIRE(arrival.extension.producer.wg_id == next);
        REQUIRE(arrival.extension.producer.wf_id == wf);
        REQUIRE(arrival.address == address_map::on_gpu(0, output + row * grid.row_stride + column * 2));
        REQUIRE(arrival.extension.shape.bytes() == access.shape.bytes());
        REQUIRE(link.answers().back().ok());
      }
  }
};

TileGrid grid_of(std::uint32_t rows, std::uint32_t columns) {
  TileGrid grid;
  grid.rows = rows;
  grid.columns = columns;
  grid.tile_rows = grid.tile_columns = 32;
  grid.wavefronts = 4;
  grid.row_stride = 2 * columns + 64;
  return grid;
}

}  // namespace

TEST_CASE("the mirror sends back the next chunk when chunks are whole rows of tiles") {
  MirrorBench bench(grid_of(256, 128), 4);  // 8 x 4 tiles: two rows each
  bench.check_relabelled(4);
}

TEST_CASE("the mirror sends back the next chunk when chunks are half rows of tiles") {
  MirrorBench bench(grid_of(64, 256), 4);  // 2 x 8 tiles: half a row each
  bench.check_relabelled(4);
}

TEST_CASE("the mirror gives what belongs to no tile its own GPU and nothing else") {
  MirrorBench bench(grid_of(64, 256), 4);
  DataAccess access;
  access.operation = Operation::store;
  access.address = address_map::on_gpu(3, address_map::block_base(address_map::Block::signals) + 0x1008);
  access.shape = {1, 8, 0};
  access.data = {1, 2, 3, 4, 5, 6, 7, 8};
  bench.link.send(access);
  sc_core::sc_start();
  REQUIRE(bench.fabric.arrivals().at(0).address == address_map::local_of(access.address));
  REQUIRE(bench.fabric.arrivals()[0].data == access.data);
  REQUIRE(bench.fabric.arrivals()[0].extension.producer.wg_id == no_workgroup);
}

TEST_CASE("the mirror keeps the link's back-pressure") {
  MirrorBench bench(grid_of(64, 256), 4);
  bench.fabric.holds = true;
  DataAccess access;
  access.operation = Operation::update;
  access.address = address_map::on_gpu(3, MirrorBench::output);
  access.shape = {1, 64, 0};
  access.producer = {0, 0, 0};
  bench.link.send(access);
  sc_core::sc_start();
  REQUIRE(bench.link.unanswered() == 1);
  bench.fabric.answer_one();
  sc_core::sc_start();
  REQUIRE(bench.link.unanswered() == 0);
}

TEST_CASE("the mirror passes on what is taken and what is asked for memory") {
  MirrorBench bench(grid_of(64, 256), 4);
  bench.fabric.holds = true;
  DataAccess access;
  access.operation = Operation::update;
  access.address = address_map::on_gpu(3, MirrorBench::output);
  access.shape = {1, 64, 0};
  access.producer = {0, 0, 0};
  const std::size_t number = bench.link.send(access);
  sc_core::sc_start();
  REQUIRE(bench.link.untaken() == 1);
  bench.fabric.take_all();
  REQUIRE(bench.link.untaken() == 0);
  bench.fabric.answer_all();
  REQUIRE(bench.link.answer(number).ok());
  bench.fabric.capacity = 0x1000;
  REQUIRE(bench.link.socket.holds(address_map::on_gpu(3, 0), 0x1000));
  REQUIRE_FALSE(bench.link.socket.holds(address_map::on_gpu(3, 0), 0x1001));
}

TEST_CASE("the mirror serves blocking initiators between others") {
  MirrorBench bench(grid_of(64, 256), 4);
  DataAccess access;
  access.operation = Operation::update;
  access.address = address_map::on_gpu(3, MirrorBench::output);
  access.shape = {1, 64, 0};
  access.producer = {0, 0, 0};
  const auto answers =
      blocking_accesses(bench.link.socket, std::vector<DataAccess>(4, access), [&] { bench.link.send(access); });
  REQUIRE(all_ok(answers));
  REQUIRE(bench.fabric.arrivals().size() == 13);
  REQUIRE(bench.link.answers()[0].ok());
}

TEST_CASE("one GPU that stands for all has nobody to read from: loads and fetch-and-adds are refused with a report") {
  MirrorBench bench(grid_of(64, 64), 2);
  TransactionPool pool;
  for (const Operation operation : {Operation::load, Operation::fetch_add}) {
    Transaction& read = pool.make(operation, address_map::on_gpu(1, 0x40), {1, 8, 0});
    Transaction& request = pool.make(Operation::request, read.get_address(), {1, 8, 0});
    request.extension().fabric.asked = &read;
    const std::size_t number = bench.link.send(request);
    sc_core::sc_start();
    CHECK(bench.link.answer(number).status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    CHECK(bench.errors.entries.back().code == static_cast<std::uint32_t>(Status::no_peer));
    CHECK(bench.errors.entries.back().address == read.get_address());
    CHECK(bench.errors.entries.back().text ==
          std::string(name_of(operation)) +
              " of 8 bytes at 0x100000000040: one GPU stands for all (simulate mirror), so that there is no memory of "
              "others to read: a run that simulates all GPUs expected");
    read.release();
  }
  CHECK(bench.fabric.arrivals().empty());
}

}  // namespace t3vp::test::chunk_mirror_test
