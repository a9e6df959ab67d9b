// Which set of the Tracker's table a tile goes to.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "memory/tracker_table.h"

namespace t3vp::test::tracker_index_test {

using namespace memory;

namespace {

struct Tile {
  std::uint16_t chunk;
  std::uint32_t wg_id, wf_id;
};

constexpr std::uint32_t wavefronts = 4;

TrackerTable table(TrackerIndex index, std::uint32_t sets = 256) {
  TrackerParameters parameters;
  parameters.sets = sets;
  parameters.index = index;
  return TrackerTable(parameters);
}

/// Entries of the fullest set when all of these tiles are counted at once.
std::uint32_t fullest(const TrackerTable& table, const std::vector<Tile>& tiles, std::uint32_t sets = 256) {
  std::vector<std::uint32_t> entries(sets);
  for (const Tile& tile : tiles) {
    const std::uint32_t set = table.set_of(tile.chunk, tile.wg_id, wavefronts, tile.wf_id);
    REQUIRE(set < sets);
    ++entries[set];
  }
  return *std::max_element(entries.begin(), entries.end());
}

/// All wavefronts of so many workgroups.
std::vector<Tile> workgroups(std::uint16_t chunk, std::uint32_t first, std::uint32_t count, std::uint32_t step = 1) {
  std::vector<Tile> tiles;
  for (std::uint32_t i = 0; i < count; ++i)
    for (std::uint32_t wf = 0; wf < wavefronts; ++wf) tiles.push_back({chunk, first + i * step, wf});
  return tiles;
}

}  // namespace

TEST_CASE("by index workgroup a set is the low bits of the workgroup's number") {
  const TrackerTable paper = table(TrackerIndex::workgroup);
  for (const std::uint32_t wg : {0u, 5u, 255u, 256u, 1029u})
    for (const std::uint32_t wf : {0u, 3u})
      for (const std::uint16_t chunk : {std::uint16_t{0}, std::uint16_t{7}})
        CHECK(paper.set_of(chunk, wg, wavefronts, wf) == wg % 256);
}

TEST_CASE("by index hash a round of the sets uses each of them once, wherever it begins on a multiple") {
  for (const std::uint32_t sets : {1u, 2u, 16u, 256u, 65536u}) {
    const TrackerTable hashed = table(TrackerIndex::hash, sets);
    for (const std::uint32_t round : {0u, 1u, 9u}) {
      std::vector<Tile> tiles;
      for (std::uint32_t tile = round * sets; tile < (round + 1) * sets; ++tile)
        tiles.push_back({3, tile / wavefronts, tile % wavefronts});
      CHECK(fullest(hashed, tiles, sets) == 1);
    }
  }
}

TEST_CASE("tiles that run at once fit, which the paper's index puts into few sets") {
  // 8 chunks of the same 7 workgroups, as the slabs of an all-to-all: 224 tiles.
  std::vector<Tile> slabs;
  for (std::uint16_t chunk = 0; chunk < 8; ++chunk)
    for (const Tile& tile : workgroups(chunk, 100, 7)) slabs.push_back(tile);
  CHECK(fullest(table(TrackerIndex::workgroup), slabs) == 32);
  CHECK(fullest(table(TrackerIndex::hash), slabs) <= 2);
  // 256 workgroups of one chunk, at any place: 1024 tiles in 256 sets.
  for (const std::uint32_t first : {0u, 17u, 1000u}) {
    CHECK(fullest(table(TrackerIndex::workgroup), workgroups(0, first, 256)) == 4);
    CHECK(fullest(table(TrackerIndex::hash), workgroups(0, first, 256)) <= 5);
  }
}

TEST_CASE("tiles that lie a power of two apart are five to a set at most") {
  for (std::uint32_t step = 1; step <= 4096; step *= 2) {
    INFO(step);
    CHECK(fullest(table(TrackerIndex::hash), workgroups(1, 0, 64, step)) <= 5);
  }
  CHECK(fullest(table(TrackerIndex::workgroup), workgroups(1, 0, 64, 256)) == 256);
}

}  // namespace t3vp::test::tracker_index_test
