#include "protocol/polynomial_hash.h"

#include <catch2/catch.hpp>
#include <set>
#include <utility>

namespace t3vp::test::polynomial_hash_test {

TEST_CASE("an aligned run of numbers takes every hash once") {
  for (unsigned bits = 0; bits <= 10; ++bits) {
    const PolynomialHash hash(bits);
    const std::uint64_t run = std::uint64_t{1} << bits;
    for (const std::uint64_t begin : {std::uint64_t{0}, run * 5, run * 0x12345678}) {
      std::set<std::uint32_t> hashes;
      for (std::uint64_t i = 0; i < run; ++i) hashes.insert(hash(begin + i));
      CAPTURE(bits, begin);
      REQUIRE(hashes.size() == run);
      REQUIRE(*hashes.rbegin() < run);
    }
  }
}

TEST_CASE("a run of any power-of-two stride takes every hash once") {
  for (unsigned bits = 2; bits <= 10; ++bits) {
    const PolynomialHash hash(bits);
    for (unsigned shift = 0; shift <= 24; ++shift) {
      std::set<std::uint32_t> hashes;
      for (std::uint64_t i = 0; i < std::uint64_t{1} << bits; ++i) hashes.insert(hash(i << shift));
      CAPTURE(bits, shift);
      REQUIRE(hashes.size() == std::size_t{1} << bits);
    }
  }
}

TEST_CASE("a hash and its reciprocal together take at least half of their pairs at any power-of-two stride") {
  for (unsigned bits = 3; bits <= 8; ++bits) {
    const PolynomialHash hash(bits), other(bits, PolynomialHash::Of::reciprocal);
    for (unsigned shift = 0; shift <= 2 * bits; ++shift) {
      std::set<std::pair<std::uint32_t, std::uint32_t>> places;
      for (std::uint64_t i = 0; i < std::uint64_t{1} << 2 * bits; ++i) {
        const std::uint64_t number = i << shift;
        places.emplace(hash(number), other(number >> bits));
      }
      CAPTURE(bits, shift);
      REQUIRE(places.size() >= std::size_t{1} << (2 * bits - 1));
    }
  }
}

}  // namespace t3vp::test::polynomial_hash_test
