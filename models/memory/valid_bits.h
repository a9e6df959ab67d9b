// One bit for each 32 bytes of a range: whether they have been written since the range was armed. Until then they read
// as zero, and the zeros need not be written (docs/models/memory.md).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace t3vp::memory {

class ValidBits {
 public:
  static constexpr std::uint64_t sector_bytes = 32;

  /// Both numbers are multiples of sector_bytes. The range before it is given up.
  void arm(std::uint64_t begin, std::uint64_t bytes) {
    begin_ = begin;
    end_ = begin + bytes;
    clear_ = bytes / sector_bytes;
    valid_.assign(clear_, false);
  }
  void disarm() { arm(0, 0); }

  std::uint64_t begin() const { return begin_; }
  std::uint64_t end() const { return end_; }
  std::uint64_t clear() const { return clear_; }  ///< sectors that are not valid
  static std::uint64_t storage_bytes(std::uint64_t bytes) { return (bytes / sector_bytes + 7) / 8; }

  /// Whether some of these bytes may be in sectors that are not valid.
  bool concerns(std::uint64_t address, std::uint64_t bytes) const {
    return clear_ != 0 && address < end_ && bytes > 0 && address + bytes > begin_;
  }

  /// The address must be in the range.
  bool is_valid(std::uint64_t address) const { return valid_[(address - begin_) / sector_bytes]; }

  /// Whether all these bytes are in sectors of the range that are not valid.
  bool is_clear(std::uint64_t address, std::uint64_t bytes) const {
    if (clear_ == 0 || address < begin_ || address + bytes > end_) return false;
    for (std::uint64_t at = address / sector_bytes * sector_bytes; at < address + bytes; at += sector_bytes)
      if (is_valid(at)) return false;
    return true;
  }

  /// Calls visit(address) for each sector that is not valid and has some of these bytes.
  template <typename Visit>
  void for_each_clear(std::uint64_t address, std::uint64_t bytes, Visit visit) const {
    if (!concerns(address, bytes)) return;
    const std::uint64_t end = std::min(address + bytes, end_);
    for (std::uint64_t at = std::max(address, begin_) / sector_bytes * sector_bytes; at < end; at += sector_bytes)
      if (!is_valid(at)) visit(at);
  }

  /// These bytes are written: their sectors are valid from now on.
  void set(std::uint64_t address, std::uint64_t bytes) {
    for_each_clear(address, bytes, [this](std::uint64_t at) {
      valid_[(at - begin_) / sector_bytes] = true;
      --clear_;
    });
  }

 private:
  std::uint64_t begin_ = 0, end_ = 0, clear_ = 0;
  std::vector<bool> valid_;
};

}  // namespace t3vp::memory
