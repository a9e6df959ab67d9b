// Loads and fetch-and-adds of every GPU's memory over every topology, with memory controllers that keep data.
#include <catch2/catch.hpp>

#include <cstring>
#include <random>
#include <set>

#include "reading_node.h"
#include "topologies.h"

namespace t3vp::test::remote_memory_test {

namespace {

struct Case {
  const char* name;
  Topology topology;
  std::uint32_t gpus;
};

interconnect::LinkParameters links(std::uint32_t buffer = 4096) {
  interconnect::LinkParameters parameters;
  parameters.header_bytes = 16;
  parameters.max_payload_bytes = 256;
  parameters.receive_buffer_bytes = buffer;
  parameters.arbitration_bytes = 512;
  return parameters;
}

std::vector<Case> cases() {
  Topology switched = of_kind(Topology::Kind::switched);
  switched.switch_latency = 50'000;
  const LinkTier inside{links(), switched}, between{links(), {}};
  return {{"ring", {}, 5},
          {"full", of_kind(Topology::Kind::fully_connected), 4},
          {"switched", switched, 5},
          {"torus", torus_of({4, 2}), 8},
          {"nodes", nodes_of(2, inside, between, true), 6}};
}

DataAccess access(Operation operation, std::uint64_t address, const Shape& shape) {
  DataAccess access;
  access.operation = operation;
  access.address = address;
  access.shape = shape;
  access.traffic = operation == Operation::fetch_add ? TrafficClass::control : TrafficClass::gemm_read;
  return access;
}

unsigned char byte_of(std::size_t gpu, std::uint64_t address) {
  return static_cast<unsigned char>((address * 7 + gpu * 31) % 251);
}

std::uint64_t value_of(const std::vector<unsigned char>& data) {
  std::uint64_t value = 0;
  std::memcpy(&value, data.data(), data.size());
  return value;
}

std::uint16_t number(std::size_t index) { return static_cast<std::uint16_t>(index); }

/// Links from one GPU to another, by the placements alone.
std::uint32_t distance(const Case& c, std::size_t from, std::size_t to) {
  const Fabric fabric = lay_out({{}, c.topology}, c.gpus);
  std::uint32_t links = 0;
  for (std::size_t at = from; at != to; ++links) {
    const bool is_gpu = at < c.gpus;
    at = is_gpu ? fabric.gpus[at].neighbours[fabric.gpus[at].route[to].port]
                : fabric.switches[at - c.gpus].neighbours[fabric.switches[at - c.gpus].route[to].port];
  }
  return links;
}

/// Of a train of packets over free links: each further one takes the time of the first packet.
Picoseconds time_over(std::uint32_t count, std::uint64_t wire_bytes, std::uint64_t of_one_packet) {
  const interconnect::LinkParameters p = links();
  return count * p.latency + transfer_time(wire_bytes, p.bandwidth_GBps) +
         (count - 1) * transfer_time(of_one_packet, p.bandwidth_GBps);
}

constexpr std::uint32_t part = 1 << 15;

struct Read {
  std::uint16_t from, to;
  std::size_t number;
  DataAccess access;
};

/// Writes bytes that encode their own address, or as many without data.
void fill(ReadingNode& node, bool functional) {
  for (std::size_t g = 0; g < node.gpus.size(); ++g) {
    DataAccess store = access(Operation::store, 0, {1, part, 0});
    for (std::uint64_t i = 0; functional && i < part; ++i) store.data.push_back(byte_of(g, i));
    node.send(number(g), number(g), store);
  }
}

/// Everybody reads of everybody, in shapes of all kinds, at times of which no two are the same.
std::vector<Read> read_all(ReadingNode& node) {
  std::mt19937 random(7);
  std::vector<Read> reads;
  for (int i = 0; i < 40; ++i)
    for (std::size_t from = 0; from < node.gpus.size(); ++from)
      for (std::size_t to = 0; to < node.gpus.size(); ++to) {
        const std::uint32_t rows = 1 + static_cast<std::uint32_t>(random() % 4);
        const std::uint32_t bytes = 1 + static_cast<std::uint32_t>(random() % 700);
        const DataAccess load = access(Operation::load, random() % 16384, {rows, bytes, 4096 + random() % 100});
        reads.push_back(
            {number(from), number(to), node.send(number(from), number(to), load, random() % 2'000'000), load});
      }
  return reads;
}

bool is_right(const Read& read, const DataAnswer& answer) {
  std::size_t at = 0;
  for (std::uint32_t row = 0; row < read.access.shape.rows; ++row)
    for (std::uint32_t i = 0; i < read.access.shape.row_bytes; ++i)
      if (answer.data[at++] != byte_of(read.to, read.access.address + row * read.access.shape.stride + i)) return false;
  return true;
}

/// Each link on the way of an answer carries it once, and nothing else is payload.
std::uint64_t carried(const Case& c, const std::vector<Read>& reads) {
  std::uint64_t bytes = 0;
  for (const Read& read : reads)
    if (read.from != read.to) bytes += read.access.shape.bytes() * distance(c, read.to, read.from);
  return bytes;
}

}  // namespace

TEST_CASE("loads bring the owner's data over every topology and take the same time without data") {
  std::vector<std::unique_ptr<ReadingNode>> with, without;
  for (const Case& c : cases()) {
    with.push_back(std::make_unique<ReadingNode>(c.name, LinkTier{links(), c.topology}, c.gpus, true));
    without.push_back(
        std::make_unique<ReadingNode>(std::string("timing_") + c.name, LinkTier{links(), c.topology}, c.gpus, false));
  }
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  for (std::size_t i = 0; i < with.size(); ++i) {
    fill(*with[i], true);
    fill(*without[i], false);
  }
  sc_core::sc_start();
  std::vector<std::vector<Read>> reads;
  for (std::size_t i = 0; i < with.size(); ++i) {
    reads.push_back(read_all(*with[i]));
    read_all(*without[i]);
  }
  sc_core::sc_start();
  for (std::size_t i = 0; i < with.size(); ++i) {
    const Case c = cases()[i];
    INFO(c.name);
    for (const Read& read : reads[i]) {
      const DataAnswer& answer = with[i]->answer(read.from, read.to, read.number);
      REQUIRE(answer.ok());
      REQUIRE(is_right(read, answer));
      REQUIRE(without[i]->answer(read.from, read.to, read.number).at == answer.at);
    }
    std::uint64_t sent = 0;
    for (const auto& link : with[i]->wires->links) sent += link->sent().payload_bytes;
    CHECK(sent == carried(c, reads[i]));
  }
}

TEST_CASE("a load takes no less than the latency there and back and the transfer of its data") {
  std::vector<std::unique_ptr<ReadingNode>> nodes;
  for (const Case& c : cases())
    nodes.push_back(std::make_unique<ReadingNode>(c.name, LinkTier{links(), c.topology}, c.gpus, true));
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const Case c = cases()[n];
    for (std::size_t to = 1; to < nodes[n]->gpus.size(); ++to)
      for (const std::uint32_t bytes : {32u, 4000u}) {
        INFO(c.name << " " << to << " " << bytes);
        const std::size_t load = nodes[n]->send(0, number(to), access(Operation::load, 0, {1, bytes, 0}));
        const Picoseconds begin = now();
        sc_core::sc_start();
        const DataAnswer& answer = nodes[n]->answer(0, number(to), load);
        REQUIRE(answer.ok());
        const std::uint64_t headers = (bytes + 255) / 256 * 16;
        const Picoseconds fabric = time_over(distance(c, 0, to), headers, 16) +
                                   time_over(distance(c, to, 0), bytes + headers, std::min(bytes, 256u) + 16) +
                                   2 * (c.topology.kind == Topology::Kind::switched ? c.topology.switch_latency : 0);
        CHECK(answer.at - begin >= fabric);
        // What is left is the memory's: its slices, and the DRAM.
        CHECK(answer.at - begin <= fabric + 3 * nodes[n]->gpus[0]->controller.lookahead() + 200'000);
      }
  }
}

namespace {

/// Every GPU adds 1 to a counter of GPU 0 a thousand times. Some of the additions are in flight at a time.
void count_all(ReadingNode& node, std::uint32_t bytes, std::uint64_t first) {
  constexpr std::size_t times = 1000;
  const std::uint64_t place = 0x8000 + bytes * 64;
  DataAccess begin = access(Operation::fetch_add, place, {1, bytes, 0});
  begin.addend = first;
  node.send(0, 0, begin);
  sc_core::sc_start();
  std::vector<std::size_t> sent(node.gpus.size());
  for (std::size_t i = 0; i < times; ++i)
    for (std::size_t g = 0; g < node.gpus.size(); ++g) {
      DataAccess add = access(Operation::fetch_add, place, {1, bytes, 0});
      add.addend = 1;
      sent[g] = node.send(number(g), 0, add) + 1;
    }
  sc_core::sc_start();
  std::set<std::uint64_t> olds;
  for (std::size_t g = 0; g < node.gpus.size(); ++g)
    for (std::size_t i = 0; i < times; ++i) {
      const DataAnswer& answer = node.answer(number(g), 0, sent[g] - 1 - i);
      REQUIRE(answer.ok());
      olds.insert(value_of(answer.data));
    }
  const std::uint64_t all = times * node.gpus.size(), mask = bytes == 4 ? 0xFFFFFFFF : ~std::uint64_t{0};
  CHECK(olds.size() == all);
  DataAccess read = access(Operation::fetch_add, place, {1, bytes, 0});
  const std::size_t last = node.send(number(node.gpus.size() - 1), 0, read);
  sc_core::sc_start();
  CHECK(value_of(node.answer(number(node.gpus.size() - 1), 0, last).data) == ((first + all) & mask));
}

void count_over_every_topology(bool functional, std::uint32_t buffer) {
  std::vector<std::unique_ptr<ReadingNode>> nodes;
  for (const Case& c : cases())
    nodes.push_back(std::make_unique<ReadingNode>(c.name, LinkTier{links(buffer), c.topology}, c.gpus, functional));
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  for (const auto& node : nodes) {
    count_all(*node, 8, 0xFFFFFFF0);
    count_all(*node, 4, 0xFFFFFFF0);  // wraps around at 2^32
  }
}

}  // namespace

TEST_CASE("fetch-and-adds of all GPUs to one counter find different values and end at the sum") {
  count_over_every_topology(true, 4096);
}

TEST_CASE("fetch-and-adds of all GPUs to one counter find different values in a run without data as well") {
  count_over_every_topology(false, 1);
}

TEST_CASE("fetch-and-adds and updates of others and loads are apart from each other") {
  ReadingNode node("ring", {links(), {}}, 3, true);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  // A word of two fp16 halves that updates count in, beside an integer.
  std::vector<std::pair<std::size_t, std::size_t>> loads;
  for (int i = 0; i < 200; ++i)
    for (std::uint16_t g = 0; g < 3; ++g) {
      DataAccess add = access(Operation::fetch_add, 0x40, {1, 4, 0});
      add.addend = 3;
      node.send(g, 1, add);
      DataAccess update = access(Operation::update, 0x44, {1, 4, 0});
      update.element = ElementType::fp32;
      const float one = 1;
      update.data.resize(4);
      std::memcpy(update.data.data(), &one, 4);
      node.send(g, 1, update);
      loads.emplace_back(g, node.send(g, 1, access(Operation::load, 0x40, {1, 8, 0})));
    }
  sc_core::sc_start();
  for (const auto& [g, load] : loads) {
    const DataAnswer& answer = node.answer(number(g), 1, load);
    REQUIRE(answer.ok());
    std::uint32_t integer = 0;
    std::memcpy(&integer, answer.data.data(), 4);
    REQUIRE(integer % 3 == 0);
  }
  const std::size_t last = node.send(1, 1, access(Operation::load, 0x40, {1, 8, 0}));
  sc_core::sc_start();
  std::uint32_t integer = 0;
  float real = 0;
  std::memcpy(&integer, node.answer(1, 1, last).data.data(), 4);
  std::memcpy(&real, node.answer(1, 1, last).data.data() + 4, 4);
  CHECK(integer == 1800);
  CHECK(real == 600);
}

// From GPU 2 over GPU 1 to GPU 0.
TEST_CASE("what is passed on to a faster or slower link ends a packet after its last one has come") {
  std::vector<std::unique_ptr<ReadingNode>> nodes;
  interconnect::LinkParameters first = links();
  first.bandwidth_GBps /= 10;  // a packet takes many clocks of the memory
  const std::vector<double> bandwidths{first.bandwidth_GBps, first.bandwidth_GBps * 2, first.bandwidth_GBps * 10,
                                       first.bandwidth_GBps / 10};
  for (const double bandwidth : bandwidths) {
    Fabric fabric = lay_out({first, {}}, 5);
    for (LinkPlacement& link : fabric.links)
      if (link.from == 1 && link.to == 0) link.parameters.bandwidth_GBps = bandwidth;
    nodes.push_back(std::make_unique<ReadingNode>("at_" + std::to_string(nodes.size()), fabric, 16, true));
  }
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  constexpr Picoseconds clock = 1'000;
  Picoseconds memory = 0;  // what it takes besides
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    constexpr std::uint32_t packets = 8, wire = packets * (256 + 16);
    DataAccess store = access(Operation::store, 0, {1, packets * 256, 0});
    store.data.resize(packets * 256);
    const std::size_t number = nodes[i]->send(2, 0, store);
    const Picoseconds begin = now();
    sc_core::sc_start();
    const auto time = [&](std::uint64_t bytes, double bandwidth) { return transfer_time(bytes, bandwidth); };
    const Picoseconds slowest = std::max(time(wire, first.bandwidth_GBps) + time(wire / packets, bandwidths[i]),
                                         time(wire / packets, first.bandwidth_GBps) + time(wire, bandwidths[i]));
    const Picoseconds fabric = slowest + 4 * first.latency;
    const Picoseconds taken = nodes[i]->answer(2, 0, number).at - begin;
    INFO(bandwidths[i]);
    REQUIRE(taken >= fabric);
    if (i == 0) memory = taken - fabric;
    CHECK(taken + clock >= fabric + memory);
    CHECK(taken <= fabric + memory + clock);
  }
}

}  // namespace t3vp::test::remote_memory_test
