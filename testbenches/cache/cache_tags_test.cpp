#include "cache/cache_tags.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <list>
#include <map>
#include <random>
#include <tuple>

namespace t3vp::test::cache_tags_test {

using namespace cache;

namespace {

/// There is one bank per set, so that bank_of() returns a line's set.
CacheParameters one_bank_per_set(std::uint32_t sets, std::uint32_t ways) {
  CacheParameters parameters;
  parameters.banks = sets;
  parameters.ways = ways;
  parameters.capacity_bytes = std::uint64_t{sets} * ways * parameters.line_bytes;
  return parameters;
}

CacheParameters of_capacity(std::uint64_t bytes) {
  CacheParameters parameters;
  parameters.capacity_bytes = bytes;
  return parameters;
}

/// Lists of lines by set, the most recently used first.
class ReferenceLru {
 public:
  explicit ReferenceLru(std::uint32_t ways) : ways_(ways) {}

  bool use(std::uint32_t set, std::uint64_t line) {
    std::list<std::uint64_t>& lines = sets_[set];
    const auto found = std::find(lines.begin(), lines.end(), line);
    if (found == lines.end()) return false;
    lines.splice(lines.begin(), lines, found);
    return true;
  }
  /// The line that has to make room, or none.
  std::vector<std::uint64_t> insert(std::uint32_t set, std::uint64_t line) {
    std::list<std::uint64_t>& lines = sets_[set];
    std::vector<std::uint64_t> evicted;
    if (lines.size() == ways_) {
      evicted.push_back(lines.back());
      lines.pop_back();
    }
    lines.push_front(line);
    return evicted;
  }
  void drop(std::uint32_t set, std::uint64_t line) { sets_[set].remove(line); }
  void clear() { sets_.clear(); }

