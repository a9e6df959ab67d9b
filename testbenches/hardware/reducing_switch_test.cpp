// Loads and stores of all GPUs that a reducing switch joins, with memory controllers that keep data.
#include <catch2/catch.hpp>

#include <cstring>

#include "protocol/element.h"
#include "reading_node.h"
#include "topologies.h"

namespace t3vp::test::reducing_switch_test {

namespace {

Topology reducing(bool reduces = true) {
  Topology topology = of_kind(Topology::Kind::switched);
  topology.switch_latency = 100'000;
  topology.reduces = reduces;
  return topology;
}

interconnect::LinkParameters links(std::uint32_t buffer = 4096) {
  interconnect::LinkParameters parameters;
  parameters.bandwidth_GBps = 10;
  parameters.header_bytes = 16;
  parameters.max_payload_bytes = 256;
  parameters.receive_buffer_bytes = buffer;
  return parameters;
}

DataAccess access(Operation operation, std::uint64_t address, std::uint32_t bytes,
                  ElementType element = ElementType::fp16) {
  DataAccess access;
  access.operation = operation;
  access.address = address;
  access.shape = {1, bytes, 0};
  access.element = element;
  access.traffic = TrafficClass::gemm_write;
  return access;
}

std::vector<unsigned char> elements(ElementType type, const std::vector<float>& values) {
  std::vector<unsigned char> bytes(values.size() * bytes_of(type));
  narrow_elements(type, values.data(), bytes.data(), values.size());
  return bytes;
}

/// To the address of all GPUs of the switch.
std::size_t send_to_all(ReadingNode& node, std::size_t from, DataAccess access, Picoseconds later = 0) {
  access.address = address_map::on_gpu(address_map::all_gpus, access.address);
  return node.gpus[from]->away.send(access, later);
}

void settle() { sc_core::sc_start(); }

std::vector<unsigned char> bytes_at(ReadingNode& node, std::uint16_t gpu, std::uint64_t address, std::uint32_t bytes) {
  const std::size_t number = node.send(gpu, gpu, access(Operation::load, address, bytes));
  settle();
  return node.answer(gpu, gpu, number).data;
}

float value_of(std::size_t gpu, std::size_t i) { return static_cast<float>(gpu * 8 + i % 7) - 9; }

/// Every GPU has values of its own there.
void fill(ReadingNode& node, std::uint64_t address, std::size_t count, ElementType type) {
  for (std::size_t g = 0; g < node.gpus.size(); ++g) {
    std::vector<float> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(value_of(g, i));
    DataAccess store = access(Operation::store, address, static_cast<std::uint32_t>(count * bytes_of(type)), type);
    store.data = elements(type, values);
    node.send(static_cast<std::uint16_t>(g), static_cast<std::uint16_t>(g), store);
  }
  settle();
}

std::vector<float> sums(std::size_t gpus, std::size_t count) {
  std::vector<float> values(count, 0);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t g = 0; g < gpus; ++g) values[i] += value_of(g, i);
  return values;
}

void start() { sc_core::sc_start(sc_core::SC_ZERO_TIME); }

}  // namespace

TEST_CASE("a load of all GPUs brings the sum of what each of them has in every element type") {
  std::vector<std::unique_ptr<ReadingNode>> nodes;
  for (const ElementType type : {ElementType::fp16, ElementType::bf16, ElementType::fp32})
    nodes.push_back(std::make_unique<ReadingNode>(name_of(type), LinkTier{links(), reducing()}, 5, true));
  start();
  for (const ElementType type : {ElementType::fp16, ElementType::bf16, ElementType::fp32}) {
    ReadingNode& node = *nodes[static_cast<std::size_t>(type)];
    fill(node, 0x1000, 300, type);
    std::vector<std::size_t> loads;
    for (std::size_t g = 0; g < 5; ++g)
      loads.push_back(send_to_all(node, g, access(Operation::load, 0x1000, 300 * bytes_of(type), type)));
    settle();
    for (std::size_t g = 0; g < 5; ++g) {
      const DataAnswer& answer = node.gpus[g]->away.answer(loads[g]);
      REQUIRE(answer.ok());
      CHECK(answer.data == elements(type, sums(5, 300)));
    }
  }
}

