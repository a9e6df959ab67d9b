// Signals on their way through a fabric: whom they reach, and what they do not overtake.
#include "data_path/foreign_access.h"
#include "interconnect/one_port.h"
#include "interconnect/small_fabric.h"

namespace t3vp::test::fabric_signals_test {

using namespace interconnect;

namespace {

constexpr Picoseconds us = 1'000'000;

}  // namespace

TEST_CASE("a signal of firmware reaches the counter of the GPU it names, over hops") {
  SmallFabric fabric(4);
  REQUIRE(fabric.signal(3, 1, 20) == tlm::TLM_OK_RESPONSE);
  fabric.settle();
  REQUIRE(fabric[1].signal_registers.element("value", 20) == 1);
  REQUIRE(fabric[2].signal_registers.element("value", 20) == 0);
  REQUIRE(now() >= 2 * fabric.parameters.latency);
  REQUIRE(fabric[1].registers.element("received", 0) == 0);  // no tensor data
}

TEST_CASE("signals are on the wire but in no count of payload, at no GPU of their way") {
  SmallFabric fabric(4);
  REQUIRE(fabric.signal(3, 1, 20) == tlm::TLM_OK_RESPONSE);
  DataAccess of_workgroup = fabric.packet(fabric.add_register(1, 21), 8, no_workgroup);
  of_workgroup.operation = Operation::store;
  of_workgroup.traffic = TrafficClass::control;
  of_workgroup.data = {1, 0, 0, 0, 0, 0, 0, 0};
  fabric[3].compute.send(of_workgroup);
  fabric.settle();
  for (const std::uint64_t counter : {20u, 21u}) REQUIRE(fabric[1].signal_registers.element("value", counter) == 1);
  for (std::size_t gpu = 0; gpu < 4; ++gpu) {
    CAPTURE(gpu);
    REQUIRE(fabric[gpu].registers.element("sent", 0) == 0);
    REQUIRE(fabric[gpu].registers.element("received", 0) == 0);
    REQUIRE(fabric.links[gpu]->sent().payload_bytes == 0);
  }
  for (const std::size_t gpu : {2u, 3u})
    REQUIRE(fabric.links[gpu]->sent().wire_bytes == 2 * (8 + fabric.parameters.header_bytes));
}

TEST_CASE("a signal does not overtake the data that arrived before it") {
  SmallFabric fabric(2);
  fabric[0].memory.holds = true;
  fabric[1].compute.send(fabric.packet(address_map::on_gpu(0, 0), 64));
  fabric[1].compute.send(fabric.packet(address_map::on_gpu(0, 64), 64));
  fabric.run_for(us / 10);
  REQUIRE(fabric.signal(1, 0, 0) == tlm::TLM_OK_RESPONSE);
  fabric.run_for(us / 10);
  fabric[1].compute.send(fabric.packet(address_map::on_gpu(0, 128), 64));  // sent after the signal
  fabric.settle();
  REQUIRE(fabric[0].memory.arrivals().size() == 3);
  REQUIRE(fabric[0].signal_registers.element("value", 0) == 0);
  fabric[0].memory.answer_one();
  fabric.settle();
  REQUIRE(fabric[0].signal_registers.element("value", 0) == 0);
  fabric[0].memory.answer_one();  // the third packet does not matter
  fabric.settle();
  REQUIRE(fabric[0].signal_registers.element("value", 0) == 1);
}

TEST_CASE("a signal takes effect no sooner than the memory says that it has taken the data") {
  SmallFabric fabric(2);
  fabric[0].memory.latency = 40 * us;
  fabric[1].compute.send(fabric.packet(address_map::on_gpu(0, 0), 64));
  REQUIRE(fabric.signal(1, 0, 0) == tlm::TLM_OK_RESPONSE);
  fabric.run_for(40 * us);
  REQUIRE(fabric[0].signal_registers.element("value", 0) == 0);
  fabric.settle();
  REQUIRE(fabric[0].signal_registers.element("value", 0) == 1);
}

TEST_CASE("a ring kernel's signals say that a store of it before them was refused, no other kernel's do") {
  SmallFabric fabric(3);
  RingSignal kernel;
  kernel.properties = {{"signal_epoch", 0}};
  const auto send = [&](std::size_t from, DataAccess access) {
    kernel.sender = static_cast<std::uint16_t>(from);
    access.operation = Operation::store;
    access.data.resize(access.shape.bytes());
    access.ring = std::make_shared<RingSignal>(kernel);
    fabric[from].compute.send(access);
  };
  const auto store = [&](std::size_t from) { send(from, fabric.packet(address_map::on_gpu(0, 0), 64)); };
  const auto status = [&](std::size_t from) {
    DataAccess signal = fabric.packet(SmallFabric::add_register(0, 3), 8, no_workgroup);
    signal.data = {1, 0, 0, 0, 0, 0, 0, 0};
    send(from, signal);
    DataAccess wait;
    wait.operation = Operation::wait;
    wait.shape = {1, 8, 0};
    wait.address = signal.address - registers::Signals::add_offset;
    wait.threshold = fabric[0].signal_registers.element("value", 3) + 1;
    wait.ring = std::make_shared<RingSignal>(kernel);
    const std::size_t number = fabric[0].workgroup.send(wait);
    fabric.settle();
    REQUIRE(fabric[0].workgroup.answer(number).count == 1);
    return static_cast<Status>(fabric[0].workgroup.answer(number).refusal);
  };
  const auto refuse = [&](bool refuses) {
    fabric[0].memory.serve = [refuses](tlm::tlm_generic_payload&) {
      return refuses ? tlm::TLM_GENERIC_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE;
    };
  };
  store(1);
  CHECK(status(1) == Status::ok);
  // The refusal comes before the signal, or while it waits behind the store.
  for (const Picoseconds latency : {Picoseconds{0}, 40 * us}) {
    INFO("memory latency " << latency);
    fabric[0].memory.latency = latency;
    refuse(true);
    store(1);
    CHECK(status(1) == Status::peer_failed);
    CHECK(fabric[0].workgroup.answers().back().why.find("the unit that should do this is switched off") !=
          std::string::npos);
    refuse(false);
    store(1);
    CHECK(status(1) == Status::peer_failed);  // of the same kernel
    CHECK(status(2) == Status::ok);           // of another GPU's
    ++kernel.properties[0].value;
    store(1);
    CHECK(status(1) == Status::ok);  // of the next one
  }
  // The next kernel's store is refused before its first signal comes; and a reset forgets it.
  refuse(true);
  store(1);
  fabric.settle();
  ++kernel.properties[0].value;
  store(1);
  CHECK(status(1) == Status::peer_failed);
  fabric[0].port.registers.reset();
  CHECK(status(1) == Status::ok);
}

TEST_CASE("a signal waits for the data of its own link only") {
  OnePort port(2);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);

  port.memory.holds = true;
  DataAccess signal = SmallFabric::packet(SmallFabric::add_register(0, 4), 8, no_workgroup);
  signal.operation = Operation::store;
  signal.data = {1, 0, 0, 0, 0, 0, 0, 0};
  port.links[0]->send(SmallFabric::packet(0x40, 64));
  port.links[0]->send(signal);
  port.links[1]->send(signal);
  SmallFabric::settle();
  REQUIRE(port.counters.element("value", 4) == 1);
  REQUIRE(port.links[1]->unanswered() == 0);
  port.memory.answer_one();
  SmallFabric::settle();
  REQUIRE(port.counters.element("value", 4) == 2);
}

}  // namespace t3vp::test::fabric_signals_test
