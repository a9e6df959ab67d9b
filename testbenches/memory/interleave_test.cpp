#include "memory/interleave.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <vector>

#include "dram/address_decoder.h"

namespace t3vp::test::interleave_test {

using namespace memory;

TEST_CASE("channel and channel-local address determine the address") {
  for (const bool hash : {false, true})
    for (const std::uint32_t channels : {1u, 2u, 3u, 8u, 32u, 40u, 48u, 80u, 255u})
      for (const std::uint32_t block : {32u, 256u, 1024u}) {
        const Interleave interleave(channels, block, hash);
        CAPTURE(hash, channels, block);
        const std::uint64_t step = 32, in_channel = std::uint64_t{block} / step * 64;
        std::vector<bool> taken(channels * in_channel);
        for (std::uint64_t i = 0; i < taken.size(); ++i) {
          const std::uint32_t channel = interleave.channel_of(i * step);
          const std::uint64_t local = interleave.local_of(i * step);
          if (channel >= channels || local >= in_channel * step || local % step != 0)
            FAIL("the address " << i * step << " is at no place of its own");
          if (taken[channel * in_channel + local / step]) FAIL("the place of " << i * step << " is another one's");
          taken[channel * in_channel + local / step] = true;
        }
        REQUIRE(std::count(taken.begin(), taken.end(), true) == static_cast<std::ptrdiff_t>(taken.size()));
      }
}

TEST_CASE("a block lies in one channel at consecutive addresses") {
  const Interleave interleave(GENERATE(32u, 40u), 256, true);
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

TEST_CASE("the channel is the block number modulo x^5 + x^2 + 1") {
  const Interleave interleave(32, 256, true);
  const auto channel_of_block = [&](std::uint64_t block) { return interleave.channel_of(block * 256); };
  CHECK(channel_of_block(19) == 19);
  CHECK(channel_of_block(32) == 0b00101);    // x^5 = x^2 + 1
  CHECK(channel_of_block(64) == 0b01010);    // x^6 = x^3 + x
  CHECK(channel_of_block(256) == 0b01101);   // x^8 = x^5 + x^3 = x^3 + x^2 + 1
  CHECK(channel_of_block(1024) == 0b10001);  // x^10 = x^5 + x^4 + x^2 = x^4 + 1
  CHECK(channel_of_block(32 + 3) == 0b00110);
}

TEST_CASE("channels of no power of two have as many blocks each of any stretch and no stride leaves one of them out") {
  for (const std::uint32_t channels : {3u, 5u, 6u, 12u, 24u, 40u, 48u, 80u, 96u}) {
    const Interleave interleave(channels, 256, true);
    for (std::uint64_t first = 0; first < 50 * channels; first += channels) {
      std::set<std::uint32_t> turn;
      for (std::uint64_t block = first; block < first + channels; ++block)
        turn.insert(interleave.channel_of(block * 256));
      REQUIRE(turn.size() == channels);
    }
    std::vector<std::uint64_t> strides{channels * channels, std::uint64_t{channels} * 65536};
    for (std::uint64_t stride = 1; stride <= 200; ++stride) strides.push_back(stride);
    for (unsigned shift = 8; shift <= 24; ++shift) strides.push_back(std::uint64_t{1} << shift);
    for (const std::uint64_t stride : strides) {
      std::vector<unsigned> count(channels, 0);
      for (std::uint64_t i = 0; i < 16 * channels; ++i) ++count[interleave.channel_of(i * stride * 256)];
      const auto [least, most] = std::minmax_element(count.begin(), count.end());
      if (*least == 0 || *most > 2 * 16 + 8)
        FAIL_CHECK(channels << " channels, stride " << stride << ": " << *least << " to " << *most << " of 16");
    }
  }
}

TEST_CASE("an address has one place of channel and bank and row and column that no other address has") {
  struct Stacks {
    std::uint32_t channels, pseudo_channels, bank_groups, banks_per_group;
  };
  const Stacks stacks = GENERATE(Stacks{40, 1, 4, 4}, Stacks{48, 2, 4, 4}, Stacks{5, 2, 4, 16}, Stacks{80, 1, 4, 32});
  dram::MemorySpec spec;
  spec.geometry = {stacks.pseudo_channels, stacks.bank_groups, stacks.banks_per_group, 16, 512, 32};
  spec.address_map = GENERATE("accel", "bgint", "rocol");
  const bool hash = GENERATE(false, true);
  CAPTURE(stacks.channels, spec.address_map, hash);
  const dram::AddressDecoder decoder(spec);
  const Interleave interleave(stacks.channels, 256, hash);
  const std::uint32_t banks = stacks.pseudo_channels * stacks.bank_groups * stacks.banks_per_group, columns = 512 / 32;
  const std::uint32_t rows = 2;  // that are full when every bank has so many
  const std::uint64_t accesses = std::uint64_t{stacks.channels} * banks * rows * columns;
  std::vector<bool> taken(accesses);
  for (std::uint64_t access = 0; access < accesses; ++access) {
    const std::uint64_t address = access * 32, local = interleave.local_of(address);
    const dram::Location at = decoder.locate(local);
    const std::uint32_t channel = interleave.channel_of(address);
    if (channel >= stacks.channels || at.bank >= banks || at.row >= rows || at.column >= columns)
      FAIL("the address " << address << " is at no place of these memories");
    const std::uint64_t place = ((std::uint64_t{channel} * banks + at.bank) * rows + at.row) * columns + at.column;
    if (taken[place]) FAIL("the place of the address " << address << " is another one's");
    taken[place] = true;
  }
  REQUIRE(std::count(taken.begin(), taken.end(), true) == static_cast<std::ptrdiff_t>(accesses));
}

TEST_CASE("rows of a matrix spread over the channels whatever their stride") {
  const Interleave interleave(32, 256, true);
  for (std::uint64_t stride = 1; stride <= 128;
       ++stride) {  // in blocks: 33 would fall into one channel if bits were folded
    std::set<std::uint32_t> channels;
    for (std::uint64_t row = 0; row < 128; ++row) channels.insert(interleave.channel_of(row * stride * 256));
    CAPTURE(stride);
    REQUIRE(channels.size() >= 16);
  }
}

}  // namespace t3vp::test::interleave_test