TEST_CASE("a sum is rounded once and not after each GPU") {
  ReadingNode node("rounding", {links(), reducing()}, 3, true);
  start();
  const float parts[] = {2048, 1, 1};  // 2049 is no fp16
  for (std::uint16_t g = 0; g < 3; ++g) {
    DataAccess store = access(Operation::store, 0x40, 2);
    store.data = elements(ElementType::fp16, {parts[g]});
    node.send(g, g, store);
  }
  settle();
  const std::size_t load = send_to_all(node, 1, access(Operation::load, 0x40, 2));
  settle();
  CHECK(node.gpus[1]->away.answer(load).data == elements(ElementType::fp16, {2050}));
}

TEST_CASE("a store to all GPUs is in every memory when it is answered") {
  ReadingNode node("store", {links(), reducing()}, 4, true);
  start();
  DataAccess store = access(Operation::store, 0x2000, 1000);
  for (std::size_t i = 0; i < 1000; ++i) store.data.push_back(static_cast<unsigned char>(i * 13));
  const std::size_t number = send_to_all(node, 2, store);
  settle();
  REQUIRE(node.gpus[2]->away.answer(number).ok());
  CHECK(node.gpus[2]->away.answer(number).taken == 1);
  for (std::uint16_t g = 0; g < 4; ++g) CHECK(bytes_at(node, g, 0x2000, 1000) == store.data);
}

TEST_CASE("updates of all GPUs are added everywhere") {
  ReadingNode node("update", {links(), reducing()}, 3, true);
  start();
  fill(node, 0x800, 64, ElementType::fp32);
  for (std::size_t g = 0; g < 3; ++g) {
    DataAccess update = access(Operation::update, 0x800, 256, ElementType::fp32);
    update.data = elements(ElementType::fp32, std::vector<float>(64, 10));
    send_to_all(node, g, update);
  }
  settle();
  for (std::uint16_t g = 0; g < 3; ++g) {
    std::vector<float> expected;
    for (std::size_t i = 0; i < 64; ++i) expected.push_back(value_of(g, i) + 30);
    CHECK(bytes_at(node, g, 0x800, 256) == elements(ElementType::fp32, expected));
  }
}

// Up: a request; every GPU's part. Down: requests, and one sum. That is all that links carry.
TEST_CASE("a load of all GPUs carries a part up from each and one sum down") {
  ReadingNode node("bytes", {links(), reducing()}, 4, true);
  start();
  send_to_all(node, 0, access(Operation::load, 0, 4096));
  settle();
  for (const auto& link : node.wires->links) {
    INFO(link->name());
    const bool is_up = !link->from().is_switch, is_of_reader = (is_up ? link->from() : link->to()).number == 0;
    CHECK(link->sent().payload_bytes == (is_up || is_of_reader ? 4096 : 0));
  }
}

TEST_CASE("a store to all GPUs goes up once and down to each") {
  ReadingNode node("bytes", {links(), reducing()}, 4, true);
  start();
  DataAccess store = access(Operation::store, 0, 4096);
  store.data.resize(4096);
  send_to_all(node, 3, store);
  settle();
  for (const auto& link : node.wires->links)
    CHECK(link->sent().payload_bytes == (link->from().is_switch || link->from().number == 3 ? 4096 : 0));
}

