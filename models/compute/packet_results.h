// The results of a queue's packets, in its registers.
#pragma once

#include <cstdint>

#include "registers/kernel_queue.h"

namespace t3vp::compute {

class PacketResults {
 public:
  PacketResults(registers::KernelQueue& registers, std::uint8_t queue) : registers_(registers), queue_(queue) {}

  /// Packet `packet` has ended, as number `packet` since the reset.
  void record(std::uint64_t packet, Status status, bool refused);
  /// The first failure is reported until it has been acknowledged.
  void acknowledged();

 private:
  registers::KernelQueue& registers_;
  std::uint8_t queue_;
};

}  // namespace t3vp::compute
