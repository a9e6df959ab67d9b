// Updates that the cache adds: their DRAM accesses in closed form, the rate of a bank, the sums, and who sees them.
#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "cache_bench.h"
#include "protocol/element.h"

namespace t3vp::test::cache_atomics_test {

using namespace cache;

namespace {

constexpr std::uint32_t line = 128, sector = 32;

CacheParameters with_atomics(CacheParameters parameters, double bytes_per_cycle = 8) {
  parameters.atomic_bytes_per_cycle = bytes_per_cycle;
  return parameters;
}

/// Memory counts updates and adds nothing: what comes there must not change its data.
struct AtomicBench : CacheBench {
  static constexpr int from_dma = 4;
  Requester dma{"dma"};

  /// The last of several benches starts the simulation.
  explicit AtomicBench(const CacheParameters& p, bool start = true) : CacheBench(p, false, 5) {
    checks.join_test(dma.socket, *cache.dma);
    checks.join(*cache.dma_memory, *memory.ports[from_dma]);
    memory.adds = false;
    if (start) sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  std::size_t update(Requester& from, std::uint64_t address, const Shape& shape, float value,
                     TrafficClass traffic = TrafficClass::rs_write) {
    Transaction& update = from.make(Operation::update, address, shape);
    update.extension().element = ElementType::fp32;
    update.extension().traffic = traffic;
    update.attach_buffer();
    const std::vector<float> values(shape.bytes() / 4, value);
    std::memcpy(update.get_data_ptr(), values.data(), shape.bytes());
    return from.send(update);
  }
  float loaded(Requester& from, std::uint64_t address) {
    Transaction& load = from.make(Operation::load, address, {1, 4, 0});
    load.attach_buffer();
    load.extension().cached = false;
    const std::size_t number = from.send(load);
    settle();
    float value = 0;
    std::memcpy(&value, from.answers[number].data.data(), 4);
    return value;
  }
  std::uint64_t bytes(Operation operation) const {
    std::uint64_t sum = 0;
    for (const LoggedAccess& access : log_of(fills))
      if (access.operation == operation) sum += access.shape.bytes();
    return sum;
  }
};

}  // namespace

TEST_CASE("an update that misses reads its sectors once, and its sum is written once, in the update's class") {
  AtomicBench bench(with_atomics(CacheBench::fully_associative(64)));
  const Shape tile{8, 2 * sector, line};
  for (Requester* from : {&bench.compute, &bench.peer, &bench.nic}) {
    bench.update(*from, 0, tile, 2);
    bench.settle();
    CHECK(bench.bytes(Operation::load) == tile.bytes());  // those that follow hit
    CHECK(bench.bytes(Operation::store) == 0);
  }
  bench.flush();
  bench.settle();
  CHECK(bench.bytes(Operation::store) == tile.bytes());
  for (const LoggedAccess& access : bench.log_of(CacheBench::fills)) CHECK(access.traffic == TrafficClass::rs_write);
  CHECK(bench.statistic("updates") == 3 * 16);
  CHECK(bench.statistic("update_misses") == 16);
  CHECK(bench.statistic("misses") == 0);
  for (std::uint32_t row = 0; row < 8; ++row) CHECK(bench.loaded(bench.peer, row * line + sector) == 6);
  CHECK(bench.loaded(bench.peer, 2 * sector) == 0);
}

TEST_CASE("memory gets every update behind its sum, from where it has come, to be counted") {
  AtomicBench bench(with_atomics(CacheBench::fully_associative(8)));
  const std::pair<Requester*, int> ways[] = {
      {&bench.compute, CacheBench::bypass}, {&bench.peer, CacheBench::from_peers}, {&bench.nic, CacheBench::from_nic}};
  std::uint64_t address = 0;
  for (const auto& [from, port] : ways) {
    const std::size_t number = bench.update(*from, address += line, {1, sector, 0}, 1);
    bench.settle();
    const auto counted = bench.log_of(port);
    REQUIRE(counted.size() == 1);
    CHECK(counted[0].operation == Operation::update);
    const auto fetched = bench.log_of(CacheBench::fills);
    CHECK(counted[0].arrival >= fetched.back().arrival + bench.memory.latency + CacheBench::memory_latency);
    CHECK(from->answers[number].time == counted[0].arrival + bench.memory.latency);
  }
}

TEST_CASE("a bank adds as many bytes in a cycle as it says") {
  const double rates[] = {2, 8, 32};
  std::vector<std::unique_ptr<AtomicBench>> benches;
  for (const double rate : rates)
    benches.push_back(
        std::make_unique<AtomicBench>(with_atomics(CacheBench::fully_associative(64), rate), rate == rates[2]));
  for (std::size_t i = 0; i < benches.size(); ++i) {
    AtomicBench& bench = *benches[i];
    const std::size_t first = bench.update(bench.compute, 0, {1, line * 32, 0}, 1);
    bench.settle();
    const Picoseconds begin = now();
    const std::size_t hit = bench.update(bench.compute, 0, {1, line * 32, 0}, 1);
    bench.settle();
    const Picoseconds of_sector = cycle_time(sector / rates[i], bench.parameters.clock_GHz);
    CHECK(bench.compute.answers[hit].time ==
          begin + bench.parameters.latency + 128 * of_sector + CacheBench::memory_latency + bench.memory.latency);
    CHECK(bench.compute.answers[first].status == tlm::TLM_OK_RESPONSE);
  }
}

TEST_CASE("the time of banks is cache bandwidth, and what a load has to wait for in memory is known") {
  AtomicBench bench(with_atomics(CacheBench::fully_associative(64), 2));
  const auto in_banks = [&](const Requester::Answer& answer, std::uint32_t window) {
    return of(answer.cause.within(window, answer.time), Part::cache_bandwidth);
  };
  const auto begin = [] {
    Cause::current() = Cause::begin();
    Cause::current().extend(now(), Part::launch);
    return Cause::open_window(now());
  };
  const double bytes[] = {bench.parameters.bank_bytes_per_cycle, 2};
  const auto time_of = [&](double of_cycle) { return 128 * cycle_time(sector / of_cycle, bench.parameters.clock_GHz); };
  const std::size_t miss = (begin(), bench.compute.load(0, line * 32));
  bench.settle();
  CHECK(bench.compute.answers[miss].cause.time() == bench.compute.answers[miss].time);
  const std::uint32_t loads = begin();
  const std::size_t hit = bench.compute.load(0, line * 32);
  bench.settle();
  CHECK(in_banks(bench.compute.answers[hit], loads) == time_of(bytes[0]));
  const std::uint32_t updates = begin();
  const std::size_t update = bench.update(bench.compute, 0, {1, line * 32, 0}, 1);
  bench.settle();
  CHECK(in_banks(bench.compute.answers[update], updates) == time_of(bytes[1]));
  Cause::current() = Cause();
}

TEST_CASE("whoever loads after an update sees the sum, and only what is not dirty comes from memory") {
  AtomicBench bench(with_atomics(CacheBench::fully_associative(8)));
  bench.update(bench.peer, 0, {1, sector, 0}, 3);
  bench.settle();
  for (Requester* from : {&bench.compute, &bench.peer, &bench.nic, &bench.dma}) CHECK(bench.loaded(*from, 4) == 3);
  CHECK(bench.log_of(AtomicBench::from_dma).empty());
  CHECK(bench.loaded(bench.dma, line) == 0);
  CHECK(bench.log_of(AtomicBench::from_dma).size() == 1);
}

TEST_CASE("a store past the cache drops the sum, whoever sends it") {
  AtomicBench bench(with_atomics(CacheBench::fully_associative(8)));
  for (Requester* from : {&bench.compute, &bench.peer, &bench.nic, &bench.dma}) {
    bench.update(bench.peer, 0, {1, line, 0}, 3);
    bench.settle();
    Transaction& zeros = from->make(Operation::store, 0, {1, line, 0});
    zeros.attach_buffer();
    zeros.extension().cached = false;
    from->send(zeros);
    bench.settle();
    bench.update(bench.compute, 0, {1, line, 0}, 5);
    bench.settle();
    CHECK(bench.loaded(bench.dma, 8) == 5);
  }
}

TEST_CASE("an engine's store is behind the write-back of a sum that is on its way") {
  AtomicBench bench(with_atomics(CacheBench::fully_associative(8)));
  bench.update(bench.peer, 0, {1, line, 0}, 3);
  bench.settle();
  bench.flush();
  Transaction& zeros = bench.dma.make(Operation::store, 0, {1, line, 0});
  zeros.attach_buffer();
  zeros.extension().cached = false;
  bench.dma.send(zeros);
  bench.settle();
  CHECK(bench.log_of(CacheBench::fills).back().operation == Operation::store);
  CHECK(bench.loaded(bench.dma, 8) == 0);
}

TEST_CASE("what the cache cannot add goes to memory, which refuses it") {
  AtomicBench bench(with_atomics(CacheBench::fully_associative(8)));
  for (const std::uint64_t address : {std::uint64_t{2}, CacheBench::memory_bytes}) {
    bench.update(bench.peer, address, {1, sector, 0}, 1);
    bench.settle();
  }
  CHECK(bench.log_of(CacheBench::from_peers).size() == 2);
  CHECK(bench.log_of(CacheBench::fills).empty());
}

/// A cache of few lines evicts lines with fills in flight and sums of them.
TEST_CASE("no addend is lost when many updates meet in a small cache, with data and without") {
  AtomicBench bench(with_atomics(CacheBench::of_sets(2, 2)));
  constexpr std::uint32_t lines = 24;
  std::vector<float> expected(lines * line / 4);
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int i = 0; i < 6000; ++i) {
    const std::uint32_t rows = 1 + below(3), bytes = 4 * (1 + below(40)), stride = 256;
    const std::uint32_t at = 4 * below((lines * line - (rows - 1) * stride - bytes) / 4);
    Requester* const senders[] = {&bench.compute, &bench.peer, &bench.nic};
    bench.update(*senders[below(3)], at, {rows, bytes, stride}, 1);
    for (std::uint32_t row = 0; row < rows; ++row)
      for (std::uint32_t byte = 0; byte < bytes; byte += 4) expected[(at + row * stride + byte) / 4] += 1;
    if (below(3) == 0) bench.wait(below(4) * 100'000);
    if (below(500) == 0) bench.flush();
  }
  bench.settle();
  for (Requester* from : {&bench.compute, &bench.peer, &bench.nic}) CHECK(from->all_answered_well());
  bench.flush();
  bench.settle();
  CHECK(std::memcmp(bench.memory.at(0), expected.data(), expected.size() * 4) == 0);
}

}  // namespace t3vp::test::cache_atomics_test
