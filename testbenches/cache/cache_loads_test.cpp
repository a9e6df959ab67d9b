#include <array>
#include <catch2/catch.hpp>

#include "cache_bench.h"

namespace t3vp::test::cache_loads_test {

using namespace cache;

namespace {

constexpr std::uint32_t line = 128, sector = 32;
constexpr Picoseconds sector_time = 714;  // 32 bytes at 32 bytes per cycle, 1.4 GHz

/// Loads of one line each, one after the other; the share of hits of these loads.
double hit_rate_of_pass(CacheBench& bench, std::uint64_t lines) {
  const double hits = bench.statistic("hits"), misses = bench.statistic("misses");
  for (std::uint64_t i = 0; i < lines; ++i) {
    bench.compute.load(i * line, line);
    bench.settle();
  }
  const double new_hits = bench.statistic("hits") - hits, new_misses = bench.statistic("misses") - misses;
  REQUIRE(new_hits + new_misses == static_cast<double>(4 * lines));
  return new_hits / (new_hits + new_misses);
}

}  // namespace

TEST_CASE("a miss takes the way to memory and back, a hit the cache's latency and its bank's time") {
  CacheBench bench(CacheBench::fully_associative(8));
  const std::size_t miss = bench.compute.load(0x400, line);
  bench.settle();
  const Picoseconds begin = now();
  const std::size_t hit = bench.compute.load(0x400, line);
  bench.settle();
  REQUIRE(bench.compute.answers[miss].time ==
          bench.parameters.latency + CacheBench::memory_latency + bench.memory.latency);
  REQUIRE(bench.compute.answers[hit].time == begin + bench.parameters.latency + 4 * sector_time);
  const auto fills = bench.log_of(CacheBench::fills);
  REQUIRE(fills.size() == 1);
  REQUIRE((fills[0].address == 0x400 && fills[0].shape.bytes() == line && fills[0].operation == Operation::load));
  REQUIRE(fills[0].arrival == bench.parameters.latency + CacheBench::memory_latency);
  REQUIRE(fills[0].status_on_entry == tlm::TLM_INCOMPLETE_RESPONSE);
  REQUIRE(!fills[0].has_data);
}

TEST_CASE("a first pass misses, a second pass over the cache's capacity hits") {
  CacheBench bench(CacheBench::fully_associative(32));
  REQUIRE(hit_rate_of_pass(bench, 32) == 0);
  REQUIRE(hit_rate_of_pass(bench, 32) == 1);
  REQUIRE(bench.memory.bytes_of(Operation::load) == 32 * line);
  REQUIRE(bench.statistic("hit_rate") == 0.5);
}

TEST_CASE("with a line less than the capacity all hits, with one more least recently used misses all") {
  CacheBench bench(CacheBench::fully_associative(32));
  hit_rate_of_pass(bench, 31);
  REQUIRE(hit_rate_of_pass(bench, 31) == 1);
  bench.flush();
  hit_rate_of_pass(bench, 33);
  REQUIRE(hit_rate_of_pass(bench, 33) == 0);
  REQUIRE(hit_rate_of_pass(bench, 33) == 0);
}

TEST_CASE("only the sectors that are asked for are read") {
  CacheBench bench(CacheBench::fully_associative(8));
  bench.compute.load(0x100 + sector, sector);
  bench.compute.load(0x200 + 8, 4);   // within a sector
  bench.compute.load(0x300 + 60, 8);  // across two
  bench.settle();
  const auto fills = bench.log_of(CacheBench::fills);
  REQUIRE(fills.size() == 3);
  REQUIRE((fills[0].address == 0x100 + sector && fills[0].shape.bytes() == sector));
  REQUIRE((fills[1].address == 0x200 && fills[1].shape.bytes() == sector));
  REQUIRE((fills[2].address == 0x300 + sector && fills[2].shape.bytes() == 2 * sector));
  bench.compute.load(0x100, line);  // three sectors are missing
  bench.settle();
  REQUIRE(bench.statistic("misses") == 1 + 1 + 2 + 3);
  REQUIRE(bench.statistic("hits") == 1);
}

TEST_CASE("equal gaps at equal distances are filled by one read, each sector once") {
  CacheBench bench(CacheBench::of_sets(16, 8));
  const auto read = [&](std::uint64_t address, const Shape& shape) {
    bench.memory.log.clear();
    bench.compute.send(bench.compute.make(Operation::load, address, shape));
    bench.settle();
    std::vector<std::array<std::uint64_t, 4>> fills;  // address, rows, bytes of a row, stride
    for (const LoggedAccess& fill : bench.log_of(CacheBench::fills))
      fills.push_back({fill.address, fill.shape.rows, fill.shape.row_bytes, fill.shape.stride});
    return fills;
  };
  using Fills = std::vector<std::array<std::uint64_t, 4>>;
  REQUIRE(read(line, {1, 7 * line, 0}) == Fills{{line, 1, 7 * line, 0}});
  // Rows 2 and 5 of a tile are there already.
  REQUIRE(read(0x6000, {1, 96, 0}) == Fills{{0x6000, 1, 96, 0}});
  REQUIRE(read(0x9000, {1, 96, 0}) == Fills{{0x9000, 1, 96, 0}});
  REQUIRE(read(0x4000, {8, 96, 0x1000}) ==
          Fills{{0x4000, 2, 96, 0x1000}, {0x7000, 2, 96, 0x1000}, {0xA000, 2, 96, 0x1000}});
  // A row of three sectors of which one is missing in one row, two in the next.
  read(0x20000, {1, 64, 0});
  read(0x21000, {1, 32, 0});
  REQUIRE(read(0x20000, {2, 96, 0x1000}) == Fills{{0x20040, 1, 32, 0}, {0x21020, 1, 64, 0}});
  // Two rows in one line: the second waits for nothing that the first has not asked for.
  REQUIRE(read(0x30000, {4, 32, 32}) == Fills{{0x30000, 1, 128, 0}});
  REQUIRE(read(0x31000, {2, 32, 0}) == Fills{{0x31000, 1, 32, 0}});
  REQUIRE(read(0x4000, {8, 96, 0x1000}).empty());
  REQUIRE(bench.compute.all_answered_well());
}

TEST_CASE("hits on data under way wait for it and read nothing") {
  CacheBench bench(CacheBench::fully_associative(8));
  const std::size_t first = bench.compute.load(0, line);
  bench.wait(100'000);
  const std::size_t second = bench.compute.load(0, line);
  bench.wait(100'000);
  const std::size_t third = bench.compute.load(sector, sector);
  bench.settle();
  REQUIRE(bench.memory.log.size() == 1);
  const Picoseconds filled = bench.compute.answers[first].time;
  REQUIRE(bench.compute.answers[second].time == filled);
  REQUIRE(bench.compute.answers[third].time == filled);
  REQUIRE(bench.statistic("hits") == 5);
}

TEST_CASE("a load that is partly under way reads the rest and waits for both") {
  CacheBench bench(CacheBench::fully_associative(8));
  const std::size_t first = bench.compute.load(0, 2 * sector);
  bench.wait(50'000);
  const std::size_t second = bench.compute.load(0, line);
  bench.settle();
  const auto fills = bench.log_of(CacheBench::fills);
  REQUIRE(fills.size() == 2);
  REQUIRE((fills[1].address == 2 * sector && fills[1].shape.bytes() == 2 * sector));
  REQUIRE(bench.compute.answers[second].time == bench.compute.answers[first].time + 50'000);
}

TEST_CASE("an answer that is announced ahead fills the cache when it arrives, not before") {
  CacheParameters parameters = CacheBench::fully_associative(8);
  parameters.latency = 10'000;
  CacheBench bench(parameters);
  bench.memory.latency = 500'000;
  bench.memory.announced_ahead = 400'000;
  const std::size_t first = bench.compute.load(0, line);
  bench.wait(300'000);  // announced by now
  const std::size_t second = bench.compute.load(0, line);
  bench.settle();
  REQUIRE(bench.compute.answers[first].time == 10'000 + CacheBench::memory_latency + 500'000);
  REQUIRE(bench.compute.answers[second].time >= bench.compute.answers[first].time);
  REQUIRE(bench.memory.log.size() == 1);
}

TEST_CASE("a bank moves one sector after the other, banks work side by side") {
  CacheBench bench(CacheBench::of_sets(4, 8));
  std::vector<std::size_t> of_four_banks, of_one_bank;
  for (int pass = 0; pass < 2; ++pass) {
    for (std::uint64_t i = 0; i < 4; ++i) bench.compute.load(i * line, line);
    bench.settle();
  }
  const Picoseconds begin = now();
  for (std::uint64_t i = 0; i < 4; ++i) of_four_banks.push_back(bench.compute.load(i * line, line));
  bench.settle();
  const Picoseconds later = now();
  for (std::uint64_t i = 0; i < 4; ++i) of_one_bank.push_back(bench.compute.load(0, line));
  bench.settle();
  for (std::size_t i = 0; i < 4; ++i) {
    REQUIRE(bench.compute.answers[of_four_banks[i]].time == begin + bench.parameters.latency + 4 * sector_time);
    REQUIRE(bench.compute.answers[of_one_bank[i]].time == later + bench.parameters.latency + (i + 1) * 4 * sector_time);
  }
}

TEST_CASE("the bandwidth of all banks is never beaten") {
  const CacheParameters parameters = CacheBench::of_sets(8, 16);
  CacheBench bench(parameters);
  bench.compute.load(0, 64 * line);
  bench.settle();
  const Picoseconds begin = now();
  constexpr unsigned loads = 500;
  std::vector<std::size_t> numbers;
  for (unsigned i = 0; i < loads; ++i) numbers.push_back(bench.compute.load(i * 7 % 57 * line, 8 * line));
  bench.settle();
  Picoseconds end = 0;
  for (const std::size_t number : numbers) end = std::max(end, bench.compute.answers[number].time);
  const Picoseconds bound = loads * 8 * 4 * sector_time / parameters.banks;
  REQUIRE(end - begin >= parameters.latency + bound);
  REQUIRE(end - begin <= parameters.latency + bound + bound / 4);  // and nearly reached
}

TEST_CASE("what memory refuses comes back as an error, to all who wait for it, and is not kept") {
  CacheBench bench(CacheBench::fully_associative(8));
  bench.memory.judge = [](const LoggedAccess& access) {
    return access.address < line ? tlm::TLM_GENERIC_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE;
  };
  const std::size_t bad = bench.compute.load(0, line), also_bad = bench.compute.load(sector, sector);
  const std::size_t good = bench.compute.load(line, line);
  bench.settle();
  REQUIRE(bench.compute.answers[bad].status == tlm::TLM_GENERIC_ERROR_RESPONSE);
  REQUIRE(bench.compute.answers[also_bad].status == tlm::TLM_GENERIC_ERROR_RESPONSE);
  REQUIRE(bench.compute.answers[good].status == tlm::TLM_OK_RESPONSE);
  bench.memory.judge = nullptr;
  const std::size_t again = bench.compute.load(0, line);
  bench.settle();
  REQUIRE(bench.compute.answers[again].status == tlm::TLM_OK_RESPONSE);
  REQUIRE(bench.log_of(CacheBench::fills).size() == 3);
}

TEST_CASE("addresses beyond memory are memory's to refuse") {
  CacheBench bench(CacheBench::fully_associative(8));
  const std::size_t beyond = bench.compute.load(CacheBench::memory_bytes, line);
  const std::size_t across = bench.compute.store(CacheBench::memory_bytes - sector, line);
  bench.settle();
  REQUIRE(bench.compute.answers[beyond].status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  REQUIRE(bench.compute.answers[across].status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  REQUIRE(bench.log_of(CacheBench::bypass).size() == 2);
  for (const LoggedAccess& access : bench.memory.log) REQUIRE(access.status_on_entry == tlm::TLM_INCOMPLETE_RESPONSE);
}

}  // namespace t3vp::test::cache_loads_test
