#include "memory/interleave.h"

#include <catch2/catch.hpp>
#include <set>
#include <vector>

using namespace t3vp;

TEST_CASE("channel and channel-local address determine the address") {
  for (const bool hash : {false, true})
    for (const std::uint32_t channels : {1u, 2u, 8u, 32u})
      for (const std::uint32_t block : {32u, 256u, 1024u}) {
        const Interleave interleave(channels, block, hash);
        std::set<std::pair<std::uint32_t, std::uint64_t>> places;
        const std::uint64_t step = 32, addresses = std::uint64_t{channels} * block / step * 64;
        std::vector<std::uint64_t> in_channel(channels, 0);
        for (std::uint64_t i = 0; i < addresses; ++i) {
          const std::uint64_t address = i * step;
          const std::uint32_t channel = interleave.channel_of(address);
          REQUIRE(channel < channels);
          places.emplace(channel, interleave.local_of(address));
          REQUIRE(interleave.local_of(address) < addresses * step / channels);
          ++in_channel[channel];
        }
        CAPTURE(hash, channels, block);
        REQUIRE(places.size() == addresses);
        REQUIRE(in_channel == std::vector<std::uint64_t>(channels, addresses / channels));
      }
}

TEST_CASE("a block lies in one channel at consecutive addresses") {
  const Interleave interleave(32, 256, true);
  for (std::uint64_t block = 0; block < 1000; ++block)
    for (std::uint64_t offset = 0; offset < 256; ++offset) {
      REQUIRE(interleave.channel_of(block * 256 + offset) == interleave.channel_of(block * 256));
      REQUIRE(interleave.local_of(block * 256 + offset) == interleave.local_of(block * 256) + offset);
    }
}

TEST_CASE("the hash spreads every power-of-two stride over the channels, plain interleaving does not") {
  constexpr std::uint32_t channels = 32;
  const Interleave hashed(channels, 256, true), plain(channels, 256, false);
  for (unsigned shift = 8; shift <= 24; ++shift) {
    std::vector<unsigned> count(channels, 0);
    std::set<std::uint32_t> plain_channels;
    for (std::uint64_t i = 0; i < 1024; ++i) {
      ++count[hashed.channel_of(i << shift)];
      plain_channels.insert(plain.channel_of(i << shift));
    }
    CAPTURE(shift);
    for (const unsigned n : count) REQUIRE(n == 1024 / channels);
    if (shift >= 13) REQUIRE(plain_channels.size() == 1);
  }
}
