// The counters of a GPU by which blocks tell its kernels that something has happened.
#pragma once

#include <cstdint>

#include <systemc>

#include "protocol/order_observer.h"

namespace t3vp {

class SignalCounters : public virtual sc_core::sc_interface {
 public:
  /// Adds 1 to a counter, which exists. Waits for it may end at once; they are behind the point.
  virtual void count(std::uint32_t counter, OrderPoint point) = 0;
};

}  // namespace t3vp
