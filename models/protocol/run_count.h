// A count that a statistic and a register of a block show.
#pragma once

#include <cstdint>

namespace t3vp {

/// The statistic counts the whole run. The register counts since the block's last reset.
class RunCount {
 public:
  void operator++() { ++total_; }
  void operator+=(std::uint64_t more) { total_ += more; }
  /// The block is reset: the register starts at 0 again.
  void reset() { at_reset_ = total_; }

  std::uint64_t total() const { return total_; }
  std::uint64_t since_reset() const { return total_ - at_reset_; }

 private:
  std::uint64_t total_ = 0;
  std::uint64_t at_reset_ = 0;  ///< `total_` at the block's last reset
};

}  // namespace t3vp
