// Loads and fetch-and-adds of other GPUs' memory over links: requests and answers.
#include <map>

#include "interconnect/link_packet.h"
#include "interconnect/small_fabric.h"
#include "registers/status.h"

namespace t3vp::test::remote_read_test {

using namespace interconnect;

namespace {

constexpr Picoseconds memory_time = 90'000;

/// Memories with data, and reads of them.
struct ReadingFabric : SmallFabric {
  std::vector<std::map<std::uint64_t, unsigned char>> bytes;

  explicit ReadingFabric(std::uint32_t count, const LinkParameters& p = {}) : SmallFabric(count, p), bytes(count) {
    for (std::uint32_t g = 0; g < count; ++g) {
      gpus[g]->memory.latency = memory_time;
      gpus[g]->memory.serve = [this, g](tlm::tlm_generic_payload& access) {
        const std::uint64_t address = address_map::local_of(access.get_address());
        unsigned char* const data = access.get_data_ptr();
        for (unsigned i = 0; data != nullptr && i < access.get_data_length(); ++i)
          access.is_read() ? data[i] = bytes[g][address + i] : bytes[g][address + i] = data[i];
        return tlm::TLM_OK_RESPONSE;
      };
    }
  }

  static DataAccess load(std::uint64_t address, std::uint32_t size) {
    DataAccess access = packet(address, size);
    access.operation = Operation::load;
    access.producer = {};
    access.traffic = TrafficClass::gemm_read;
    return access;
  }
  static DataAccess store(std::uint64_t address, std::vector<unsigned char> data) {
    DataAccess access = packet(address, static_cast<std::uint32_t>(data.size()));
    access.operation = Operation::store;
    access.data = std::move(data);
    return access;
  }
  Picoseconds wire_time(std::uint64_t size) const { return transfer_time(size, parameters.bandwidth_GBps); }
};

}  // namespace

TEST_CASE("a load of a peer's memory brings its data in the time there and back and that of the data") {
  LinkParameters parameters;
  parameters.header_bytes = 32;
  ReadingFabric fabric(3, parameters);
  for (int i = 0; i < 100; ++i) fabric.bytes[0][0x1000 + static_cast<unsigned>(i)] = static_cast<unsigned char>(i + 7);
  const std::size_t number = fabric[2].compute.send(fabric.load(address_map::on_gpu(0, 0x1000), 100));
  fabric.settle();
  const DataAnswer& answer = fabric[2].compute.answer(number);
  REQUIRE(answer.ok());
  for (std::size_t i = 0; i < 100; ++i) REQUIRE(answer.data[i] == i + 7);
  // Two links there, one back, each of which takes the whole train before the next.
  CHECK(answer.at == 3 * fabric.parameters.latency + 2 * fabric.wire_time(32) + memory_time + fabric.wire_time(132));
  CHECK(fabric[0].memory.arrivals().at(0).extension.stream == Stream::communication);
  CHECK(fabric[0].memory.arrivals().at(0).extension.traffic == TrafficClass::gemm_read);
  CHECK(fabric.links[2]->sent().payload_bytes == 0);
  CHECK(fabric.links[2]->sent().wire_bytes == 32);
  CHECK(fabric.links[0]->sent().payload_bytes == 100);
  CHECK(fabric.links[0]->sent().wire_bytes == 132);
  CHECK(fabric[0].registers.element("sent", 0) == 100);
  CHECK(fabric[2].registers.element("received", 0) == 100);
}

TEST_CASE("requests and answers are trains of a header for each run of consecutive bytes") {
  LinkParameters parameters;
  parameters.header_bytes = 8;
  parameters.max_payload_bytes = 64;
  ReadingFabric fabric(2, parameters);
  DataAccess load = fabric.load(address_map::on_gpu(0, 0), 0);
  load.shape = {3, 100, 4096};
  fabric[1].compute.send(load);
  fabric.settle();
  CHECK(fabric.links[1]->sent().packets == 6);
  CHECK(fabric.links[1]->sent().wire_bytes == 6 * 8);
  CHECK(fabric.links[0]->sent().packets == 6);
  CHECK(fabric.links[0]->sent().wire_bytes == 300 + 6 * 8);
}

TEST_CASE("a load follows the stores before it and precedes those behind it") {
  ReadingFabric fabric(3);
  const std::uint64_t address = address_map::on_gpu(0, 0x40);
  std::vector<std::size_t> loads;
  for (unsigned char value = 1; value < 50; ++value) {
    fabric[2].compute.send(fabric.store(address, std::vector<unsigned char>(1u + value * 50u, value)));
    loads.push_back(fabric[2].compute.send(fabric.load(address, 1)));
  }
  fabric.settle();
  for (std::size_t i = 0; i < loads.size(); ++i) {
    REQUIRE(fabric[2].compute.answer(loads[i]).ok());
    CHECK(fabric[2].compute.answer(loads[i]).data == std::vector<unsigned char>{static_cast<unsigned char>(i + 1)});
  }
}

TEST_CASE("a signal does not overtake a load before it") {
  ReadingFabric fabric(2);
  fabric[0].memory.holds = true;
  const std::size_t load = fabric[1].compute.send(fabric.load(address_map::on_gpu(0, 0), 64));
  fabric.signal(1, 0, 3);
  fabric.settle();
  REQUIRE(fabric[0].signals.registers.value[3].value() == 0);
  fabric[0].memory.answer_all();
  fabric.settle();
  CHECK(fabric[0].signals.registers.value[3].value() == 1);
  CHECK(fabric[1].compute.answer(load).ok());
}

TEST_CASE("requests take their place in the receive buffer until their answers have left") {
  LinkParameters parameters;
  parameters.receive_buffer_bytes = 3 * request_bytes;
  ReadingFabric fabric(2, parameters);
  fabric[0].memory.holds = true;
  for (int i = 0; i < 10; ++i) fabric[1].compute.send(fabric.load(address_map::on_gpu(0, 0), 64));
  fabric.settle();
  REQUIRE(fabric[0].memory.arrivals().size() == 3);
  const std::vector<std::string> lines = fabric[1].port.diagnosis();
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] ==
        "GPU 1 links: 10 loads and fetch-and-adds of its compute units wait for other GPUs' answers; one is "
        "the load of 64 bytes at 0x0");
  fabric[0].memory.answer_one();
  fabric.settle();
  REQUIRE(fabric[0].memory.arrivals().size() == 4);
  fabric[0].memory.holds = false;
  fabric[0].memory.answer_all();
  fabric.settle();
  REQUIRE(fabric[1].compute.unanswered() == 0);
  CHECK(fabric[1].port.diagnosis().empty());
  CHECK(fabric[0].port.diagnosis().empty());
}

