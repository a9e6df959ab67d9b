#include "compute/packet_results.h"

namespace t3vp::compute {

void PacketResults::record(std::uint64_t packet, Status status, bool refused) {
  constexpr std::uint64_t kept = registers::KernelQueue::completion_count / registers::KernelQueue::base_count;
  const std::uint64_t place = kept * queue_ + packet % kept;
  auto completion = registers_.completion[place];
  completion.code.set(status);
  auto word = registers_.refused[place / 32];
  const std::uint32_t bit = std::uint32_t{1} << packet % 32;
  word.set(refused ? word.value() | bit : word.value() & ~bit);
  completion.packet.set(static_cast<std::uint32_t>(packet));
  auto interrupt = registers_.interrupt[queue_];
  interrupt.complete.set(1);
  if (status != Status::ok) interrupt.failures.set((interrupt.failures() + 1) & 0xFFFFFF);
  if (status != Status::ok && interrupt.error() == 0) {
    interrupt.error.set(1);
    registers_.status[queue_].error.set(status);
    registers_.failed_packet[queue_].set(packet);
  }
}

void PacketResults::acknowledged() {
  if (registers_.interrupt[queue_].error() != 0) return;
  registers_.status[queue_].error.set(Status::ok);
  registers_.failed_packet[queue_].set(0);
}

}  // namespace t3vp::compute
