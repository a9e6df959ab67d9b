// Where a link leaves the process: its ends are simulated by two processes. Each of them has the whole link, uses one
// end of it, and hands what crosses to this. All that crosses takes the link's latency.
#pragma once

#include "protocol/cause.h"
#include "protocol/transaction_pool.h"

namespace t3vp::interconnect {

/// When something is at the other end, and how that came about.
struct Crossing {
  Picoseconds time;
  Cause cause;
};

class LinkBoundary {
 public:
  virtual ~LinkBoundary() = default;

  /// The sender's end: a packet for Link::arrive(). The caller keeps it until Link::answered().
  virtual void send_packet(Crossing crossing, Transaction& packet) = 0;
  /// The receiver's end: for Link::credited().
  virtual void send_credit(Crossing crossing, std::uint64_t bytes, std::uint8_t channel) = 0;
  /// The receiver's end: the packet that arrive() has brought has its response, and is released.
  virtual void send_answer(Crossing crossing, Transaction& packet) = 0;
};

}  // namespace t3vp::interconnect