TEST_CASE("a request keeps its place while its answer waits for a link") {
  LinkParameters parameters;
  parameters.receive_buffer_bytes = 3 * request_bytes;
  ReadingFabric fabric(2, parameters);
  fabric[0].compute.send(fabric.packet(address_map::on_gpu(1, 0), 750'000));  // 10 us
  for (int i = 0; i < 10; ++i) fabric[1].compute.send(fabric.load(address_map::on_gpu(0, 0), 64));
  fabric.run_for(8'000'000);
  CHECK(fabric[0].memory.arrivals().size() == 3);
  const std::vector<std::string> lines = fabric[0].port.diagnosis();
  REQUIRE(lines.size() == 2);
  CHECK(lines[1] ==
        "GPU 0 links: 3 answers to other GPUs wait for a link; one is the answer to the load of 64 bytes at "
        "0x0");
  fabric.settle();
  CHECK(fabric[1].compute.unanswered() == 0);
}

TEST_CASE("answers wait for no requests and requests of both directions wait for no circle") {
  LinkParameters parameters;
  parameters.receive_buffer_bytes = 1;
  parameters.bandwidth_GBps = 1;
  ReadingFabric fabric(2, parameters);
  for (int i = 0; i < 50; ++i)
    for (std::uint16_t g = 0; g < 2; ++g) fabric[g].compute.send(fabric.load(address_map::on_gpu(1 - g, 0), 1000));
  fabric.settle();
  CHECK(fabric[0].compute.unanswered() + fabric[1].compute.unanswered() == 0);
}

TEST_CASE("what a peer's memory refuses of a read is the read's answer and says so") {
  ReadingFabric fabric(2);
  fabric[0].memory.serve = [](tlm::tlm_generic_payload&) { return tlm::TLM_ADDRESS_ERROR_RESPONSE; };
  const std::size_t number = fabric[1].compute.send(fabric.load(address_map::on_gpu(0, 0), 64));
  fabric.settle();
  CHECK(fabric[1].compute.answer(number).status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  CHECK(static_cast<Status>(fabric[1].compute.answer(number).refusal) == Status::bad_address);
  CHECK(fabric.links[0]->sent().packets == 0);
}

TEST_CASE("registers of a peer and GPUs that there are not are refused where the read begins") {
  ReadingFabric fabric(2);
  for (const Operation operation : {Operation::load, Operation::fetch_add}) {
    DataAccess access = fabric.load(fabric.add_register(0, 1), 8);
    access.operation = operation;
    const std::size_t denied = fabric[1].dma.send(access);
    fabric.settle();
    CHECK(fabric[1].dma.answer(denied).status == tlm::TLM_COMMAND_ERROR_RESPONSE);
    CHECK(fabric[1].registers.take_report() == Status::access_denied);
    access.address = address_map::on_gpu(7, 0);
    const std::size_t nowhere = fabric[1].dma.send(access);
    fabric.settle();
    CHECK(fabric[1].dma.answer(nowhere).status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    CHECK(fabric[1].registers.take_report() == Status::no_peer);
  }
  CHECK(fabric[0].memory.arrivals().empty());
}

namespace {

void require_lost(std::size_t reset) {
  ReadingFabric fabric(2);
  const std::size_t number = fabric[1].compute.send(fabric.load(address_map::on_gpu(0, 0), 64));
  fabric.run_for(1000);
  fabric[reset].port.registers.reset();
  fabric.settle();
  CHECK(fabric[1].compute.answer(number).status == tlm::TLM_COMMAND_ERROR_RESPONSE);
  CHECK(static_cast<Status>(fabric[1].compute.answer(number).refusal) == Status::peer_failed);
}

}  // namespace

TEST_CASE("a read that finds its peer reset is refused") { require_lost(0); }

TEST_CASE("a read whose sender has been reset is refused") { require_lost(1); }

TEST_CASE("a fetch-and-add carries its addend there and the old value back") {
  LinkParameters parameters;
  parameters.header_bytes = 16;
  ReadingFabric fabric(2, parameters);
  fabric.bytes[0][0x80] = 9;
  DataAccess access = fabric.load(address_map::on_gpu(0, 0x80), 8);
  access.operation = Operation::fetch_add;
  access.addend = 5;
  access.traffic = TrafficClass::control;
  const std::size_t number = fabric[1].compute.send(access);
  fabric.settle();
  CHECK(fabric[1].compute.answer(number).data == std::vector<unsigned char>{9, 0, 0, 0, 0, 0, 0, 0});
  CHECK(fabric[0].memory.arrivals().at(0).extension.operation == Operation::fetch_add);
  CHECK(fabric[0].memory.arrivals().at(0).extension.addend == 5);
  CHECK(fabric.links[1]->sent().wire_bytes == 24);
  CHECK(fabric.links[0]->sent().wire_bytes == 24);
  CHECK(fabric.links[0]->sent().payload_bytes == 0);
}

}  // namespace t3vp::test::remote_read_test