 private:
  std::size_t ways_;
  std::map<std::uint32_t, std::list<std::uint64_t>> sets_;
};

void touch(CacheTags& tags, std::uint64_t line) {
  const CacheTags::Slot found = tags.find(tags.place_of(line));
  if (found == CacheTags::none)
    tags.occupy(tags.victim(tags.place_of(line)), line);
  else
    tags.use(found);
}

}  // namespace

TEST_CASE("tags are those of a least recently used reference on random traffic") {
  for (const auto& [sets, ways] :
       {std::pair{1u, 4u}, {16u, 1u}, {8u, 16u}, {64u, 3u}, {4u, 17u}, {2u, 40u}, {1u, 256u}}) {
    CacheTags tags(one_bank_per_set(sets, ways));
    ReferenceLru reference(ways);
    std::mt19937_64 random(sets);
    for (int i = 0; i < 40'000; ++i) {
      if (i % 15'000 == 14'999) {
        tags.clear();
        reference.clear();
      }
      // Lines of the size of the cache, with some from all over a large memory.
      const std::uint64_t line = random() % 10 == 0 ? random() % (1u << 31) : random() % (2 * sets * ways);
      const std::uint32_t set = tags.place_of(line).bank;
      REQUIRE(set < sets);
      const CacheTags::Slot found = tags.find(tags.place_of(line));
      REQUIRE((found != CacheTags::none) == reference.use(set, line));
      if (found != CacheTags::none) {
        REQUIRE(tags.holds(found, line));
        REQUIRE(tags.line_in(found) == line);
        tags.use(found);
        if (random() % 16 == 0) {
          tags.drop(found);
          reference.drop(set, line);
          REQUIRE(!tags.occupied(found));
          REQUIRE(tags.victim(tags.place_of(line)) == found);
        }
        continue;
      }
      const CacheTags::Slot victim = tags.victim(tags.place_of(line));
      const auto evicted = reference.insert(set, line);
      REQUIRE(tags.occupied(victim) == !evicted.empty());
      if (!evicted.empty()) REQUIRE(tags.line_in(victim) == evicted.front());
      tags.occupy(victim, line);
      REQUIRE(tags.line(victim).valid == 0);
    }
  }
}

TEST_CASE("groups of lines keep the order of ages that single uses give") {
  // Few lines and sets, so that groups overlap, break, and have their ages asked for all the time.
  for (const auto& [sets, ways, lines, stamp] : {std::tuple{4u, 4u, 30u, 0},
                                                 {8u, 16u, 200u, 0},
                                                 {2u, 19u, 60u, CacheTags::last_stamp - 500},
                                                 {64u, 16u, 1500u, CacheTags::last_stamp - 90'000}}) {
    CacheTags tags(one_bank_per_set(sets, ways), stamp);
    ReferenceLru reference(ways);
    std::mt19937_64 random(lines);
    std::vector<std::pair<std::uint64_t, CacheTags::Group>> known;  // first line of a block, its group
    unsigned repeated = 0;
    for (int i = 0; i < 30'000; ++i) {
      const std::uint64_t first = random() % lines, count = 2 + first % 7, step = 1 + first % 3;
      const auto block =
          std::find_if(known.begin(), known.end(), [first = first](const auto& one) { return one.first == first; });
      if (block != known.end() && tags.is_whole(block->second)) {
        tags.use_group(block->second);
        for (std::uint64_t n = 0; n < count; ++n)
          REQUIRE(reference.use(tags.place_of(first + n * step).bank, first + n * step));
        ++repeated;
        continue;
      }
      std::vector<CacheTags::Slot> slots;
      for (std::uint64_t n = 0; n < count; ++n) {
        const std::uint64_t line = first + n * step;
        const std::uint32_t set = tags.place_of(line).bank;
        CacheTags::Slot slot = tags.find(tags.place_of(line));
        REQUIRE((slot != CacheTags::none) == reference.use(set, line));
        if (slot == CacheTags::none) {
          slot = tags.victim(tags.place_of(line));
          const auto evicted = reference.insert(set, line);
          REQUIRE(tags.occupied(slot) == !evicted.empty());
          if (!evicted.empty()) REQUIRE(tags.line_in(slot) == evicted.front());
          tags.occupy(slot, line);
        } else {
          tags.use(slot);
        }
        slots.push_back(slot);
      }
      bool all_stay = true;
      for (std::uint64_t n = 0; n < count; ++n) all_stay = all_stay && tags.holds(slots[n], first + n * step);
      if (block != known.end()) known.erase(block);
      if (all_stay) known.emplace_back(first, tags.group(slots));
      if (random() % 50 == 0) {
        const std::uint64_t line = random() % lines;
        if (const CacheTags::Slot slot = tags.find(tags.place_of(line)); slot != CacheTags::none) {
          tags.drop(slot);
          reference.drop(tags.place_of(line).bank, line);
        }
      }
    }
    CHECK(repeated > 300);
  }
}

TEST_CASE("a group is whole until one of its lines is dropped, replaced or loses a sector") {
  CacheTags tags(one_bank_per_set(1, 4));
  std::vector<CacheTags::Slot> slots;
  for (std::uint64_t line = 0; line < 3; ++line) {
    touch(tags, line);
    slots.push_back(tags.find(tags.place_of(line)));
  }
  const auto whole = [&](const auto& change) {
    const CacheTags::Group group = tags.group(slots);
    REQUIRE(tags.is_whole(group));
    change();
    return tags.is_whole(group);
  };
  CHECK(whole([&] { tags.use(slots[1]); }));
  CHECK(whole([&] { touch(tags, 7); }));
  CHECK_FALSE(whole([&] { tags.break_groups(slots[2]); }));
  CHECK_FALSE(whole([&] { tags.drop(slots[2]); }));
  touch(tags, 2);
  CHECK_FALSE(whole([&] { tags.occupy(slots[0], 9); }));
  CHECK_FALSE(whole([&] { tags.clear(); }));
  CHECK_FALSE(tags.is_whole(CacheTags::no_group));
}

TEST_CASE("more groups than are kept: the first ones end, and their lines keep their ages") {
  CacheTags tags(one_bank_per_set(1, 4));
  for (std::uint64_t line = 0; line < 4; ++line) touch(tags, line);
  const CacheTags::Slot first = tags.find(tags.place_of(0)), other = tags.find(tags.place_of(3));
  const CacheTags::Group group = tags.group({first});
  tags.use_group(group);  // the youngest now
  for (int i = 0; i < 70'000; ++i) {
    tags.use(other);
    tags.group({other});
  }
  CHECK_FALSE(tags.is_whole(group));
  CHECK(tags.line_in(tags.victim(tags.place_of(9))) == 1);
  touch(tags, 9);
  touch(tags, 10);
  CHECK(tags.line_in(tags.victim(tags.place_of(11))) == 0);
}

TEST_CASE("an array of the cache's size fits, also with a number of sets that is no power of two") {
  constexpr std::uint64_t mebibyte = 1u << 20;
  for (const std::uint64_t size : {16 * mebibyte, 12 * mebibyte, 6 * mebibyte})
    for (const std::uint64_t begin : {0 * mebibyte, 5 * mebibyte, 1000 * mebibyte}) {
      const CacheParameters parameters = of_capacity(size);
      const std::uint64_t first = begin / parameters.line_bytes, end = first + size / parameters.line_bytes;
      CacheTags tags(parameters);
      for (std::uint64_t line = first; line < end; ++line) touch(tags, line);
      std::uint64_t present = 0;
      for (std::uint64_t line = first; line < end; ++line)
        if (tags.find(tags.place_of(line)) != CacheTags::none) ++present;
      INFO(size / mebibyte << " MiB from " << begin / mebibyte << " MiB");
      REQUIRE(present == end - first);
    }
}

TEST_CASE("the rows of a tile spread over the banks") {
  const CacheParameters parameters = of_capacity(16u << 20);
  CacheTags tags(parameters);
  // Two lines of each of 128 rows, the rows as far apart as in matrices of 1536 to 65536 fp16 columns, and 1 MiB.
  for (const std::uint64_t row_lines : {24u, 64u, 96u, 192u, 320u, 512u, 1024u, 8192u}) {
    std::map<std::uint32_t, unsigned> lines_by_bank;
    for (std::uint64_t row = 0; row < 128; ++row)
      for (std::uint64_t column = 0; column < 2; ++column)
        ++lines_by_bank[tags.place_of(row * row_lines + column).bank];
    unsigned most = 0;
    for (const auto& [bank, lines] : lines_by_bank) most = std::max(most, lines);
    INFO(row_lines * parameters.line_bytes << " bytes from row to row");
    REQUIRE(most <= 4 * 256 / parameters.banks);
  }
}

TEST_CASE("lines a power of two apart use all sets, also of a cache with as many banks as sets in a bank") {
  for (const std::uint32_t banks : {64u, 128u, 256u}) {
    CacheParameters parameters;
    parameters.banks = banks;
    parameters.ways = 16;
    parameters.capacity_bytes = std::uint64_t{banks} * 128 * parameters.ways * parameters.line_bytes;
    for (const std::uint64_t stride : {32u, 64u, 128u, 256u, 1024u}) {
      CacheTags tags(parameters);
      const std::uint64_t lines = parameters.capacity_bytes / parameters.line_bytes / 4;
      for (std::uint64_t i = 0; i < lines; ++i) touch(tags, i * stride);
      std::uint64_t present = 0;
      for (std::uint64_t i = 0; i < lines; ++i)
        if (tags.find(tags.place_of(i * stride)) != CacheTags::none) ++present;
      CAPTURE(banks, stride);
      CHECK(present == lines);
    }
  }
}

TEST_CASE("a line with data on its way is evicted only when all of its set have some") {
  for (const std::uint32_t ways : {4u, 19u}) {
    CacheTags tags(one_bank_per_set(1, ways));
    for (std::uint64_t line = 0; line < ways; ++line) touch(tags, line);  // line 0 is the oldest, in slot 0
    for (CacheTags::Slot slot = 0; slot < ways; ++slot) {
      REQUIRE(tags.victim(tags.place_of(99)) == slot);
      tags.line(slot).pending = 1;
    }
    REQUIRE(tags.victim(tags.place_of(99)) == 0);
  }
}

TEST_CASE("an empty set is filled in the order of its ways, before and after it is cleared") {
  for (const std::uint32_t ways : {4u, 16u, 23u}) {
    CacheTags tags(one_bank_per_set(1, ways));
    for (int round = 0; round < 2; ++round) {
      for (std::uint64_t line = 0; line < ways; ++line) {
        const CacheTags::Slot victim = tags.victim(tags.place_of(line));
        REQUIRE(victim == line);
        REQUIRE(!tags.occupied(victim));
        tags.occupy(victim, line);
      }
      tags.clear();
    }
  }
}

}  // namespace t3vp::test::cache_tags_test
