// Reads of single bytes by a wave that have brought the same again and again, as those of a loop that waits for a
// value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "t3/device.h"

namespace t3vp::compute {

/// Reads of one place that have all brought the same.
struct RepeatedRead {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  std::uint64_t times = 0;  ///< 0: none yet
  std::array<unsigned char, T3_BYTES_MAX> brought{};

  /// The first 8 bytes as a number, little endian.
  std::uint64_t value() const {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < 8 && i < bytes; ++i) number |= std::uint64_t{brought[i]} << 8 * i;
    return number;
  }
};

/// The places that a wave has read last. A loop may wait for several.
class RepeatedReads {
 public:
  /// `workgroup`: whose wave has read. Waves of another one begin anew.
  void note(std::uint32_t workgroup, std::uint64_t address, const unsigned char* data, std::size_t bytes) {
    if (workgroup != workgroup_) reads_ = {};
    workgroup_ = workgroup;
    RepeatedRead& read = place_of(address, static_cast<std::uint32_t>(bytes));
    if (read.times == 0 || std::memcmp(read.brought.data(), data, bytes) != 0) {
      read = {address, static_cast<std::uint32_t>(bytes), 0, {}};
      std::memcpy(read.brought.data(), data, bytes);
    }
    ++read.times;
  }
  /// The place of the latest read; it has no times before the first.
  const RepeatedRead& latest() const { return reads_[latest_]; }

 private:
  RepeatedRead& place_of(std::uint64_t address, std::uint32_t bytes) {
    for (latest_ = 0; latest_ < reads_.size(); ++latest_)
      if (reads_[latest_].address == address && reads_[latest_].bytes == bytes) return reads_[latest_];
    latest_ = next_++ % reads_.size();
    reads_[latest_].times = 0;
    return reads_[latest_];
  }

  std::array<RepeatedRead, 4> reads_{};
  std::size_t latest_ = 0, next_ = 0;
  std::uint32_t workgroup_ = 0;
};

}  // namespace t3vp::compute
