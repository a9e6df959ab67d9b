// Where the NIC fabric leaves the process: NICs are simulated by several processes. Each of them has the whole fabric,
// and hands packets to NICs of others to this.
#pragma once

#include "nic/nic_packet.h"
#include "protocol/cause.h"

namespace t3vp::nic {

/// A packet on its way, which takes at least the fabric's latency.
struct Passage {
  PacketPointer packet;
  Picoseconds sent = 0;     ///< when it was given to the wire
  Picoseconds arrives = 0;  ///< its last byte, at a receiver that is free
  Cause cause;              ///< of its sending
};

class WireBoundary {
 public:
  virtual ~WireBoundary() = default;

  /// For Wire::arrive() of the receiver's process.
  virtual void send(const Passage& passage) = 0;
};

}  // namespace t3vp::nic
