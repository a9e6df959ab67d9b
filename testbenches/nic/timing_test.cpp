#include "nic/nic_bench.h"

namespace t3vp::test::timing_test {

using namespace nic;

namespace {

/// Bytes of InfiniBand's headers: of the first packet of a write, and of an acknowledgement.
constexpr std::uint64_t write_header = 42, acknowledgement = 30;

/// When the completion of the last entry has been stored.
Picoseconds end_of(const Side& side) { return side.memory.arrivals().back().at; }

}  // namespace

TEST_CASE("one inline write takes the sum of its steps") {
  const std::uint32_t bytes = 29;
  NicBench bench;
  bench.connect();
  const std::uint32_t key = bench.b.region(Side::data, 64);
  bench.a.post_inline(bench.b.base + Side::data, key, std::vector<unsigned char>(bytes, 1));
  bench.a.ring();
  bench.settle();
  const NicParameters& p = bench.parameters;
  const Picoseconds memory = bench.a.memory.latency, io = p.io_latency;
  const auto over_io = [&](std::uint64_t length) { return transfer_time(length, p.io_GBps); };
  const auto over_wire = [&](std::uint64_t length) {
    return transfer_time(length, bench.wire_parameters.GBps) + bench.wire_parameters.latency;
  };
  const Picoseconds record = 2 * io + memory + over_io(4), entry = 2 * io + memory + over_io(64),
                    write = over_wire(write_header + (bytes + 3) / 4 * 4), place = over_io(bytes) + 2 * io + memory,
                    completion = over_io(32) + io;
  REQUIRE(bench.b.memory.arrivals().back().at == io + record + entry + write + over_io(bytes) + io);
  REQUIRE(end_of(bench.a) == io + record + entry + write + place + over_wire(acknowledgement) + completion);
}

TEST_CASE("small messages of one queue pair or of several begin at the message rate") {
  NicBench bench;
  for (std::uint32_t queue = 1; queue <= 4; ++queue) bench.connect(queue);
  const std::uint32_t key = bench.b.region(Side::data, 64), messages = 16;
  const Picoseconds interval = from_ns(1000.0 / bench.parameters.messages_per_us);
  REQUIRE(interval == 4651);
  std::size_t before = 0;
  for (const std::uint32_t queues : {1u, 4u}) {
    for (std::uint32_t queue = 1; queue <= queues; ++queue) {
      for (std::uint32_t i = 0; i < messages; ++i)
        bench.a.post_inline(bench.b.base + Side::data, key, std::vector<unsigned char>(16, 1), queue, false);
      bench.a.ring(queue);
    }
    bench.settle();
    const auto& stores = bench.b.memory.arrivals();
    REQUIRE(stores.size() - before == queues * messages);
    REQUIRE(stores.back().at - stores[before].at == (stores.size() - before - 1) * interval);
    before = stores.size();
  }
}

TEST_CASE("a long write takes the wire's bandwidth, headers in each packet") {
  NicBench bench;
  bench.connect();
  const std::uint32_t packets = 64, bytes = packets * 4096 / 2;
  const std::uint32_t key = bench.a.region(0, Side::size), remote = bench.b.region(0, Side::size);
  const std::uint64_t from = bench.a.base + 0x20000;
  bench.a.post_segments(NicOpcode::write, bench.b.base + 0x20000, remote, {{from, key, bytes}, {from, key, bytes}});
  bench.a.ring();
  bench.settle();
  const auto& stores = bench.b.memory.arrivals();
  REQUIRE(stores.size() == packets);
  const Picoseconds packet = transfer_time(4096 + 26, bench.wire_parameters.GBps);
  REQUIRE(stores.back().at - stores.front().at == (packets - 1) * packet);
  REQUIRE(bench.wire.bytes() == std::uint64_t{packets} * (4096 + 26) + 16 + acknowledgement);
}

TEST_CASE("payload is read ahead no further than its buffer") {
  NicParameters parameters;
  parameters.payload_in_flight = 8192;
  NicBench bench(parameters);
  bench.connect();
  const std::uint32_t key = bench.a.region(0, Side::size), remote = bench.b.region(0, Side::size);
  bench.a.post_segments(NicOpcode::write, bench.b.base + 0x20000, remote, {{bench.a.base + 0x20000, key, 0x20000}});
  bench.a.ring();
  bench.settle();
  REQUIRE(bench.b.memory.arrivals().size() == 32);
  const auto& loads = bench.a.memory.arrivals();
  REQUIRE(loads[2].at == loads[3].at);
  const Picoseconds round = 2 * parameters.io_latency + bench.a.memory.latency;
  for (std::size_t i = 4; i + 1 < loads.size(); ++i) REQUIRE(loads[i].at - loads[i - 2].at >= round);
}

}  // namespace t3vp::test::timing_test
