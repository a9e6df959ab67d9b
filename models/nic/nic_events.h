// The later actions of a NIC: one queue of events, so that those of one time keep their order.
#pragma once

#include <cstdint>

#include "protocol/event_queue.h"

namespace t3vp::nic {

struct NicEvent {
  enum What : std::uint8_t { doorbell, begin, left, timeout, receiver_wait } what;
  std::uint32_t queue = 0, generation = 0;
  std::uint64_t value = 0;  ///< what the doorbell says, or bytes that have left
};

using NicEvents = EventQueue<NicEvent>;

}  // namespace t3vp::nic
