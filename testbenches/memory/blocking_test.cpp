// Initiators of other people's on the memory controller's ports, and what its look-ahead lets others see.
#include "data_path/foreign_access.h"
#include "memory/memory_bench.h"

namespace t3vp::test::blocking_test {

using namespace memory;

TEST_CASE("every port of the memory controller serves blocking initiators between others") {
  MemoryBench bench;
  std::uint64_t place = 0;
  for (DataInitiator* port : {&bench.cache, &bench.bypass, &bench.peers, &bench.dma}) {
    std::vector<DataAccess> accesses;
    for (unsigned i = 0; i < 6; ++i) {
      DataAccess store;
      store.operation = Operation::store;
      store.address = local(place += 4096);
      store.shape = {4, 64, 1024};
      store.data.assign(256, static_cast<unsigned char>(place / 4096));
      DataAccess load = store;
      load.operation = Operation::load;
      accesses.push_back(store);
      accesses.push_back(load);
    }
    const auto answers = blocking_accesses(port->socket, accesses, [&] {
      for (DataAccess access : accesses) {
        access.address += 32 << 20;
        for (DataInitiator* other : {port, &bench.cache}) bench.send(*other, access);
      }
    });
    REQUIRE(all_ok(answers));
    for (std::size_t i = 1; i < answers.size(); i += 2) REQUIRE(answers[i].data == accesses[i % 12].data);
    REQUIRE(port->unanswered() == 0);
  }
  for (DataInitiator* port : {&bench.cache, &bench.bypass, &bench.peers, &bench.dma})
    for (const DataAnswer& answer : port->answers()) REQUIRE(answer.ok());
}

TEST_CASE("others see a store at most one slice before it arrives and always when it is answered") {
  MemoryBench bench;
  const Picoseconds slice = bench.controller.lookahead();
  bool ahead = false;
  for (const Picoseconds later : {Picoseconds{0}, slice / 3, slice / 2, slice - 1, 5 * slice}) {
    DataAccess store;
    store.operation = Operation::store;
    store.address = local(later / 1000 * 4096);
    store.shape = {1, 32, 0};
    store.data.assign(32, 1);
    const std::size_t number = bench.send(bench.cache, store, later);
    const DataAnswer& answer = bench.cache.answer(number);
    const auto visible = [&] {
      unsigned char byte = 0;
      tlm::tlm_generic_payload probe;
      probe.set_read();
      probe.set_address(store.address);
      probe.set_data_ptr(&byte);
      probe.set_data_length(1);
      probe.set_streaming_width(1);
      REQUIRE(bench.plain.socket->transport_dbg(probe) == 1);
      return byte == 1;
    };
    while (!visible()) {
      REQUIRE(answer.count == 0);
      MemoryBench::run_for(1000);
    }
    CAPTURE(later, now(), answer.arrival);
    REQUIRE(now() + slice >= answer.arrival);
    ahead = ahead || now() < answer.arrival;
    bench.settle();
    REQUIRE(answer.at >= answer.arrival);
  }
  REQUIRE(ahead);  // what docs/models/protocol.md warns of does happen
}

}  // namespace t3vp::test::blocking_test
