#include "protocol/polynomial_hash.h"

#include <catch2/catch.hpp>
#include <set>

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

}  // namespace t3vp::test::polynomial_hash_test
