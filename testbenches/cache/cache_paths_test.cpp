#include <catch2/catch.hpp>

#include "cache_bench.h"

namespace t3vp::test::cache_paths_test {

using namespace cache;

namespace {

constexpr std::uint32_t line = 128;

/// Misses of one access that has time to end.
double misses_of(CacheBench& bench, std::size_t (*access)(CacheBench&, std::uint64_t), std::uint64_t number) {
  const double before = bench.statistic("misses");
  access(bench, number * line);
  bench.settle();
  return bench.statistic("misses") - before;
}

std::size_t load(CacheBench& bench, std::uint64_t address) { return bench.compute.load(address, line); }
std::size_t store(CacheBench& bench, std::uint64_t address) { return bench.compute.store(address, line); }

/// Fills four lines, uses the oldest once more, and brings in a fifth.
void check_used_again_stays(std::size_t (*use)(CacheBench&, std::uint64_t)) {
  CacheBench bench(CacheBench::fully_associative(4));
  for (std::uint64_t i = 0; i < 4; ++i) REQUIRE(misses_of(bench, load, i) == 4);
  REQUIRE(misses_of(bench, use, 0) == 0);
  REQUIRE(misses_of(bench, load, 4) == 4);
  REQUIRE(misses_of(bench, load, 0) == 0);
  REQUIRE(misses_of(bench, load, 1) == 4);
}

}  // namespace

TEST_CASE("a load that hits makes its line the most recently used one") { check_used_again_stays(load); }
TEST_CASE("a store that hits makes its line the most recently used one") { check_used_again_stays(store); }

TEST_CASE("what passes the cache reaches memory after the times of its way, and is answered when memory answers") {
  CacheBench bench(CacheBench::fully_associative(4));
  const Picoseconds delay = 5'000, answer = bench.memory.latency;

  Transaction& from_peer = bench.peer.make(Operation::store, 0x400, {1, 64, 0});
  const Picoseconds peer_at_memory = now() + delay + CacheBench::memory_latency;
  const std::size_t by_peer = bench.peer.send(from_peer, delay);
  bench.settle();
  REQUIRE(bench.log_of(CacheBench::from_peers).at(0).arrival == peer_at_memory);
  REQUIRE(bench.peer.answers[by_peer].time == peer_at_memory + answer);

  Transaction& uncached = bench.compute.make(Operation::store, 0x800, {1, 64, 0});
  uncached.extension().cached = false;
  const Picoseconds compute_at_memory = now() + delay + bench.parameters.latency + CacheBench::memory_latency;
  const std::size_t by_compute = bench.compute.send(uncached, delay);
  bench.settle();
  REQUIRE(bench.log_of(CacheBench::bypass).at(0).arrival == compute_at_memory);
  REQUIRE(bench.compute.answers[by_compute].time == compute_at_memory + answer);
}

}  // namespace t3vp::test::cache_paths_test
