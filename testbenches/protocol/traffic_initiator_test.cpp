#include <catch2/catch.hpp>
#include <vector>

#include "protocol/traffic_initiator.h"

namespace t3vp {
namespace {

/// Responds to each request a fixed time after its arrival, and refuses one address.
class SlowTarget : public sc_core::sc_module {
 public:
  struct Seen {
    Operation operation;
    std::uint64_t address;
    Picoseconds time;
    std::vector<unsigned char> data;
  };
  DataTargetSocket<SlowTarget> socket{"socket", this, &SlowTarget::request};
  std::vector<Seen> seen;
  std::size_t in_flight = 0, most_in_flight = 0;
  Picoseconds latency = 100'000;

  explicit SlowTarget(const sc_core::sc_module_name& name) : sc_module(name) {
    SC_HAS_PROCESS(SlowTarget);
    SC_METHOD(respond);
    sensitive << due_;
    dont_initialize();
  }

 private:
  void request(int, tlm::tlm_generic_payload& access, Picoseconds delay) {
    Seen one{extension_of(access).operation, access.get_address(), now() + delay, {}};
    if (access.get_data_ptr() != nullptr)
      one.data.assign(access.get_data_ptr(), access.get_data_ptr() + access.get_data_length());
    seen.push_back(one);
    most_in_flight = std::max(most_in_flight, ++in_flight);
    access.acquire();
    waiting_.push_back({&access, one.time + latency});
    due_.notify(to_sc_time(waiting_.front().time - now()));
  }
  void respond() {
    const Waiting first = waiting_.front();
    waiting_.erase(waiting_.begin());
    if (!waiting_.empty()) due_.notify(to_sc_time(waiting_.front().time - now()));
    --in_flight;
    first.access->set_response_status(first.access->get_address() == 0xBAD00 ? tlm::TLM_ADDRESS_ERROR_RESPONSE
                                                                             : tlm::TLM_OK_RESPONSE);
    socket.respond(*first.access, 0);
    first.access->release();
  }

  struct Waiting {
    tlm::tlm_generic_payload* access;
    Picoseconds time;
  };
  std::vector<Waiting> waiting_;
  sc_core::sc_event due_;
};

struct TrafficBench {
  SlowTarget target{"target"};
  TrafficInitiator traffic;