TEST_CASE("a load of all GPUs takes as long without data") {
  const auto time = [](const char* name, bool functional) {
    return std::make_unique<ReadingNode>(name, LinkTier{links(), reducing()}, 3, functional);
  };
  const auto with = time("with", true), without = time("without", false);
  start();
  std::vector<std::pair<std::size_t, std::size_t>> loads;
  for (std::uint32_t i = 0; i < 20; ++i) {
    const DataAccess load = access(Operation::load, i * 4096, 100 + i * 50);
    const Picoseconds later = i * i * 777;  // no two are at the same time
    loads.emplace_back(send_to_all(*with, i % 3, load, later), send_to_all(*without, i % 3, load, later));
  }
  settle();
  for (std::uint32_t i = 0; i < 20; ++i) {
    const DataAnswer& one = with->gpus[i % 3]->away.answer(loads[i].first);
    CHECK(one.ok());
    CHECK(one.at - one.arrival == without->gpus[i % 3]->away.answer(loads[i].second).at - one.arrival);
  }
}

TEST_CASE("loads and stores of all GPUs by all get through with buffers of one packet") {
  ReadingNode node("crowd", {links(1), reducing()}, 6, true);
  start();
  std::vector<std::pair<std::size_t, std::size_t>> sent;
  for (std::uint32_t i = 0; i < 1200; ++i) {
    DataAccess one = access(i % 3 == 0 ? Operation::store : Operation::load, i % 64 * 512, 512);
    if (i % 3 == 0) one.data.resize(512);
    sent.emplace_back(i % 6, i % 5 == 4 ? node.send(static_cast<std::uint16_t>(i % 6),
                                                    static_cast<std::uint16_t>((i + 1 + i % 4) % 6), one)
                                        : send_to_all(node, i % 6, one));
  }
  settle();
  for (const auto& [gpu, number] : sent) REQUIRE(node.gpus[gpu]->away.answer(number).ok());
  CHECK(node.wires->switches[0]->diagnosis().empty());
}

TEST_CASE("what one of all GPUs refuses is refused and the next is served") {
  ReadingNode node("refused", {links(), reducing()}, 3, true);
  start();
  const std::uint64_t beyond = std::uint64_t{64} << 20;
  const std::size_t load = send_to_all(node, 0, access(Operation::load, beyond, 64));
  DataAccess store = access(Operation::store, beyond, 64);
  store.data.resize(64);
  const std::size_t stored = send_to_all(node, 1, store);
  const std::size_t right = send_to_all(node, 0, access(Operation::load, 0, 64));
  settle();
  CHECK(node.gpus[0]->away.answer(load).status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  CHECK(node.gpus[1]->away.answer(stored).status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  CHECK(node.gpus[0]->away.answer(right).ok());
}

TEST_CASE("nothing reaches all GPUs without a switch that reduces, and no counter is all GPUs'") {
  ReadingNode plain("plain", {links(), reducing(false)}, 3, true), ring("ring", {links(), {}}, 3, true),
      good("good", {links(), reducing()}, 3, true);
  start();
  for (ReadingNode* node : {&plain, &ring}) {
    const std::size_t load = send_to_all(*node, 0, access(Operation::load, 0, 64));
    settle();
    CHECK(node->gpus[0]->away.answer(load).status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
  const std::size_t count = send_to_all(good, 0, access(Operation::fetch_add, 0, 8));
  settle();
  CHECK(good.gpus[0]->away.answer(count).status == tlm::TLM_COMMAND_ERROR_RESPONSE);
}

TEST_CASE("a node's switch joins the GPUs of the node") {
  ReadingNode node("nodes", {links(), nodes_of(2, {links(), reducing()}, {links(), {}}, false)}, 4, true);
  start();
  fill(node, 0, 16, ElementType::fp16);
  const std::size_t load = send_to_all(node, 3, access(Operation::load, 0, 32));
  settle();
  std::vector<float> expected;
  for (std::size_t i = 0; i < 16; ++i) expected.push_back(value_of(2, i) + value_of(3, i));
  CHECK(node.gpus[3]->away.answer(load).data == elements(ElementType::fp16, expected));
}

}  // namespace t3vp::test::reducing_switch_test
