// Fills that come back in another order than they were asked for.
#include <algorithm>

#include "cache_bench.h"
#include "data_path/target.h"

namespace t3vp::test::cache_order_test {

using namespace cache;

namespace {

constexpr std::uint32_t line = 128;
constexpr Picoseconds cache_latency = 114'300, sector_time = 714, path = 70'000;

/// A cache of eight lines whose memory responds when the test lets it. Byte i of memory is i / 128 + 1.
struct OrderBench {
  LastLevelCache unit{"cache", CacheBench::fully_associative(8), path, 0};
  NamedRegisters registers{unit.registers};
  DataTarget fills{"fills"};
  NodeMemory others{"others", 3, 1, 1 << 20};
  Requester compute{"compute"}, peer{"peer"}, nic{"nic"};
  CheckedSockets checks;

  OrderBench() {
    checks.join_test(compute.socket, unit.compute);
    checks.join_test(peer.socket, unit.peers);
    checks.join_test(nic.socket, unit.nic);
    checks.join(unit.memory, fills.socket);
    checks.join(unit.bypass, *others.ports[0]);
    checks.join(unit.peer_memory, *others.ports[1]);
    checks.join(unit.nic_memory, *others.ports[2]);
    fills.holds = true;
    fills.serve = [](tlm::tlm_generic_payload& access) {
      const std::uint64_t address = access.get_address();
      for (unsigned i = 0; i < access.get_data_length(); ++i)
        access.get_data_ptr()[i] = static_cast<unsigned char>((address + i) / line + 1);
      return tlm::TLM_OK_RESPONSE;
    };
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  std::size_t load(std::uint64_t address, std::uint32_t bytes) {
    Transaction& access = compute.make(Operation::load, address, {1, bytes, 0});
    access.attach_buffer();
    return compute.send(access);
  }
  /// The memory answers the oldest fill, which arrives so much later.
  void answer_one(Picoseconds later) {
    fills.latency = later;
    fills.answer_one();
  }
  /// Answered well at this time, with whole lines of these bytes.
  void require(std::size_t number, Picoseconds time, const std::vector<unsigned char>& lines) const {
    CAPTURE(number);
    const Requester::Answer& answer = compute.answers[number];
    REQUIRE(answer.done);
    CHECK(answer.status == tlm::TLM_OK_RESPONSE);
    CHECK(answer.time == time);
    std::vector<unsigned char> expected;
    for (const unsigned char byte : lines) expected.insert(expected.end(), line, byte);
    CHECK((answer.data == expected));
  }
  static void run_to(Picoseconds time) { sc_core::sc_start(to_sc_time(time - now())); }
};

}  // namespace

TEST_CASE("a load is answered when the last of its fills has come, in whatever order they come") {
  OrderBench bench;
  const std::size_t first = bench.load(0, line), second = bench.load(line, line);
  OrderBench::run_to(100'000);
  const std::size_t both = bench.load(0, 2 * line);
  OrderBench::run_to(250'000);
  REQUIRE(bench.fills.arrivals().size() == 2);  // sectors in flight are not requested again
  for (const DataTarget::Arrival& fill : bench.fills.arrivals()) CHECK(fill.at == cache_latency + path);
  bench.answer_one(400'000);  // the first one's, announced long ahead
  bench.answer_one(50'000);   // the second one's
  OrderBench::run_to(400'000);
  const std::size_t hit = bench.load(line, line), waits = bench.load(0, line);
  OrderBench::run_to(2'000'000);
  bench.require(second, 300'000, {2});
  bench.require(first, 650'000, {1});
  bench.require(both, 650'000, {1, 2});
  bench.require(hit, 400'000 + cache_latency + 4 * sector_time, {2});
  bench.require(waits, 650'000, {1});
  CHECK(bench.fills.arrivals().size() == 2);
  const std::size_t later = bench.load(0, 2 * line);
  OrderBench::run_to(3'000'000);
  bench.require(later, 2'000'000 + cache_latency + 8 * sector_time, {1, 2});
}

TEST_CASE("two parts of one line that come in the other order keep each its own bytes") {
  OrderBench bench;
  bench.fills.serve = [](tlm::tlm_generic_payload& access) {
    std::fill_n(access.get_data_ptr(), access.get_data_length(),
                static_cast<unsigned char>(access.get_address() / 32 + 10));
    return tlm::TLM_OK_RESPONSE;
  };
  bench.load(0, 32);
  const std::size_t last = bench.load(96, 32);
  OrderBench::run_to(250'000);
  REQUIRE(bench.fills.arrivals().size() == 2);
  bench.answer_one(400'000);
  bench.answer_one(50'000);
  OrderBench::run_to(300'000);
  REQUIRE(bench.compute.answers[last].done);
  CHECK(bench.compute.answers[last].data == std::vector<unsigned char>(32, 13));
  CHECK_FALSE(bench.compute.answers[0].done);
  OrderBench::run_to(1'000'000);
  REQUIRE(bench.compute.answers[0].done);
  CHECK(bench.compute.answers[0].time == 650'000);
  CHECK(bench.compute.answers[0].data == std::vector<unsigned char>(32, 10));
}

}  // namespace t3vp::test::cache_order_test
