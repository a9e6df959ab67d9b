#include <array>

#include "data_path/foreign_access.h"
#include "interconnect/one_port.h"
#include "interconnect/small_fabric.h"

namespace t3vp::test::fabric_port_test {

using namespace interconnect;

namespace {

constexpr Picoseconds us = 1'000'000;

}  // namespace

TEST_CASE("what addresses the next GPU reaches its memory as communication, one hop later") {
  SmallFabric fabric(4);
  const std::uint64_t address = address_map::on_gpu(1, 0x5000);
  for (DataInitiator* initiator : {&fabric[2].compute, &fabric[2].dma}) {
    DataAccess access = fabric.packet(address, 256, 9);
    access.data = std::vector<unsigned char>(256, 3);
    const std::size_t number = initiator->send(access);
    fabric.settle();
    REQUIRE(initiator->answer(number).ok());
    const DataTarget::Arrival& arrival = fabric[1].memory.arrivals().back();
    REQUIRE(arrival.address == address);
    REQUIRE(arrival.at == initiator->answer(number).taken_at + fabric.parameters.latency);
    REQUIRE(initiator->answer(number).at == arrival.at + fabric.parameters.latency);
    REQUIRE(arrival.data == access.data);
    REQUIRE(arrival.extension.stream == Stream::communication);
    REQUIRE(arrival.extension.producer.wg_id == 9);
  }
  REQUIRE(fabric[1].memory.arrivals().size() == 2);
  REQUIRE(fabric[0].memory.arrivals().empty());
  REQUIRE(fabric[2].registers.element("sent", 0) == 512);
  REQUIRE(fabric[1].registers.element("received", 0) == 512);
}

TEST_CASE("traffic keeps its class, whoever sends it") {
  SmallFabric fabric(2);
  DataAccess access = fabric.packet(address_map::on_gpu(0, 0), 64);
  for (const TrafficClass traffic : traffic_class_values)
    for (DataInitiator* initiator : {&fabric[1].compute, &fabric[1].dma}) {
      access.traffic = traffic;
      initiator->send(access);
      fabric.settle();
      REQUIRE(fabric[0].memory.arrivals().back().extension.traffic == traffic);
    }
}

TEST_CASE("what addresses a GPU further on goes over every link of the way and into no memory on it") {
  SmallFabric fabric(4);
  const std::uint64_t address = address_map::on_gpu(0, 0x80);
  const std::size_t number = fabric[3].compute.send(fabric.packet(address, 750));
  fabric.settle();
  const Picoseconds wire = 750 * 1000 / 75;
  REQUIRE(fabric[3].compute.answer(number).taken_at == wire);
  REQUIRE(fabric[0].memory.arrivals().size() == 1);
  const Picoseconds arrival = 3 * (wire + fabric.parameters.latency);
  REQUIRE(fabric[0].memory.arrivals()[0].at == arrival);
  REQUIRE(fabric[3].compute.answer(number).at == arrival + 3 * fabric.parameters.latency);
  REQUIRE(fabric[2].memory.arrivals().empty());
  REQUIRE(fabric[1].memory.arrivals().empty());
  for (const std::size_t g : {1u, 2u, 3u}) REQUIRE(fabric.links[g]->sent().payload_bytes == 750);
  REQUIRE(fabric.links[0]->sent().payload_bytes == 0);
}

TEST_CASE("data of no wavefront tile count as sent at every GPU of their way and as received at its end") {
  SmallFabric fabric(4);
  fabric[3].compute.send(fabric.packet(address_map::on_gpu(1, 0), 250, no_workgroup));
  fabric.settle();
  for (const auto& [gpu, sent, received] : {std::array{3, 250, 0}, {2, 250, 0}, {1, 0, 250}}) {
    CAPTURE(gpu);
    const auto total = [&, of = static_cast<std::size_t>(gpu)](const char* name) {
      return fabric[of].registers.element(name, 0) + fabric[of].registers.element(name, 1);
    };
    CHECK(total("sent") == static_cast<std::uint64_t>(sent));
    CHECK(total("received") == static_cast<std::uint64_t>(received));
  }
}

TEST_CASE("back-pressure reaches through every hop") {
  LinkParameters parameters;
  parameters.receive_buffer_bytes = 2048;
  SmallFabric fabric(3, parameters);
  fabric[0].memory.holds = true;
  for (int i = 0; i < 20; ++i) fabric[2].compute.send(fabric.packet(address_map::on_gpu(0, 0), 1024));
  fabric.settle();
  REQUIRE(fabric[0].memory.arrivals().size() == 2);
  // Two packets in the last buffer, two in the buffer of the hop between.
  REQUIRE(fabric[2].compute.untaken() == 16);
  fabric[0].memory.holds = false;
  fabric[0].memory.answer_all();
  fabric.settle();
  REQUIRE(fabric[2].compute.unanswered() == 0);
  REQUIRE(fabric[0].memory.arrivals().size() == 20);
}

TEST_CASE("what no link leads to is answered with an address error and reported, from every side") {
  SmallFabric fabric(4, {}, 3);
  for (const std::uint64_t gpu : {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{4}, std::uint64_t{500}}) {
    const DataAccess access = fabric.packet(address_map::on_gpu(gpu, 0), 64);
    for (DataInitiator* initiator : {&fabric[1].compute, &fabric[1].dma}) {
      const std::size_t number = initiator->send(access);
      fabric.settle();
      REQUIRE(initiator->answer(number).count == 1);
      REQUIRE(initiator->answer(number).status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
      REQUIRE(initiator->answer(number).refusal == static_cast<std::uint32_t>(Status::no_peer));
      REQUIRE(fabric[1].registers.take_report() == Status::no_peer);
    }
    REQUIRE(fabric[1].firmware.access(tlm::TLM_WRITE_COMMAND, access.address, {1}) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    REQUIRE(fabric[1].registers.take_report() == Status::no_peer);
  }
}

TEST_CASE("what is refused is answered when it arrives, not when it was sent") {
  SmallFabric fabric(2);
  constexpr Picoseconds delay = 5'000;
  DataAccess wait = fabric.packet(address_map::on_gpu(0, 0), 64);
  wait.operation = Operation::wait;
  for (const DataAccess& access : {fabric.packet(address_map::on_gpu(9, 0), 64), wait}) {
    const std::size_t number = fabric[1].compute.send(access, delay);
    fabric.settle();
    REQUIRE(fabric[1].compute.answer(number).at == fabric[1].compute.answer(number).arrival);
  }
}

TEST_CASE("links carry no waits and nobody's messages: they are answered with an error and reported") {
  SmallFabric fabric(2);
  const std::uint64_t address = address_map::on_gpu(0, 0x40);
  for (const Operation operation : {Operation::wait, Operation::request, Operation::answer}) {
    DataAccess access = fabric.packet(address, 64);
    access.operation = operation;
    const std::size_t number = fabric[1].compute.send(access);
    fabric.settle();
    REQUIRE(fabric[1].compute.answer(number).status ==
            (operation == Operation::wait ? tlm::TLM_COMMAND_ERROR_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE));
    REQUIRE(fabric[1].registers.take_report() == Status::invalid_argument);
  }
  BarePayload bare(tlm::TLM_WRITE_COMMAND, address, 64);
  const std::size_t number = fabric[1].compute.send(bare.payload());
  fabric.settle();
  REQUIRE(fabric[1].compute.answer(number).status == tlm::TLM_GENERIC_ERROR_RESPONSE);
  REQUIRE(fabric[1].registers.take_report() == Status::invalid_argument);

  REQUIRE(fabric[1].firmware.access(tlm::TLM_READ_COMMAND, address, {0}) == tlm::TLM_COMMAND_ERROR_RESPONSE);
  REQUIRE(fabric[1].registers.take_report() == Status::access_denied);
  REQUIRE(fabric[1].firmware.access(tlm::TLM_WRITE_COMMAND, address, std::vector<unsigned char>(65)) ==
          tlm::TLM_BURST_ERROR_RESPONSE);
  REQUIRE(fabric[1].registers.take_report() == Status::bad_access);
  REQUIRE(fabric[0].memory.arrivals().empty());
}

TEST_CASE("a foreign initiator's b_transport crosses the fabric") {
  SmallFabric fabric(2);
  DataExtension extension;
  extension.operation = Operation::store;
  extension.shape = {1, 64, 0};
  const ForeignAnswer answer =
      blocking_access(fabric[1].compute.socket, tlm::TLM_WRITE_COMMAND, address_map::on_gpu(0, 64),
                      std::vector<unsigned char>(64, 9), &extension);
  REQUIRE(answer.status == tlm::TLM_OK_RESPONSE);
  REQUIRE(fabric[0].memory.arrivals().at(0).data == std::vector<unsigned char>(64, 9));
}

TEST_CASE("a posted write of 64 bytes goes, whole") {
  SmallFabric fabric(2);
  std::vector<unsigned char> data(64);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<unsigned char>(i + 1);
  REQUIRE(fabric[1].firmware.access(tlm::TLM_WRITE_COMMAND, address_map::on_gpu(0, 0x40), data) ==
          tlm::TLM_OK_RESPONSE);
  fabric.settle();
  REQUIRE(fabric[0].memory.arrivals().at(0).data == data);
}

TEST_CASE("what a peer refuses comes back to the sender over every hop with its reason") {
  SmallFabric fabric(4);
  fabric[0].memory.serve = [](tlm::tlm_generic_payload&) { return tlm::TLM_GENERIC_ERROR_RESPONSE; };
  for (const std::size_t from : {1u, 3u})
    for (DataInitiator* initiator : {&fabric[from].compute, &fabric[from].dma}) {
      const std::size_t number = initiator->send(fabric.packet(address_map::on_gpu(0, 0), 64));
      fabric.settle();
      REQUIRE(initiator->answer(number).taken == 1);
      REQUIRE(initiator->answer(number).status == tlm::TLM_GENERIC_ERROR_RESPONSE);
    }
  for (std::size_t gpu = 0; gpu < 4; ++gpu) REQUIRE(fabric[gpu].registers.reported.empty());  // who sent it reports it
}

TEST_CASE("a posted write that a peer refuses is reported where it was sent and blocks nothing") {
  SmallFabric fabric(3);
  const std::uint64_t tracker = address_map::on_gpu(0, address_map::block_base(address_map::Block::tracker));
  REQUIRE(fabric[2].firmware.access(tlm::TLM_WRITE_COMMAND, tracker, {1, 2, 3, 4}) == tlm::TLM_OK_RESPONSE);
  REQUIRE(fabric.signal(2, 0, 7) == tlm::TLM_OK_RESPONSE);
  fabric.settle();
  REQUIRE(fabric[0].signal_registers.take_report() == Status::bad_address);
  REQUIRE(fabric[0].signal_registers.element("value", 7) == 1);
  REQUIRE(fabric[2].registers.reported.size() == 1);
  REQUIRE(fabric[2].registers.reported[0].address == tracker);
  CHECK_THAT(fabric[2].registers.reported[0].text,
             Catch::Contains("store of 4 bytes at 0xf0000090000: refused by GPU 0: nothing answers at the address"));
  REQUIRE(fabric[2].registers.take_report() == Status::bad_address);
}

TEST_CASE("a refusal of a posted write before a reset is not reported after it") {
  SmallFabric fabric(2);
  const std::uint64_t tracker = address_map::on_gpu(0, address_map::block_base(address_map::Block::tracker));
  REQUIRE(fabric[1].firmware.access(tlm::TLM_WRITE_COMMAND, tracker, {1, 2, 3, 4}) == tlm::TLM_OK_RESPONSE);
  fabric.run_for(us / 2);
  fabric[1].port.registers.reset();
  fabric.settle();
  REQUIRE(fabric[0].signal_registers.take_report() == Status::bad_address);  // it arrived
  REQUIRE(fabric[1].registers.reported.empty());
  REQUIRE(fabric[1].firmware.access(tlm::TLM_WRITE_COMMAND, tracker, {1, 2, 3, 4}) == tlm::TLM_OK_RESPONSE);
  fabric.settle();
  REQUIRE(fabric[1].registers.take_report() == Status::bad_address);
}

TEST_CASE("the diagnosis tells whose stores are not acknowledged and which signals wait for data") {
  LinkParameters parameters;
  parameters.receive_buffer_bytes = 2048;
  SmallFabric fabric(2, parameters);
  REQUIRE(fabric[1].port.diagnosis().empty());
  fabric[0].memory.holds = true;
  fabric[1].compute.send(fabric.packet(address_map::on_gpu(0, 0x40), 1024, 5));
  fabric[1].dma.send(fabric.packet(address_map::on_gpu(0, 0), 64));
  fabric.run_for(us / 10);
  REQUIRE(fabric.signal(1, 0, 3) == tlm::TLM_OK_RESPONSE);
  fabric.run_for(us / 10);
  for (int i = 0; i < 3; ++i) fabric[1].compute.send(fabric.packet(address_map::on_gpu(0, 0x40), 1024, 5));
  fabric.settle();
  const auto sender = fabric[1].port.diagnosis(), receiver = fabric[0].port.diagnosis();
  CAPTURE(sender, receiver);
  REQUIRE(sender.size() == 3);
  CHECK_THAT(sender[0], Catch::Contains("GPU 1 links: 4 stores of its compute units are not acknowledged, 3 of them "
                                        "wait for a link; one is the update of 1024 bytes at 0x40 of GPU 0's "
                                        "workgroup 5 wavefront 0"));
  CHECK_THAT(sender[1], Catch::Contains("1 stores of its DMA engine are not acknowledged, 0 of them"));
  CHECK_THAT(sender[2], Catch::Contains("1 stores of its firmware are not acknowledged, 0 of them"));
  REQUIRE(receiver.size() == 1);
  CHECK_THAT(receiver[0], Catch::Contains("GPU 0 links: a signal, the store of 8 bytes at 0xf0000031018, waits for 2 "
                                          "accesses that arrived before it"));
  fabric[0].memory.holds = false;
  fabric[0].memory.answer_all();
  fabric.settle();
  REQUIRE(fabric[1].port.diagnosis().empty());
  REQUIRE(fabric[0].port.diagnosis().empty());
}

TEST_CASE("a block asks over every hop whether a range is memory of one GPU") {
  SmallFabric fabric(4, {}, 3);
  constexpr std::uint64_t capacity = 0x1000;
  for (auto& gpu : fabric.gpus) gpu->memory.capacity = capacity;
  DataInitiatorSocket<DataInitiator>& socket = fabric[2].dma.socket;
  for (const std::uint64_t gpu : {0u, 1u}) {
    const std::uint64_t base = address_map::on_gpu(gpu, 0);
    CHECK(socket.holds(base, 1));
    CHECK(socket.holds(base, capacity));
    CHECK(socket.holds(base + capacity - 1, 1));
    CHECK_FALSE(socket.holds(base, 0));
    CHECK_FALSE(socket.holds(base, capacity + 1));
    CHECK_FALSE(socket.holds(base + capacity, 1));
    CHECK_FALSE(socket.holds(base + 1, ~std::uint64_t{0}));
    CHECK_FALSE(socket.holds(base, std::uint64_t{1} << address_map::gpu_shift | 1));  // its last byte is the next GPU's
    CHECK_FALSE(socket.holds(base + address_map::block_base(address_map::Block::signals), 8));
  }
  CHECK_FALSE(socket.holds(address_map::on_gpu(3, 0), 1));
  CHECK_FALSE(socket.holds(address_map::on_gpu(9, 0), 1));
}

TEST_CASE("the debug probe tells whether there is a way") {
  SmallFabric fabric(4, {}, 3);
  for (const std::uint64_t gpu : {0u, 2u, 3u, 9u}) {
    tlm::tlm_generic_payload probe;
    probe.set_command(tlm::TLM_IGNORE_COMMAND);
    probe.set_address(address_map::on_gpu(gpu, 0));
    fabric[1].dma.socket->transport_dbg(probe);
    REQUIRE(probe.is_response_ok() == (gpu == 0 || gpu == 2));
  }
}

TEST_CASE("the links' registers tell the topology, also after a reset, which clears the counts") {
  SmallFabric fabric(3);
  fabric[2].compute.send(fabric.packet(address_map::on_gpu(1, 0), 64));
  fabric.settle();
  for (int reset = 0; reset < 2; ++reset) {
    REQUIRE(fabric[2].registers["ports"] == 1);
    REQUIRE(fabric[2].registers.element("neighbour", 0) == 1);
    REQUIRE(fabric[2].registers.element("neighbour", 1) == 0xFFFFFFFF);
    REQUIRE(fabric[2].registers.element("sent", 0) == (reset == 0 ? 64 : 0));
    fabric[2].port.registers.reset();
  }
}

TEST_CASE("a fabric port serves blocking initiators of both its sides between others") {
  SmallFabric fabric(3);
  std::vector<DataAccess> accesses;
  for (const std::uint64_t gpu : {0u, 1u, 2u, 7u})  // two of them linked
    accesses.push_back(fabric.packet(address_map::on_gpu(gpu, 0x40), 64));
  for (DataInitiator* initiator : {&fabric[1].compute, &fabric[1].dma}) {
    const auto answers = blocking_accesses(initiator->socket, accesses, [&] {
      for (const DataAccess& access : accesses) initiator->send(access);
      fabric.signal(1, 0, 3);
    });
    for (std::size_t i = 0; i < answers.size(); ++i)
      REQUIRE(answers[i].status == (i % 4 % 2 == 0 ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE));
    REQUIRE(initiator->unanswered() == 0);
  }
  for (const std::size_t gpu : {0u, 2u}) REQUIRE(fabric[gpu].memory.arrivals().size() == 8);
  REQUIRE(fabric[0].signal_registers.element("value", 3) == 2);
}

TEST_CASE("what arrives at a fabric port may come from blocking initiators between others") {
  OnePort port(1);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  port.memory.latency = us;
  DataAccess signal = SmallFabric::packet(SmallFabric::add_register(0, 4), 8, no_workgroup);
  signal.operation = Operation::store;
  signal.data = {1, 0, 0, 0, 0, 0, 0, 0};
  const std::vector<DataAccess> accesses{SmallFabric::packet(0x40, 64), signal, SmallFabric::packet(0x80, 64), signal};
  const auto answers = blocking_accesses(port.links[0]->socket, accesses, [&] {
    for (const DataAccess& access : accesses) port.links[0]->send(access);
  });
  REQUIRE(all_ok(answers));
  for (const DataAnswer& answer : port.links[0]->answers()) REQUIRE(answer.ok());
  REQUIRE(port.memory.arrivals().size() == 8);
  REQUIRE(port.counters.element("value", 4) == 8);
}

}  // namespace t3vp::test::fabric_port_test
