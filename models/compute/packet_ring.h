// A queue's ring of packets in memory: what doorbells have announced, and how many packets have ended.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>

#include "compute/cluster_parameters.h"
#include "protocol/output_range.h"
#include "protocol/units.h"
#include "registers/kernel_queue.h"
#include "t3/kernel_packet.h"

namespace t3vp::compute {

class PacketRing {
 public:
  static constexpr std::uint32_t entry_bytes = T3_KERNEL_PACKET_ENTRY_BYTES;

  /// Creates the ring of queue `queue` of GPU `gpu`, which has `memory_bytes` of memory.
  PacketRing(registers::KernelQueue& registers, std::uint8_t queue, std::uint16_t gpu, std::uint64_t memory_bytes)
      : registers_(registers), queue_(queue), gpu_(gpu), memory_bytes_(memory_bytes) {}

  // Registers that software has written.
  void check_base();
  void check_entries();
  /// Handles the doorbell. Returns false when it is refused. `used_by` returns a text that names the other user of a
  /// range; it is empty when there is none.
  bool announce(const std::function<std::string(const OutputRange&)>& used_by);

  /// There is a packet that has been announced and has not ended.
  bool has_packet() const { return completed_ < announced_; }
  std::uint64_t packet_address() const;
  /// The packet that was the next has ended.
  void complete();
  /// The packets that have been announced are not run.
  void abort() { abort_until_ = announced_; }
  /// The packet that is the next is one of those.
  bool is_aborted() const { return completed_ < abort_until_; }
  void reset();

  std::uint64_t announced() const { return announced_; }
  std::uint64_t completed() const { return completed_; }
  /// Returns the time at which the oldest packet that has not ended was announced; never when there is none.
  Picoseconds oldest_announced() const { return times_.empty() ? never : times_.front(); }
  /// Empty before the first doorbell.
  OutputRange range() const;

 private:
  void check();
  std::uint64_t base() const { return registers_.base[queue_].value(); }
  std::uint64_t entries() const { return registers_.entries[queue_].value(); }

  registers::KernelQueue& registers_;
  std::uint8_t queue_;
  std::uint16_t gpu_;
  std::uint64_t memory_bytes_;
  std::uint64_t announced_ = 0, completed_ = 0;  ///< packets since the reset
  std::deque<Picoseconds> times_;                ///< when each packet that has not ended was announced
  std::uint64_t base_ = 0, entries_ = 0;         ///< of the ring that the doorbell was rung for
  std::uint64_t abort_until_ = 0;                ///< packets up to this one are not run
};

}  // namespace t3vp::compute
