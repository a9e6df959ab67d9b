#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "cache_bench.h"

namespace t3vp::test::cache_stores_test {

using namespace cache;

namespace {

constexpr std::uint32_t line = 128, sector = 32;

std::uint64_t dirty_sectors(const CacheBench& bench) {
  return static_cast<std::uint64_t>(bench.statistic("stores") - bench.statistic("write_backs"));
}

}  // namespace

TEST_CASE("a store stays in the cache until it is evicted, then goes out whole in its producer's class") {
  CacheBench bench(CacheBench::fully_associative(4));
  const std::size_t stored = bench.compute.store(0x400 + sector, 2 * sector, TrafficClass::rs_write);
  bench.settle();
  REQUIRE(bench.compute.answers[stored].time == bench.parameters.latency + 2 * 714);
  REQUIRE(bench.memory.log.empty());
  for (std::uint64_t i = 0; i < 4; ++i) bench.compute.load(i * line, line);
  bench.settle();
  const auto write_backs = bench.memory.accesses(Operation::store);
  REQUIRE(write_backs.size() == 1);
  REQUIRE((write_backs[0].address == 0x400 + sector && write_backs[0].shape.bytes() == 2 * sector));
  REQUIRE(write_backs[0].traffic == TrafficClass::rs_write);
  REQUIRE(!write_backs[0].has_data);
}

TEST_CASE("separate dirty sectors of a line are separate writes") {
  CacheBench bench(CacheBench::fully_associative(4));
  bench.compute.store(0, sector);
  bench.compute.store(2 * sector, 2 * sector);
  bench.flush();
  bench.settle();
  const auto write_backs = bench.memory.accesses(Operation::store);
  REQUIRE(write_backs.size() == 2);
  REQUIRE((write_backs[0].address == 0 && write_backs[0].shape.bytes() == sector));
  REQUIRE((write_backs[1].address == 2 * sector && write_backs[1].shape.bytes() == 2 * sector));
}

TEST_CASE("what was stored is a hit without a read, a clean line is not written back") {
  CacheBench bench(CacheBench::fully_associative(4));
  bench.compute.store(0, sector);
  bench.compute.load(0, sector);
  bench.compute.load(line, line);
  bench.settle();
  REQUIRE(bench.statistic("hits") == 1);
  bench.flush();
  bench.settle();
  REQUIRE(bench.memory.bytes_of(Operation::store) == sector);
}

TEST_CASE("a flush is busy until its last write-back is answered, and empties the cache") {
  CacheBench bench(CacheBench::fully_associative(4));
  bench.compute.store(0, line);
  bench.compute.load(line, line);
  bench.settle();
  REQUIRE(!bench.busy());
  const Picoseconds begin = now();
  bench.flush();
  REQUIRE(bench.busy());
  bench.wait(CacheBench::memory_latency + bench.memory.latency - 1);
  REQUIRE(bench.busy());
  REQUIRE(bench.registers["interrupt"] == 0);
  bench.wait(2);
  REQUIRE(!bench.busy());
  REQUIRE(bench.registers["interrupt"] == 1);
  REQUIRE(bench.memory.accesses(Operation::store).at(0).arrival == begin + CacheBench::memory_latency);
  bench.compute.load(0, line);
  bench.compute.load(line, line);
  bench.settle();
  REQUIRE(bench.statistic("hits") == 0);
  bench.flush();
  REQUIRE(!bench.busy());
}

TEST_CASE("uncached accesses go past the cache") {
  CacheBench bench(CacheBench::fully_associative(4));
  for (const Operation operation : {Operation::load, Operation::store}) {
    Transaction& transaction = bench.compute.make(operation, 0x800, {1, line, 0});
    transaction.extension().cached = false;
    bench.compute.send(transaction, 5'000);
  }
  bench.settle();
  const auto passed = bench.log_of(CacheBench::bypass);
  REQUIRE(passed.size() == 2);
  REQUIRE(bench.memory.log.size() == 2);
  REQUIRE(passed[0].arrival == 5'000 + bench.parameters.latency + CacheBench::memory_latency);
  REQUIRE(bench.compute.answers[0].time == passed[0].arrival + bench.memory.latency);
  REQUIRE(bench.compute.all_answered_well());
  REQUIRE(bench.statistic("hits") + bench.statistic("misses") + bench.statistic("stores") == 0);
}

TEST_CASE("a fetch-and-add of either side finds in memory what the cache has stored, and leaves no copy") {
  CacheBench bench(CacheBench::fully_associative(4));
  std::uint64_t expected = 0;
  for (Requester* from : {&bench.compute, &bench.peer}) {
    Transaction& store = bench.compute.make(Operation::store, 0x40, {1, 8, 0});
    store.attach_buffer();
    store.get_data_ptr()[0] = static_cast<unsigned char>(expected = 50);
    bench.compute.send(store);
    Transaction& add = from->make(Operation::fetch_add, 0x40, {1, 8, 0});
    add.attach_buffer();
    add.extension().addend = 3;
    const std::size_t number = from->send(add);
    bench.settle();
    REQUIRE(from->answers[number].status == tlm::TLM_OK_RESPONSE);
    CHECK(from->answers[number].data[0] == 50);
    CHECK(bench.memory.at(0x40)[0] == 53);
    Transaction& load = bench.compute.make(Operation::load, 0x40, {1, 8, 0});
    load.attach_buffer();
    const std::size_t loaded = bench.compute.send(load);
    bench.settle();
    CHECK(bench.compute.answers[loaded].data[0] == 53);
  }
}

TEST_CASE("a peer's load comes behind the writes of the same bytes that are on their way") {
  CacheBench bench(CacheBench::fully_associative(4));
  Transaction& store = bench.peer.make(Operation::store, 0x40, {1, 32, 0});
  store.attach_buffer();
  store.get_data_ptr()[0] = 9;
  bench.peer.send(store, 20'000);
  Transaction& load = bench.peer.make(Operation::load, 0x40, {1, 32, 0});
  load.attach_buffer();
  const std::size_t number = bench.peer.send(load, 10'000);
  bench.settle();
  CHECK(bench.peer.answers[number].data[0] == 9);
}

TEST_CASE("updates never stop in the cache, not even when they may be cached and hit") {
  CacheBench bench(CacheBench::fully_associative(4));
  bench.compute.load(0, line);
  bench.settle();
  bench.compute.send(bench.compute.make(Operation::update, 0, {1, line, 0}));
  bench.settle();
  const auto passed = bench.log_of(CacheBench::bypass);
  REQUIRE(passed.size() == 1);
  REQUIRE(passed[0].operation == Operation::update);
  bench.flush();
  bench.settle();
  REQUIRE(bench.memory.accesses(Operation::store).empty());
}

TEST_CASE("a peer's write drops what it overwrites, sector by sector, and goes on to memory") {
  CacheBench bench(CacheBench::fully_associative(4));
  bench.compute.store(0, line);
  bench.compute.load(line, line);
  bench.settle();
  bench.peer.store(sector, sector);
  bench.peer.send(bench.peer.make(Operation::update, line, {1, sector, 0}));
  bench.settle();
  REQUIRE(bench.peer.all_answered_well());
  REQUIRE(bench.log_of(CacheBench::from_peers).size() == 2);
  REQUIRE(bench.statistic("dropped") == 2);
  bench.compute.load(0, 2 * line);
  bench.settle();
  REQUIRE(bench.statistic("hits") == 6);
  bench.flush();
  bench.settle();
  std::uint64_t written = 0;
  for (const LoggedAccess& access : bench.log_of(CacheBench::fills))
    if (access.operation == Operation::store) written += access.shape.bytes();
  REQUIRE(written == 3 * sector);  // not the one that the peer has written
}

TEST_CASE("a line that peers have written whole makes room, and pushes nobody out") {
  CacheBench bench(CacheBench::fully_associative(4));
  for (std::uint64_t i = 0; i < 4; ++i) bench.compute.load(i * line, line);
  bench.settle();
  bench.peer.store(3 * line, line);
  bench.settle();
  bench.compute.load(4 * line, line);
  bench.settle();
  const double before = bench.statistic("misses");
  for (const std::uint64_t i : {0u, 1u, 2u, 4u}) bench.compute.load(i * line, line);
  bench.settle();
  REQUIRE(bench.statistic("misses") == before);
}

TEST_CASE("a peer's write to a line under way does not keep its loads from finishing") {
  CacheBench bench(CacheBench::fully_associative(4));
  bench.compute.load(0, line);
  bench.wait(200'000);
  bench.peer.store(0, line);
  bench.compute.load(0, line);
  bench.settle();
  REQUIRE(bench.compute.all_answered_well());
  REQUIRE(bench.log_of(CacheBench::fills).size() == 2);  // what the peer wrote is read again
}

TEST_CASE("a peer's load drops nothing") {
  CacheBench bench(CacheBench::fully_associative(4));
  bench.compute.store(0, line);
  bench.settle();
  bench.peer.load(0, line);
  bench.settle();
  REQUIRE(bench.statistic("dropped") == 0);
  bench.flush();
  bench.settle();
  REQUIRE(bench.memory.bytes_of(Operation::store) == line);
}

TEST_CASE("malformed payloads are answered") {
  CacheBench bench(CacheBench::fully_associative(4));
  for (Requester* requester : {&bench.compute, &bench.peer}) {
    Transaction& unlike = requester->make(Operation::load, 0, {4, line, line});
    unlike.set_data_length(line);
    unlike.attach_buffer();
    const std::size_t first = requester->send(unlike);
    Transaction& empty = requester->make(Operation::store, 16, {0, 0, 0});
    const std::size_t second = requester->send(empty);
    bench.settle();
    REQUIRE(requester->answers[first].status == tlm::TLM_GENERIC_ERROR_RESPONSE);
    REQUIRE(requester->answers[second].status == tlm::TLM_GENERIC_ERROR_RESPONSE);
  }
  REQUIRE(dirty_sectors(bench) == 0);
}

TEST_CASE("every dirty sector is written back once, in its line's class, or overwritten by a peer") {
  CacheBench bench(CacheBench::of_sets(8, 4));
  constexpr std::uint64_t bytes = 4 * 8 * 4 * line;  // four times the cache
  std::vector<bool> dirty(bytes);
  std::map<std::uint64_t, TrafficClass> producer;  // by line
  std::vector<unsigned char> reference(bytes);
  std::uint64_t loaded = 0;
  const auto is_dirty = [&](std::uint64_t at) {
    const auto begin = dirty.begin() + static_cast<std::ptrdiff_t>(at / sector * sector);
    return std::count(begin, begin + sector, true) != 0;
  };
  bench.memory.observe = [&](const LoggedAccess& access) {
    if (access.port != CacheBench::fills || access.operation != Operation::store) return;
    REQUIRE(access.address % sector == 0);
    REQUIRE(access.shape.bytes() % sector == 0);
    for (std::uint64_t at = access.address; at < access.address + access.shape.bytes(); at += sector) {
      REQUIRE(is_dirty(at));
      REQUIRE(access.traffic == producer[at / line]);
      std::fill_n(dirty.begin() + static_cast<std::ptrdiff_t>(at), sector, false);
    }
  };
  std::mt19937 random(10);
  const auto below = [&](std::uint64_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int i = 0; i < 20'000; ++i) {
    const std::uint32_t length = 1 + below(line);
    const std::uint64_t address = below(bytes - length), end = address + length;
    const std::uint32_t what = below(10);
    Requester& requester = what < 8 ? bench.compute : bench.peer;
    const Operation operation = what < 4 ? Operation::load : Operation::store;
    const TrafficClass traffic = i % 2 == 0 ? TrafficClass::rs_write : TrafficClass::gemm_write;
    Transaction& transaction = requester.make(operation, address, {1, length, 0});
    transaction.attach_buffer();
    transaction.extension().traffic = traffic;
    for (std::uint64_t at = address; operation == Operation::store && at < end; ++at)
      transaction.get_data_ptr()[at - address] = reference[at] = static_cast<unsigned char>(random());
    // The first line of a store is dirty before the second is allocated, and may have to make room for it. What is
    // written back of the second line during the store is what it held before: it may have to make room for the first.
    const auto stored = [&](std::uint64_t from, std::uint64_t to) {
      for (std::uint64_t at = from; at < to; ++at) {
        dirty[at] = what < 8;
        if (what < 8) producer[at / line] = traffic;
      }
    };
    const std::uint64_t second_line = what < 8 ? std::min(end, (address / line + 1) * line) : end;
    if (operation == Operation::load)
      loaded += (end - 1) / sector - address / sector + 1;
    else
      stored(address, second_line);
    requester.send(transaction);
    if (operation == Operation::store) stored(second_line, end);
    if (what >= 8 || below(4) == 0) bench.wait(below(3) * 200'000);  // also loads that meet fills in flight
    if (what >= 8) bench.settle();
    if (below(2000) == 0) bench.flush();
  }
  bench.settle();
  bench.flush();
  bench.settle();
  REQUIRE(std::count(dirty.begin(), dirty.end(), true) == 0);
  REQUIRE(bench.compute.all_answered_well());
  REQUIRE(bench.peer.all_answered_well());
  REQUIRE(bench.statistic("hits") + bench.statistic("misses") == static_cast<double>(loaded));
  REQUIRE(!bench.busy());
  REQUIRE(std::equal(reference.begin(), reference.end(), bench.memory.at(0)));
}

}  // namespace t3vp::test::cache_stores_test
