// The bytes of a GPU's HBM, allocated in pages when first written; what was never written reads as zero.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "protocol/data_protocol.h"

namespace t3vp::memory {

class BackingStore {
 public:
  static constexpr std::uint64_t page_bytes = 64 << 10;

  void read(std::uint64_t address, unsigned char* data, std::uint64_t bytes) const;
  void write(std::uint64_t address, const unsigned char* data, std::uint64_t bytes);
  /// Byte enables, one for each byte, may leave some out; null enables all.
  void write(std::uint64_t address, const unsigned char* data, std::uint64_t bytes, const unsigned char* enables);
  /// Adds elements to memory (near-memory update, T3 4.3). `address` and `bytes` are multiples of the element's size.
  void update(ElementType type, std::uint64_t address, const unsigned char* data, std::uint64_t bytes);

  /// The page that holds `address`, made if need be.
  unsigned char* page(std::uint64_t address);
  std::uint64_t allocated_bytes() const { return pages_.size() * page_bytes; }

 private:
  std::unordered_map<std::uint64_t, std::unique_ptr<unsigned char[]>> pages_;
};

}  // namespace t3vp::memory
