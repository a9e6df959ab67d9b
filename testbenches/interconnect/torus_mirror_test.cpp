#include "interconnect/torus_mirror.h"

#include <catch2/catch.hpp>

#include "data_path/checked_sockets.h"
#include "data_path/foreign_access.h"
#include "data_path/target.h"
#include "protocol/transaction_pool.h"

namespace t3vp::test::torus_mirror_test {

using namespace interconnect;

namespace {

/// A torus of 4 x 3: ports lead to GPUs 3, 1, 8 and 4.
struct TorusBench {
  TorusMirror mirror{"mirror", {4, 3}, {3, 1, 8, 4}};
  std::vector<std::unique_ptr<DataInitiator>> links;
  std::vector<std::unique_ptr<DataTarget>> inputs;
  CheckedSockets checks;

  TorusBench() {
    for (std::size_t port = 0; port < 4; ++port) {
      links.push_back(std::make_unique<DataInitiator>(("link_" + std::to_string(port)).c_str()));
      inputs.push_back(std::make_unique<DataTarget>(("input_" + std::to_string(port)).c_str()));
      checks.join_test(links.back()->socket, *mirror.in[port]);
      checks.join(*mirror.out[port], inputs.back()->socket);
    }
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  static DataAccess store(std::uint32_t gpu, std::uint64_t local) {
    DataAccess access;
    access.operation = Operation::store;
    access.address = address_map::on_gpu(gpu, local);
    access.shape = {1, 64, 0};
    access.producer = {0, 0, 0};
    return access;
  }
  DataTarget::Arrival through(std::size_t port, const DataAccess& access) {
    links[port]->send(access);
    sc_core::sc_start();
    REQUIRE(links[port]->answers().back().ok());
    return inputs[port]->arrivals().back();
  }
};

/// GPU (column, row) of the torus.
std::uint32_t at(std::uint32_t column, std::uint32_t row) { return column % 4 + row % 3 * 4; }

}  // namespace

TEST_CASE("what a GPU of a torus sends to a neighbour comes back with numbers as they are seen from there") {
  TorusBench bench;
  const std::uint32_t columns[] = {3, 1, 0, 0}, rows[] = {0, 0, 2, 1};  // of the neighbours
  for (std::size_t port = 0; port < 4; ++port)
    for (std::uint32_t column = 0; column < 4; ++column)
      for (std::uint32_t row = 0; row < 3; ++row) {
        const DataTarget::Arrival arrival = bench.through(port, TorusBench::store(at(column, row), 0x1240));
        const std::uint32_t seen = at(column + 4 - columns[port], row + 3 - rows[port]);
        CHECK(arrival.address == address_map::on_gpu(seen, 0x1240));
        CHECK(arrival.extension.producer.gpu == at(4 - columns[port], 3 - rows[port]));
      }
}

TEST_CASE("a part of memory that is one GPU's becomes that of the GPU which sends it there") {
  TorusBench bench;
  bench.mirror.add({0x10000, 5 * 12 * 0x100, 12 * 0x100});
  // From GPU 0 into its own part on GPU 3, the third row: so has the one behind it, GPU 1, stored into its part there.
  CHECK(bench.through(0, TorusBench::store(3, 0x10000 + 2 * 0xC00 + 0x40)).address == 0x10000 + 2 * 0xC00 + 0x140);
  // Two links in the second dimension: once GPU 4's part, then GPU 8's.
  const std::uint64_t once = bench.through(2, TorusBench::store(4, 0x10000)).address;
  CHECK(once == address_map::on_gpu(8, 0x10000 + 4 * 0x100));
  CHECK(bench.through(2, TorusBench::store(8, address_map::local_of(once))).address == 0x10000 + 8 * 0x100);
  // Before it and behind it addresses are the same for all.
  CHECK(bench.through(0, TorusBench::store(3, 0xFFC0)).address == 0xFFC0);
  CHECK(bench.through(0, TorusBench::store(3, 0x10000 + 5 * 0xC00)).address == 0x10000 + 5 * 0xC00);
  // What lies there later is another buffer.
  bench.mirror.add({0x10400, 12 * 0x200, 12 * 0x200});
  CHECK(bench.through(0, TorusBench::store(3, 0x10000)).address == 0x10000);
  CHECK(bench.through(0, TorusBench::store(3, 0x10400)).address == 0x10600);
  bench.mirror.add({0x10400, 64, 4});
  CHECK(bench.through(0, TorusBench::store(3, 0x10400)).address == 0x10400);
}

TEST_CASE("a request through a mirrored torus is answered to the GPU that has asked as its owner sees it") {
  TorusBench bench;
  TransactionPool pool;
  Transaction& read = pool.make(Operation::load, address_map::on_gpu(1, 0x40), {1, 8, 0});
  Transaction& request = pool.make(Operation::request, read.get_address(), {1, 8, 0});
  request.extension().fabric.asked = &read;
  bench.links[1]->send(request);
  sc_core::sc_start();
  CHECK(bench.inputs[1]->arrivals().back().address == 0x40);
  CHECK(bench.inputs[1]->arrivals().back().extension.producer.gpu == 3);
  read.release();
}

TEST_CASE("a mirrored torus passes on what is taken and answered and what is asked for memory") {
  TorusBench bench;
  bench.inputs[1]->holds = true;
  const std::size_t number = bench.links[1]->send(TorusBench::store(1, 0x40));
  sc_core::sc_start();
  CHECK(bench.links[1]->untaken() == 1);
  bench.inputs[1]->take_all();
  CHECK(bench.links[1]->untaken() == 0);
  CHECK(bench.links[1]->unanswered() == 1);
  bench.inputs[1]->answer_all();
  CHECK(bench.links[1]->answer(number).ok());
  bench.inputs[1]->capacity = 0x1000;
  CHECK(bench.links[1]->socket.holds(address_map::on_gpu(1, 0), 0x1000));
  CHECK_FALSE(bench.links[1]->socket.holds(address_map::on_gpu(1, 0), 0x1001));
}

TEST_CASE("a mirrored torus serves blocking initiators between others") {
  TorusBench bench;
  const auto answers = blocking_accesses(bench.links[2]->socket, std::vector<DataAccess>(4, TorusBench::store(8, 0x40)),
                                         [&] { bench.links[2]->send(TorusBench::store(8, 0x80)); });
  CHECK(all_ok(answers));
  CHECK(bench.inputs[2]->arrivals().size() == 13);
}

}  // namespace t3vp::test::torus_mirror_test
