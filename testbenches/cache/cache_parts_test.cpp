// The cache's records of stored bytes and of writes in flight, against references that work byte by byte.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "cache/dirty_bytes.h"
#include "cache/write_order.h"

namespace t3vp::test::cache_parts_test {

using namespace cache;

TEST_CASE("dirty bytes are those of a set, in lines of any size") {
  for (const auto& [line, sector] : {std::pair{32u, 8u}, {128u, 32u}, {128u, 128u}, {1024u, 128u}}) {
    CacheParameters parameters;
    parameters.line_bytes = line;
    parameters.sector_bytes = sector;
    constexpr CacheTags::Slot slots = 3;
    DirtyBytes dirty(parameters, slots);
    std::vector<std::set<std::uint32_t>> reference(slots);
    std::mt19937 random(line);
    const auto below = [&random](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    for (CacheTags::Slot slot = 0; slot < slots; ++slot) dirty.begin(slot, 0);
    for (int i = 0; i < 3'000; ++i) {
      const CacheTags::Slot slot = below(slots);
      const std::uint32_t from = below(line), to = from + 1 + below(line - from);
      std::set<std::uint32_t>& bytes = reference[slot];
      if (i % 100 == 0) {
        const auto sectors = static_cast<std::uint8_t>(below(1u << (line / sector)));
        dirty.begin(slot, sectors);
        bytes.clear();
        for (std::uint32_t at = 0; at < line; ++at)
          if ((sectors >> (at / sector) & 1) != 0) bytes.insert(at);
      } else if (i % 2 == 0) {
        dirty.add(slot, from, to);
        for (std::uint32_t at = from; at < to; ++at) bytes.insert(at);
      } else {
        dirty.remove(slot, from, to);
        for (std::uint32_t at = from; at < to; ++at) bytes.erase(at);
      }
      const auto count = [&bytes = bytes](std::uint32_t begin, std::uint32_t end) {
        return static_cast<std::uint32_t>(std::distance(bytes.lower_bound(begin), bytes.lower_bound(end)));
      };
      CAPTURE(line, sector, i);
      REQUIRE(dirty.contains(slot, from, to) == (count(from, to) == to - from));
      REQUIRE(dirty.contains(slot, from) == (count(from, from + 1) == 1));
      for (std::uint32_t s = 0; s < line / sector; ++s) {
        const std::uint32_t found = count(s * sector, (s + 1) * sector);
        REQUIRE((dirty.full(slot) >> s & 1) == (found == sector ? 1 : 0));
        REQUIRE((dirty.some(slot) >> s & 1) == (found != 0 ? 1 : 0));
      }
    }
  }
}

TEST_CASE("nothing is sent ahead of a write of the same sectors, and other lines and sectors are not held up") {
  struct Write {
    std::uint64_t line;
    std::uint8_t sectors;
    Picoseconds arrival;
  };
  WriteOrder order;
  std::vector<Write> writes;  // of each line, one that represents all in flight
  std::mt19937 random(3);
  Picoseconds earliest = 1;
  for (int i = 0; i < 30'000; ++i) {
    if (random() % 3 == 0) earliest += random() % 200;
    writes.erase(
        std::remove_if(writes.begin(), writes.end(), [&](const Write& write) { return write.arrival < earliest; }),
        writes.end());
    // Few lines with the same bucket as others, many of a large memory.
    const std::uint64_t line = random() % 2 == 0 ? random() % 50 : random() % (1u << 31);
    const auto sectors = static_cast<std::uint8_t>(1 + random() % 15);
    const Picoseconds arrival = earliest + random() % 20'000;
    Picoseconds expected = arrival;
    for (const Write& write : writes)
      if (write.line == line && (write.sectors & sectors) != 0) expected = std::max(expected, write.arrival + 1);
    REQUIRE(order.after(line, sectors, arrival) == expected);
    order.add(line, sectors, expected, earliest);
    const auto same =
        std::find_if(writes.begin(), writes.end(), [&](const Write& write) { return write.line == line; });
    if (same == writes.end())
      writes.push_back({line, sectors, expected});
    else
      *same = {line, static_cast<std::uint8_t>(same->sectors | sectors), std::max(same->arrival, expected)};
  }
}

}  // namespace t3vp::test::cache_parts_test
