// Doorbells of the DMA engine, and its waits for the end of what it has posted.
#include "nic/nic_bench.h"

namespace t3vp::test::engine_test {

using namespace nic;

namespace {

/// A queue pair of its own for each test's part, with a key that permits one write after the other.
struct Engine {
  NicBench bench;
  std::uint32_t remote;

  Engine() : remote(bench.b.region(Side::data, 64)) { bench.connect(3); }

  std::uint64_t finished_of(std::uint32_t queue) const {
    using Registers = registers::Nic;
    return bench.a.base + address_map::block_base(address_map::Block::nic) + Registers::finished_offset +
           Registers::finished_stride * queue;
  }
  void post(std::uint32_t queue = 3, bool good = true) {
    bench.a.post_inline(bench.b.base + Side::data, good ? remote : remote + 1, {1}, queue, false);
  }
  std::size_t ring(std::uint32_t count, std::uint32_t queue = 3) {
    t3_put_number(&bench.a.bytes[Side::record_of(queue)], 4, count);
    DataAccess store;
    store.operation = Operation::store;
    store.address = bench.a.doorbell_of(queue);
    store.shape = {1, 4, 0};
    store.data.resize(4);
    t3_put_number(store.data.data(), 4, count);
    return bench.a.engine.send(store);
  }
  std::size_t wait(std::uint32_t finished, std::uint32_t queue = 3) {
    DataAccess wait;
    wait.operation = Operation::wait;
    wait.address = finished_of(queue);
    wait.shape = {1, 4, 0};
    wait.threshold = finished;
    return bench.a.engine.send(wait);
  }
  const DataAnswer& answer(std::size_t number) const { return bench.a.engine.answer(number); }
  Status refusal_of(std::size_t number) const { return static_cast<Status>(answer(number).refusal); }
};

}  // namespace

TEST_CASE("the DMA engine rings as firmware does, and its waits end one I O latency behind their entries") {
  Engine engine;
  engine.post();
  engine.post();
  const std::size_t bell = engine.ring(2), first = engine.wait(1), second = engine.wait(2);
  engine.bench.settle();
  REQUIRE(engine.answer(bell).ok());
  REQUIRE(engine.answer(first).ok());
  REQUIRE(engine.answer(second).ok());
  REQUIRE(engine.answer(first).at < engine.answer(second).at);
  // An acknowledgement is sent when the peer's memory has answered over its I/O link.
  const Picoseconds io = engine.bench.parameters.io_latency, stored = engine.bench.b.memory.arrivals()[0].at;
  const Picoseconds acknowledged = stored + engine.bench.b.memory.latency + io +
                                   transfer_time(30, engine.bench.wire_parameters.GBps) +
                                   engine.bench.wire_parameters.latency;
  REQUIRE(engine.answer(first).at == acknowledged + io);
  const Picoseconds asked = now();
  const std::size_t late = engine.wait(2);
  engine.bench.settle();
  REQUIRE(engine.answer(late).ok());
  REQUIRE(engine.answer(late).at == asked + 2 * io);
}

TEST_CASE("waits for entries behind a failed one end with its reason, those before it well") {
  Engine engine;
  engine.post();
  engine.post(3, false);
  engine.post();
  engine.ring(3);
  const std::size_t good = engine.wait(1), bad = engine.wait(2), flushed = engine.wait(3);
  engine.bench.settle();
  REQUIRE(engine.answer(good).ok());
  for (const std::size_t number : {bad, flushed}) {
    REQUIRE(engine.answer(number).status == tlm::TLM_COMMAND_ERROR_RESPONSE);
    REQUIRE(engine.refusal_of(number) == Status::access_denied);
  }
  const std::size_t again = engine.wait(1), later = engine.wait(3);
  engine.bench.settle();
  REQUIRE(engine.answer(again).ok());
  REQUIRE(engine.refusal_of(later) == Status::access_denied);
}

TEST_CASE("a queue pair that is not ready to send ends waits at once, and a doorbell for it is refused by name") {
  Engine engine;
  const std::size_t bell = engine.ring(1, 4), wait = engine.wait(1, 4);
  engine.bench.settle();
  REQUIRE(engine.answer(bell).status == tlm::TLM_COMMAND_ERROR_RESPONSE);
  REQUIRE(engine.bench.a.has_reported("nic.doorbell[4]: 0x1, queue pair in ready_to_send expected, it is in reset"));
  REQUIRE(engine.answer(wait).status == tlm::TLM_COMMAND_ERROR_RESPONSE);
  REQUIRE(engine.refusal_of(wait) == Status::aborted);
}

TEST_CASE("resets of the queue pair or of the NIC end waits") {
  Engine engine;
  engine.bench.connect(5);
  engine.bench.wire.drops = [](const Packet&) { return true; };
  engine.post();
  engine.post(5);
  engine.ring(1);
  engine.ring(1, 5);
  const std::size_t first = engine.wait(1), second = engine.wait(1, 5);
  engine.bench.run_for(5'000'000);
  REQUIRE(engine.bench.a.engine.unanswered() == 2);
  engine.bench.a.go_to(reset_state, 3);
  engine.bench.run_for(1'000'000);
  REQUIRE(engine.answer(first).count == 1);
  REQUIRE_FALSE(engine.answer(first).ok());
  engine.bench.a.nic.registers.reset();
  engine.bench.settle();
  REQUIRE(engine.answer(second).count == 1);
  REQUIRE_FALSE(engine.answer(second).ok());
}

TEST_CASE("whatever else the DMA engine sends to the NIC is refused and told, and its doorbells can be asked for") {
  Engine engine;
  DataAccess access;
  access.operation = Operation::wait;
  access.address = engine.finished_of(64);
  access.shape = {1, 4, 0};
  const std::size_t beyond = engine.bench.a.engine.send(access);
  access.address = engine.finished_of(3) + 4;
  const std::size_t beside = engine.bench.a.engine.send(access);
  access.operation = Operation::load;
  access.address = engine.finished_of(3);
  const std::size_t load = engine.bench.a.engine.send(access);
  engine.bench.settle();
  for (const std::size_t number : {beyond, beside, load})
    REQUIRE(engine.answer(number).status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  REQUIRE(engine.bench.a.has_reported("the DMA engine may only wait for nic.finished[i]"));
  REQUIRE(engine.bench.a.has_reported("the DMA engine may only store the 4 bytes"));
  REQUIRE(engine.bench.a.engine.socket.reaches(engine.bench.a.doorbell_of(0)));
  REQUIRE(engine.bench.a.engine.socket.reaches(engine.bench.a.doorbell_of(63)));
  REQUIRE_FALSE(engine.bench.a.engine.socket.reaches(engine.bench.a.doorbell_of(64)));
}

}  // namespace t3vp::test::engine_test
