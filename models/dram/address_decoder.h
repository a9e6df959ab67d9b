// Channel-local byte address to pseudo-channel, bank group, bank, row and column. Plain C++, no SystemC.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dram/memory_spec.h"

namespace t3vp::dram {

/// `bank` counts all banks of the channel: pseudo-channel in the lowest bits, then bank group, then bank of the group.
struct Location {
  std::uint32_t bank, row, column;
};

class AddressDecoder {
 public:
  /// Throws std::invalid_argument when the map does not fit the geometry.
  explicit AddressDecoder(const MemorySpec& spec);

  std::uint32_t bank(std::uint64_t address) const {
    const std::uint32_t mapped = gather(address, bank_);
    return hashes_ ? mapped ^ folded(row(address)) : mapped;
  }
  /// Every address bit above the map belongs to the row, so that a larger memory never aliases rows.
  std::uint32_t row(std::uint64_t address) const { return gather(address, row_); }
  std::uint32_t column(std::uint64_t address) const { return gather(address, column_); }
  Location locate(std::uint64_t address) const { return {bank(address), row(address), column(address)}; }

 private:
  struct Slice {
    std::uint32_t from, to;  ///< bit of the address, bit of the field
    std::uint64_t mask;      ///< after shifting down
  };
  struct Field {
    std::array<Slice, 8> slices{};
    std::size_t count = 0;
  };

  static void append(Field& field, const Slice& slice);
  static std::uint32_t gather(std::uint64_t address, const Field& field) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < field.count; ++i)
      value |= ((address >> field.slices[i].from) & field.slices[i].mask) << field.slices[i].to;
    return static_cast<std::uint32_t>(value);
  }

  /// The row's bits, as many at a time as a bank's number has, by exclusive or. A bank's number and its row still
  /// determine the address.
  std::uint32_t folded(std::uint32_t row) const {
    std::uint32_t all = 0;
    for (; row != 0; row >>= bank_bits_) all ^= row;
    return all & ((std::uint32_t{1} << bank_bits_) - 1);
  }

  Field bank_, row_, column_;
  std::uint32_t bank_bits_ = 0;
  bool hashes_ = false;
};

/// Bank and row of accesses that mostly come block by block. Both are exclusive ors of address bits, so those of an
/// address are those of its block and those of the place in it, by exclusive or.
class BlockDecoder {
 public:
  static constexpr std::uint32_t block_bytes = 256;

  explicit BlockDecoder(const MemorySpec& spec) : decoder_(spec) {
    for (std::uint32_t i = 0; i < places; ++i) in_block_[i] = place_of(i * place_bytes);
    block_ = in_block_[0];
  }

  const AddressDecoder& whole() const { return decoder_; }

  struct Place {
    std::uint32_t bank, row;
  };
  Place operator()(std::uint64_t address) {
    if (address / block_bytes != number_) {
      number_ = address / block_bytes;
      block_ = place_of(number_ * block_bytes);
    }
    const Place& in_block = in_block_[address / place_bytes % places];
    return {block_.bank ^ in_block.bank, block_.row ^ in_block.row};
  }

 private:
  static constexpr std::uint32_t place_bytes = 32, places = block_bytes / place_bytes;

  Place place_of(std::uint64_t address) const { return {decoder_.bank(address), decoder_.row(address)}; }

  AddressDecoder decoder_;
  std::uint64_t number_ = 0;  ///< of the latest block
  Place block_;
  std::array<Place, places> in_block_;
};

}  // namespace t3vp::dram
