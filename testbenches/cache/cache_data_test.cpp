// What the cache's lines hold, and who sees it.
#include <catch2/catch.hpp>

#include "cache_bench.h"

namespace t3vp::test::cache_data_test {

using namespace cache;

namespace {

constexpr std::uint32_t line = 128, sector = 32;

/// An access with data; a store's bytes are all `value`.
Transaction& access_with_data(Requester& requester, Operation operation, std::uint64_t address, const Shape& shape,
                              unsigned char value = 0) {
  Transaction& transaction = requester.make(operation, address, shape);
  transaction.attach_buffer();
  std::fill_n(transaction.get_data_ptr(), shape.bytes(), value);
  return transaction;
}

std::size_t store(Requester& requester, std::uint64_t address, std::uint32_t bytes, unsigned char value,
                  Picoseconds delay = 0) {
  return requester.send(access_with_data(requester, Operation::store, address, {1, bytes, 0}, value), delay);
}

std::size_t load(CacheBench& bench, std::uint64_t address, std::uint32_t bytes, Picoseconds delay = 0) {
  return bench.compute.send(access_with_data(bench.compute, Operation::load, address, {1, bytes, 0}), delay);
}

std::vector<unsigned char> loaded(CacheBench& bench, std::uint64_t address, std::uint32_t bytes) {
  const std::size_t number = load(bench, address, bytes);
  bench.settle();
  REQUIRE(bench.compute.answers[number].status == tlm::TLM_OK_RESPONSE);
  return bench.compute.answers[number].data;
}

std::vector<unsigned char> in_memory(CacheBench& bench, std::uint64_t address, std::uint32_t bytes) {
  return {bench.memory.at(address), bench.memory.at(address) + bytes};
}

std::vector<unsigned char> bytes_of(std::initializer_list<std::pair<std::uint32_t, unsigned char>> runs) {
  std::vector<unsigned char> result;
  for (const auto& [count, value] : runs) result.insert(result.end(), count, value);
  return result;
}

/// A debug read of one row through a socket.
template <typename Socket>
std::vector<unsigned char> seen(Socket& socket, std::uint64_t address, std::uint32_t bytes) {
  std::vector<unsigned char> data(bytes);
  tlm::tlm_generic_payload payload;
  payload.set_command(tlm::TLM_READ_COMMAND);
  payload.set_address(address);
  payload.set_data_ptr(data.data());
  payload.set_data_length(bytes);
  REQUIRE(socket->transport_dbg(payload) == bytes);
  return data;
}

}  // namespace

TEST_CASE("stores stay in the cache: memory has them after a flush, and loads before it") {
  CacheBench bench(CacheBench::fully_associative(8));
  store(bench.compute, 0x400, 2 * line, 7);
  bench.settle();
  REQUIRE(in_memory(bench, 0x400, 2 * line) == bytes_of({{2 * line, 0}}));
  REQUIRE(loaded(bench, 0x400, 2 * line) == bytes_of({{2 * line, 7}}));
  bench.flush();
  bench.settle();
  REQUIRE(in_memory(bench, 0x400, 2 * line) == bytes_of({{2 * line, 7}}));
  for (const LoggedAccess& access : bench.memory.log) REQUIRE(access.has_data);
}

TEST_CASE("what the driver, the DMA engine or near-memory units write is not seen by loads that hit, until a flush") {
  CacheBench bench(CacheBench::fully_associative(8));
  std::fill_n(bench.memory.at(0x400), line, 1);
  REQUIRE(loaded(bench, 0x400, line) == bytes_of({{line, 1}}));
  std::fill_n(bench.memory.at(0x400), line, 2);
  REQUIRE(loaded(bench, 0x400, line) == bytes_of({{line, 1}}));
  bench.flush();
  REQUIRE(loaded(bench, 0x400, line) == bytes_of({{line, 2}}));
}

TEST_CASE("a write-back writes the bytes that were stored, and no others of their sectors") {
  CacheBench bench(CacheBench::fully_associative(8));
  loaded(bench, 0, 2 * line);
  store(bench.compute, 8, 4, 7);         // in one sector
  store(bench.compute, 20, 30, 8);       // the same one and a part of the next
  store(bench.compute, line - 3, 6, 9);  // two lines
  bench.settle();
  std::fill_n(bench.memory.at(0), 2 * line, 1);  // what others have written meanwhile
  bench.memory.log.clear();
  bench.flush();
  bench.settle();
  REQUIRE(in_memory(bench, 0, 2 * line) ==
          bytes_of({{8, 1}, {4, 7}, {8, 1}, {30, 8}, {line - 53, 1}, {6, 9}, {line - 3, 1}}));
  REQUIRE(bench.memory.bytes_of(Operation::store) == 4 * sector);  // each sector once, as a DRAM writes it
}

TEST_CASE("a load of what was stored hits also where a sector was stored in part, one of its other bytes fetches it") {
  CacheBench bench(CacheBench::fully_associative(8));
  std::fill_n(bench.memory.at(0), line, 1);
  store(bench.compute, 0, 40, 7);  // a sector and a quarter
  bench.settle();
  REQUIRE(loaded(bench, 0, 40) == bytes_of({{40, 7}}));
  REQUIRE(bench.statistic("misses") == 0);
  REQUIRE(bench.memory.log.empty());
  REQUIRE(loaded(bench, 30, 20) == bytes_of({{10, 7}, {10, 1}}));
  REQUIRE(bench.statistic("misses") == 1);
  REQUIRE(loaded(bench, 0, 64) == bytes_of({{40, 7}, {24, 1}}));
  REQUIRE(bench.statistic("misses") == 1);
  store(bench.compute, 64, 16, 8);
  store(bench.compute, 80, 16, 9);  // together a whole sector
  bench.settle();
  REQUIRE(loaded(bench, 64, 32) == bytes_of({{16, 8}, {16, 9}}));
  REQUIRE(bench.statistic("misses") == 1);
}

TEST_CASE("a load sees the stores before it, also those to a line under way, and its fill does not undo them") {
  CacheBench bench(CacheBench::fully_associative(8));
  std::fill_n(bench.memory.at(0), line, 1);
  const std::size_t before = load(bench, 0, line);
  bench.wait(20'000);
  store(bench.compute, 10, 30, 7);
  const std::size_t after = load(bench, 0, line);
  bench.settle();
  REQUIRE(bench.compute.answers[before].data == bytes_of({{line, 1}}));
  REQUIRE(bench.compute.answers[after].data == bytes_of({{10, 1}, {30, 7}, {line - 40, 1}}));
  REQUIRE(loaded(bench, 0, line) == bytes_of({{10, 1}, {30, 7}, {line - 40, 1}}));
  REQUIRE(bench.memory.accesses(Operation::load).size() == 1);
}

TEST_CASE("a peer's write drops the bytes that it overwrites, and no stored byte beside them") {
  CacheBench bench(CacheBench::fully_associative(8));
  std::fill_n(bench.memory.at(0), line, 1);
  store(bench.compute, 0, 2 * sector, 7);
  bench.settle();
  store(bench.peer, 8, 48, 9);
  bench.settle();
  REQUIRE(loaded(bench, 0, line) == bytes_of({{8, 7}, {48, 9}, {8, 7}, {2 * sector, 1}}));
  bench.flush();
  bench.settle();
  REQUIRE(in_memory(bench, 0, line) == bytes_of({{8, 7}, {48, 9}, {8, 7}, {2 * sector, 1}}));
}

TEST_CASE("nothing is left of a line whose stored bytes peers have overwritten") {
  CacheBench bench(CacheBench::fully_associative(4));
  store(bench.compute, 8, 8, 7);
  bench.settle();
  store(bench.peer, 0, 12, 9);
  store(bench.peer, 12, 4, 9);
  bench.settle();
  bench.memory.log.clear();
  bench.flush();
  REQUIRE(!bench.busy());
  REQUIRE(bench.memory.log.empty());
  REQUIRE(in_memory(bench, 0, 20) == bytes_of({{16, 9}, {4, 0}}));
}

TEST_CASE("a fill does not overtake the write-back of its own line, however late that leaves") {
  CacheBench bench(CacheBench::fully_associative(2));
  store(bench.compute, 0, line, 7);
  bench.settle();
  load(bench, 2 * line, line, 900'000);  // with the delay of a compute unit's port: evict line 0
  load(bench, 3 * line, line, 900'000);
  const std::size_t again = load(bench, 0, line);
  bench.settle();
  REQUIRE(bench.compute.answers[again].data == bytes_of({{line, 7}}));
}

TEST_CASE("a peer's write is not undone by an older write-back, nor overtaken by a later fill") {
  CacheBench bench(CacheBench::fully_associative(2));
  store(bench.compute, 0, line, 7);
  bench.settle();
  load(bench, 2 * line, line, 900'000);
  load(bench, 3 * line, line, 900'000);
  store(bench.peer, sector, sector, 9, 500'000);  // announced by its link before it arrives
  bench.settle();
  REQUIRE(in_memory(bench, 0, line) == bytes_of({{sector, 7}, {sector, 9}, {2 * sector, 7}}));
  store(bench.peer, sector, sector, 10, 900'000);
  const std::size_t early = load(bench, 0, line);
  bench.settle();
  const auto expected = bytes_of({{sector, 7}, {sector, 10}, {2 * sector, 7}});
  REQUIRE(bench.compute.answers[early].data == expected);
  REQUIRE(loaded(bench, 0, line) == expected);
}

TEST_CASE("a flush's write-back does not arrive before an older one of the same line") {
  CacheBench bench(CacheBench::fully_associative(2));
  store(bench.compute, 0, line, 7);
  bench.settle();
  load(bench, 2 * line, line, 900'000);
  load(bench, 3 * line, line, 900'000);
  store(bench.compute, 0, line, 8);
  bench.flush();
  bench.settle();
  REQUIRE(in_memory(bench, 0, line) == bytes_of({{line, 8}}));
}

TEST_CASE("a load waits for each fill that brings bytes of its line, in whatever order they come") {
  CacheBench bench(CacheBench::fully_associative(8));
  for (std::uint32_t i = 0; i < line; ++i) bench.memory.at(0)[i] = static_cast<unsigned char>(i);
  for (const std::uint32_t last : {0u, sector}) {
    const std::size_t slow = load(bench, last, sector, 900'000), fast = load(bench, sector - last, sector);
    bench.wait(1'000);
    const std::size_t both = load(bench, 0, 2 * sector);
    bench.settle();
    REQUIRE(bench.compute.answers[both].time == bench.compute.answers[slow].time);
    REQUIRE(bench.compute.answers[fast].time < bench.compute.answers[slow].time);
    REQUIRE(bench.compute.answers[both].data == in_memory(bench, 0, 2 * sector));
    REQUIRE(bench.memory.log.size() == 2);
    bench.flush();
    bench.settle();
    bench.memory.log.clear();
  }
}

TEST_CASE("a fill that fails loses no stored byte") {
  CacheBench bench(CacheBench::fully_associative(8));
  store(bench.compute, 0, 8, 7);
  bench.memory.judge = [](const LoggedAccess& access) {
    return access.operation == Operation::load ? tlm::TLM_GENERIC_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE;
  };
  const std::size_t bad = load(bench, 0, 2 * sector);
  bench.wait(1'000);
  store(bench.compute, sector, sector, 8);
  bench.settle();
  REQUIRE(bench.compute.answers[bad].status == tlm::TLM_GENERIC_ERROR_RESPONSE);
  bench.memory.judge = nullptr;
  REQUIRE(loaded(bench, 0, 2 * sector) == bytes_of({{8, 7}, {24, 0}, {sector, 8}}));
  bench.flush();
  bench.settle();
  REQUIRE(in_memory(bench, 0, 2 * sector) == bytes_of({{8, 7}, {24, 0}, {sector, 8}}));
}

TEST_CASE("a fill that fails loses no stored byte, and a sector that was stored whole still hits") {
  CacheBench bench(CacheBench::fully_associative(8));
  bench.memory.judge = [](const LoggedAccess&) { return tlm::TLM_GENERIC_ERROR_RESPONSE; };
  const std::size_t bad = load(bench, 0, 2 * sector);
  bench.wait(1'000);
  store(bench.compute, sector, sector, 8);
  bench.settle();
  REQUIRE(bench.compute.answers[bad].status == tlm::TLM_GENERIC_ERROR_RESPONSE);
  REQUIRE(loaded(bench, sector, sector) == bytes_of({{sector, 8}}));
  REQUIRE(bench.memory.log.size() == 1);
}

TEST_CASE("a reset empties the cache and writes nothing back, and a load under way ends as it began") {
  CacheBench bench(CacheBench::fully_associative(8));
  std::fill_n(bench.memory.at(0), 2 * line, 1);
  store(bench.compute, 0, line, 7);
  bench.settle();
  const std::size_t in_flight = load(bench, line, line);
  bench.wait(1'000);
  bench.cache.registers.reset();
  bench.settle();
  REQUIRE(bench.compute.answers[in_flight].data == bytes_of({{line, 1}}));
  REQUIRE(bench.memory.accesses(Operation::store).empty());
  REQUIRE(loaded(bench, 0, line) == bytes_of({{line, 1}}));
}

TEST_CASE("uncached accesses neither see the cache nor change it: mixing the two is software's to avoid") {
  CacheBench bench(CacheBench::fully_associative(8));
  store(bench.compute, 0, line, 7);
  bench.settle();
  Transaction& past = access_with_data(bench.compute, Operation::load, 0, {1, line, 0});
  past.extension().cached = false;
  const std::size_t uncached = bench.compute.send(past);
  bench.settle();
  REQUIRE(bench.compute.answers[uncached].data == bytes_of({{line, 0}}));
  REQUIRE(loaded(bench, 0, line) == bytes_of({{line, 7}}));
}

namespace {

constexpr unsigned char stored = 0x3C;  // of both bytes of an fp16, whose double is 0x403C

std::size_t update(CacheBench& bench, std::uint64_t address, std::uint32_t bytes, Picoseconds delay = 0) {
  Transaction& transaction = access_with_data(bench.compute, Operation::update, address, {1, bytes, 0}, stored);
  return bench.compute.send(transaction, delay);
}

std::vector<unsigned char> doubled(std::uint32_t bytes) {
  std::vector<unsigned char> result(bytes, stored);
  for (std::uint32_t i = 1; i < bytes; i += 2) result[i] = 0x40;
  return result;
}

}  // namespace

TEST_CASE("an update adds to what was stored and leaves nothing of the lines that it touches in the cache") {
  CacheBench bench(CacheBench::fully_associative(8));
  store(bench.compute, 0, line, stored);
  load(bench, line, line);
  bench.settle();
  update(bench, 3 * sector, 2 * sector);
  bench.settle();
  std::vector<unsigned char> expected(3 * sector, stored);
  const auto twice = doubled(sector);
  expected.insert(expected.end(), twice.begin(), twice.end());
  expected.insert(expected.end(), sector, stored);
  expected.insert(expected.end(), 3 * sector, 0);
  REQUIRE(in_memory(bench, 0, 2 * line) == expected);
  REQUIRE(bench.statistic("dropped") == 8);
  REQUIRE(loaded(bench, 0, 2 * line) == expected);
  bench.flush();
  bench.settle();
  REQUIRE(in_memory(bench, 0, 2 * line) == expected);
}

TEST_CASE("an update does not arrive before an older write-back of its line") {
  CacheBench bench(CacheBench::fully_associative(2));
  store(bench.compute, 0, line, stored);
  bench.settle();
  load(bench, 2 * line, line, 900'000);
  load(bench, 3 * line, line, 900'000);
  update(bench, 0, line, 500'000);
  bench.settle();
  REQUIRE(in_memory(bench, 0, line) == doubled(line));
}

TEST_CASE("debug accesses: compute units' see the cache first, also what it is writing back, peers' see memory") {
  CacheBench bench(CacheBench::fully_associative(2));
  std::fill_n(bench.memory.at(0), 4 * line, 1);
  store(bench.compute, 8, 16, 7);
  bench.settle();
  const auto cached = bytes_of({{8, 1}, {16, 7}, {line - 24, 1}});
  REQUIRE(seen(bench.compute.socket, 0, line) == cached);
  REQUIRE(seen(bench.peer.socket, 0, line) == bytes_of({{line, 1}}));
  load(bench, 2 * line, line);
  load(bench, 3 * line, line);
  REQUIRE(seen(bench.compute.socket, 0, line) == cached);  // on its way to memory
  REQUIRE(in_memory(bench, 0, line) == bytes_of({{line, 1}}));
  bench.settle();
  REQUIRE(in_memory(bench, 0, line) == cached);

  const double hits = bench.statistic("hits");
  std::vector<unsigned char> written(2 * line, 5);
  tlm::tlm_generic_payload debug;
  debug.set_command(tlm::TLM_WRITE_COMMAND);
  debug.set_address(line);
  debug.set_data_ptr(written.data());
  debug.set_data_length(2 * line);
  REQUIRE(bench.compute.socket->transport_dbg(debug) == 2 * line);
  REQUIRE(in_memory(bench, line, 2 * line) == written);
  REQUIRE(bench.statistic("hits") == hits);
  REQUIRE(loaded(bench, 2 * line, line) == std::vector<unsigned char>(line, 5));
  REQUIRE(bench.statistic("hits") == hits + 4);
}

TEST_CASE("lines are of accesses with data or without: one of the other kind begins its line anew") {
  CacheBench bench(CacheBench::fully_associative(4));
  std::fill_n(bench.memory.at(0), line, 1);
  bench.compute.load(0, line);  // timing only
  bench.settle();
  REQUIRE(loaded(bench, 0, line) == bytes_of({{line, 1}}));
  store(bench.compute, 0, sector, 7);
  bench.compute.store(2 * sector, sector);
  bench.settle();
  REQUIRE(in_memory(bench, 0, line) == bytes_of({{sector, 7}, {3 * sector, 1}}));
  REQUIRE(loaded(bench, 0, line) == bytes_of({{sector, 7}, {3 * sector, 1}}));
  bench.flush();
  bench.settle();
  REQUIRE(in_memory(bench, 0, line) == bytes_of({{sector, 7}, {3 * sector, 1}}));
}

}  // namespace t3vp::test::cache_data_test
