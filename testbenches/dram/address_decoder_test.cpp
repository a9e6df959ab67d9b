#include <catch2/catch.hpp>

#include <random>
#include <set>
#include <tuple>

#include "dram/address_decoder.h"
#include "dram/memory_file.h"

namespace t3vp::test::address_decoder_test {

using namespace t3vp::dram;

namespace {

AddressDecoder decoder(const std::string& memory, const std::string& map, std::vector<std::string> bits = {},
                       BankHash hash = BankHash::none) {
  MemorySpec spec = shipped_memory(memory);
  spec.address_map = map;
  spec.address_bits = std::move(bits);
  spec.bank_hash = hash;
  return AddressDecoder(spec);
}

std::uint32_t bits(std::uint64_t address, unsigned from, unsigned count) {
  return static_cast<std::uint32_t>(address >> from & ((1u << count) - 1));
}

}  // namespace

TEST_CASE("Map accel is R..R BBB CCC B CCC SSSSS, the low bank bits being the bank group") {
  const AddressDecoder map = decoder("hbm2-legacy", "accel");
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t address = random() % (std::uint64_t{256} << 20);
    REQUIRE(map.bank(address) == (bits(address, 12, 3) << 1 | bits(address, 8, 1)));
    REQUIRE(map.column(address) == (bits(address, 9, 3) << 3 | bits(address, 5, 3)));
    REQUIRE(map.row(address) == bits(address, 15, 13));
  }
}

TEST_CASE("Map bgint puts pseudo-channel and bank group below the column, rocol above") {
  const AddressDecoder bgint = decoder("hbm2-pseudo-channel", "bgint"), rocol = decoder("hbm2-pseudo-channel", "rocol");
  std::mt19937_64 random(2);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t address = random() % (std::uint64_t{256} << 20);
    REQUIRE(bgint.bank(address) == (bits(address, 13, 2) << 3 | bits(address, 6, 2) << 1 | bits(address, 5, 1)));
    REQUIRE(bgint.column(address) == bits(address, 8, 5));
    REQUIRE(bgint.row(address) == bits(address, 15, 13));
    REQUIRE(rocol.bank(address) == (bits(address, 11, 4) << 1 | bits(address, 5, 1)));
    REQUIRE(rocol.column(address) == bits(address, 6, 5));
    REQUIRE(rocol.row(address) == bits(address, 15, 13));
  }
}

TEST_CASE("A list spells any map, and the named maps spelt out are themselves") {
  const AddressDecoder named = decoder("hbm2-legacy", "accel");
  const AddressDecoder spelt =
      decoder("hbm2-legacy", "", {"byte:5", "column:3", "bank_group", "column:3", "bank_group:1", "bank:2", "row:13"});
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t address = random() % (std::uint64_t{256} << 20);
    REQUIRE(named.bank(address) == spelt.bank(address));
    REQUIRE(named.column(address) == spelt.column(address));
    REQUIRE(named.row(address) == spelt.row(address));
  }
}

TEST_CASE("Every map reaches every column of every row and bank once") {
  const std::string memory = GENERATE(as<std::string>{}, "hbm2-legacy", "hbm2-pseudo-channel");
  const std::string map = GENERATE(as<std::string>{}, "accel", "bgint", "rocol");
  const BankHash hash = GENERATE(BankHash::none, BankHash::row);
  const AddressDecoder decoder_under_test = decoder(memory, map, {}, hash);
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> places;
  for (std::uint64_t address = 0; address < 1 << 20; address += 32) {
    const Location at = decoder_under_test.locate(address);
    REQUIRE(places.emplace(at.bank, at.row, at.column).second);
  }
}

TEST_CASE("Bank hash row combines the map's bank with all bits of the row") {
  const AddressDecoder plain = decoder("hbm2-legacy", "accel"),
                       hashed = decoder("hbm2-legacy", "accel", {}, BankHash::row);
  std::mt19937_64 random(4);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t address = random() % (std::uint64_t{1} << 40);
    const std::uint32_t row = plain.row(address);
    std::uint32_t parity[4] = {};  // of row bits 4 apart
    for (unsigned bit = 0; bit < 32; ++bit) parity[bit % 4] ^= row >> bit & 1;
    const std::uint32_t folded = parity[3] << 3 | parity[2] << 2 | parity[1] << 1 | parity[0];
    REQUIRE(hashed.bank(address) == (plain.bank(address) ^ folded));
    REQUIRE(hashed.row(address) == row);
    REQUIRE(hashed.column(address) == plain.column(address));
  }
}

TEST_CASE("Aligned arrays meet in one bank by the map alone, and lie in all banks with bank hash row") {
  for (unsigned distance = 15; distance < 24; ++distance) {
    std::set<std::uint32_t> plain, hashed;
    for (std::uint64_t array = 0; array < 16; ++array) {
      plain.insert(decoder("hbm2-legacy", "accel").bank(array << distance));
      hashed.insert(decoder("hbm2-legacy", "accel", {}, BankHash::row).bank(array << distance));
    }
    CHECK(plain.size() == 1);
    CHECK(hashed.size() == 16);
  }
}

TEST_CASE("Addresses above the geometry's rows open rows of their own") {
  const AddressDecoder map = decoder("hbm2-legacy", "accel");
  CHECK(map.row(std::uint64_t{256} << 20) == 8192);
  CHECK(map.bank(std::uint64_t{256} << 20) == 0);
}

TEST_CASE("Bank and row by blocks are those of the whole address, in any order of addresses") {
  std::mt19937_64 random(7);
  for (const std::string memory : {"hbm2-legacy", "hbm2-pseudo-channel", "hbm2e-pseudo-channel"})
    for (const char* map : {"accel", "bgint", "rocol"})
      for (const BankHash hash : {BankHash::none, BankHash::row}) {
        MemorySpec spec = shipped_memory(memory);
        spec.address_map = map;
        spec.bank_hash = hash;
        const AddressDecoder whole(spec);
        BlockDecoder by_blocks(spec);
        std::uint64_t address = 0;
        for (int i = 0; i < 1000; ++i) {
          const BlockDecoder::Place place = by_blocks(address);
          REQUIRE(place.bank == whole.bank(address));
          REQUIRE(place.row == whole.row(address));
          address = random() % 4 == 0 ? random() % (std::uint64_t{1} << 40) / 32 * 32 : address + 32;
        }
      }
}

TEST_CASE("A map that does not fit the geometry is refused with its field") {
  CHECK_THROWS_WITH(decoder("hbm2-legacy", "", {"byte:5", "column:5", "bank_group:2", "bank:2", "row:13"}),
                    Catch::Contains("column has 5 bits, the geometry needs 6"));
  CHECK_THROWS_WITH(decoder("hbm2-legacy", "", {"byte:5", "colum:6"}), Catch::Contains("\"colum\""));
  CHECK_THROWS_WITH(decoder("hbm2-legacy", "", {"byte:x"}), Catch::Contains("should read like"));
}

}  // namespace t3vp::test::address_decoder_test
