// What the NIC reads and writes past the cache, with lines dropped that it overwrites, or left stale.
#include "cache_bench.h"

namespace t3vp::test::cache_nic_test {

using namespace cache;

namespace {

constexpr std::uint32_t line = 128;

CacheParameters four_lines(bool invalidates) {
  CacheParameters parameters = CacheBench::fully_associative(4);
  parameters.nic_writes_invalidate = invalidates;
  return parameters;
}

/// The first bytes of two cached lines that hold 0 and 7, the second one dirty, and of memory below them, after the NIC
/// has stored 9 to one and added 1 to the other.
struct Seen {
  unsigned stored_cached, stored_memory, added_cached, added_memory;
};

Seen after_writes(bool invalidates) {
  CacheBench bench(four_lines(invalidates));
  const auto load = [&bench](std::uint64_t address) {
    Transaction& transaction = bench.compute.make(Operation::load, address, {1, line, 0});
    transaction.attach_buffer();
    const std::size_t number = bench.compute.send(transaction);
    bench.settle();
    return unsigned{bench.compute.answers[number].data[0]};
  };
  load(0);
  Transaction& dirty = bench.compute.make(Operation::store, line, {1, line, 0});
  dirty.attach_buffer();
  dirty.get_data_ptr()[0] = 7;
  bench.compute.send(dirty);
  bench.settle();
  Transaction& store = bench.nic.make(Operation::store, 0, {1, 32, 0});
  store.attach_buffer();
  store.get_data_ptr()[0] = 9;
  bench.nic.send(store);
  Transaction& add = bench.nic.make(Operation::fetch_add, line, {1, 8, 0});
  add.attach_buffer();
  add.extension().addend = 1;
  bench.nic.send(add);
  bench.settle();
  REQUIRE(bench.nic.all_answered_well());
  const Seen cached{load(0), 0, load(line), 0};
  return {cached.stored_cached, *bench.memory.at(0), cached.added_cached, *bench.memory.at(line)};
}

}  // namespace

TEST_CASE("what the NIC stores and adds to is dropped from the cache and what was stored there written back first") {
  const Seen seen = after_writes(true);
  CHECK(seen.stored_cached == 9);
  CHECK(seen.stored_memory == 9);
  CHECK(seen.added_cached == 8);
  CHECK(seen.added_memory == 8);
}

TEST_CASE("a NIC that does not invalidate leaves the cache as it is") {
  const Seen seen = after_writes(false);
  CHECK(seen.stored_cached == 0);
  CHECK(seen.stored_memory == 9);
  CHECK(seen.added_cached == 7);
  CHECK(seen.added_memory == 1);
}

TEST_CASE("the NIC's accesses reach memory as late as peers' and are answered when memory answers") {
  CacheBench bench(four_lines(true));
  const Picoseconds delay = 5'000;
  for (const Operation operation : {Operation::store, Operation::load}) {
    const Picoseconds at_memory = now() + delay + CacheBench::memory_latency;
    const std::size_t number = bench.nic.send(bench.nic.make(operation, 0x400, {1, 64, 0}), delay);
    bench.settle();
    REQUIRE(bench.log_of(CacheBench::from_nic).back().arrival == at_memory);
    REQUIRE(bench.nic.answers[number].time == at_memory + bench.memory.latency);
  }
}

}  // namespace t3vp::test::cache_nic_test
