// A resource of the engine that does one access after the other: the bandwidth of its memory, or its adders.
#pragma once

#include <algorithm>

#include "protocol/units.h"

namespace t3vp::endpoint {

class SramAccess {
 public:
  explicit SramAccess(double GBps) : picoseconds_per_byte_(1000 / GBps) {}

  /// Returns when an access to so many bytes, which is asked for now, has ended.
  Picoseconds end_of(std::uint64_t bytes) {
    free_ = std::max(free_, now()) + static_cast<Picoseconds>(static_cast<double>(bytes) * picoseconds_per_byte_ + 0.5);
    return free_;
  }
  void reset() { free_ = 0; }

 private:
  double picoseconds_per_byte_;
  Picoseconds free_ = 0;
};

}  // namespace t3vp::endpoint