  explicit TrafficBench(const TrafficInitiator::Options& options = {}) : traffic("traffic", options) {
    traffic.socket.bind(target.socket);
  }
};

TrafficLimits limits_of(std::uint64_t count, std::uint32_t in_flight, double GBps = 0) {
  TrafficLimits limits;
  limits.count = count;
  limits.in_flight = in_flight;
  limits.GBps = GBps;
  return limits;
}

}  // namespace

TEST_CASE("a list of traffic is sent in its order and repeated until the count") {
  TrafficBench bench;
  bench.traffic.start({{Operation::load, 0x100, 32}, {Operation::store, 0x200, 64}, {Operation::update, 0xBAD00, 32}},
                      limits_of(5, 1));
  sc_core::sc_start();
  const TrafficCounts& counts = bench.traffic.counts();
  CHECK(counts.loads == 2);
  CHECK(counts.stores == 2);
  CHECK(counts.updates == 1);
  CHECK(counts.bytes == 2 * 32 + 2 * 64 + 32);
  CHECK(counts.responses == 5);
  CHECK(counts.refused == 1);
  CHECK(bench.traffic.is_done());
  REQUIRE(bench.target.seen.size() == 5);
  CHECK(bench.target.seen[3].operation == Operation::load);
  CHECK(bench.target.seen[4].address == 0x200);
}

TEST_CASE("traffic has no more accesses in flight than its limit and sends the next with a response") {
  TrafficBench bench;
  bench.traffic.start({{Operation::load, 0, 32}}, limits_of(10, 3));
  sc_core::sc_start();
  CHECK(bench.target.most_in_flight == 3);
  CHECK(bench.target.seen[2].time == 0);
  CHECK(bench.target.seen[3].time == 100'000);
  CHECK(bench.target.seen[9].time == 300'000);
  CHECK(bench.traffic.counts().end == 400'000);
}

TEST_CASE("traffic with a rate sends no faster") {
  TrafficBench bench;
  bench.target.latency = 10;
  bench.traffic.start({{Operation::store, 0, 64}}, limits_of(11, 4, 2));  // 32 ns each
  sc_core::sc_start();
  for (std::size_t i = 0; i < 11; ++i) CHECK(bench.target.seen[i].time == i * 32'000);
}

TEST_CASE("accesses of traffic arrive its lead after they are sent, and latencies count from there") {
  TrafficInitiator::Options options;
  options.lead = 71'000;
  TrafficBench bench(options);
  bench.traffic.start({{Operation::load, 0, 32}}, limits_of(3, 1));
  sc_core::sc_start();
  const TrafficCounts& counts = bench.traffic.counts();
  CHECK(counts.begin == 71'000);
  CHECK(bench.target.seen[1].time == 71'000 + 100'000 + 71'000);
  CHECK(counts.least_latency == 100'000);
  CHECK(counts.most_latency == 100'000);
  CHECK(counts.mean_latency_ns() == Approx(100));
  CHECK(counts.GBps() == Approx(96.0 / 442));
}

TEST_CASE("random traffic is in its range, in its proportions, and the same for a seed") {
  TrafficBench bench;
  bench.target.latency = 1;
  RandomTraffic random;
  random.first = 0x1000, random.bytes = 0x1000, random.access_bytes = 64;
  random.loads = 1, random.stores = 1, random.updates = 2;
  const auto run = [&](std::uint64_t seed) {
    random.seed = seed;
    bench.target.seen.clear();
    bench.traffic.start(random, limits_of(4000, 8));
    sc_core::sc_start();
    std::vector<std::uint64_t> addresses;
    for (const auto& one : bench.target.seen) addresses.push_back(one.address);
    return addresses;
  };
  const std::vector<std::uint64_t> first = run(7);
  CHECK(first.size() == 4000);
  for (const std::uint64_t address : first) {
    CHECK(address >= 0x1000);
    CHECK(address <= 0x2000 - 64);
    CHECK(address % 64 == 0);
  }
  CHECK(bench.traffic.counts().loads == Approx(1000).margin(120));
  CHECK(bench.traffic.counts().updates == Approx(2000).margin(120));
  CHECK(run(8) != first);
  CHECK(run(7) == first);
}

TEST_CASE("traffic with data stores ones of its element type unless it is told otherwise") {
  TrafficInitiator::Options options;
  options.has_data = true;
  options.element = ElementType::bf16;
  TrafficBench bench(options);
  bench.traffic.start({{Operation::store, 0, 32}}, limits_of(1, 1));
  sc_core::sc_start();
  CHECK(bench.target.seen[0].data[0] == 0x80);  // 1.0 is 0x3F80
  CHECK(bench.target.seen[0].data[31] == 0x3F);
  bench.traffic.on_send = [](Transaction& access) { access.get_data_ptr()[0] = 9; };
  unsigned responses = 0;
  bench.traffic.on_response = [&](tlm::tlm_generic_payload&) { ++responses; };
  bench.traffic.start({{Operation::store, 0, 32}}, limits_of(1, 1));
  sc_core::sc_start();
  CHECK(bench.target.seen[1].data[0] == 9);
  CHECK(responses == 1);
}

TEST_CASE("traffic that cannot be is refused in one line") {
  TrafficBench bench;
  TrafficInitiator& traffic = bench.traffic;
  CHECK_THROWS_WITH(traffic.start(std::vector<TrafficAccess>{}, {}),
                    "traffic: the list has no access, 1 or more expected");
  CHECK_THROWS_WITH(traffic.start({{Operation::load, 0, 33}}, {}),
                    "traffic: an access of 33 bytes, a multiple of 32 expected");
  CHECK_THROWS_WITH(traffic.start({{Operation::wait, 0, 32}}, {}),
                    "traffic: operation wait, load, store or update expected");
  CHECK_THROWS_WITH(traffic.start({{Operation::load, 0, 32}}, limits_of(0, 1)),
                    "traffic: limits: count and in_flight of 1 or more expected");
  CHECK_THROWS_WITH(traffic.start({{Operation::load, 0, 32}}, limits_of(1, 1, -1)),
                    "traffic: a rate of -1 GB/s, 0 or more expected");
  RandomTraffic random;
  CHECK_THROWS_WITH(traffic.start(random, {}), "traffic: a range of 0 bytes, one access of 32 bytes or more expected");
  random.bytes = 64, random.loads = 0;
  CHECK_THROWS_WITH(traffic.start(random, {}),
                    "traffic: frequencies of loads, stores and updates: 0 or more expected, not all 0");
  traffic.start({{Operation::load, 0, 32}}, limits_of(1, 1));
  sc_core::sc_start(1, sc_core::SC_NS);
  CHECK_THROWS_WITH(traffic.start({{Operation::load, 0, 32}}, {}), "traffic: 1 accesses are in flight");
}

}  // namespace t3vp
