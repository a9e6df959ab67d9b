// Makes a kernel from a packet: the packet, then its arguments, then what its kernel says of them.
#pragma once

#include <memory>

#include "compute/kernel_run.h"
#include "compute/launch_checks.h"
#include "compute/workgroup_slots.h"

namespace t3vp::compute {

class KernelLaunch {
 public:
  /// The blocks and parameters that a launch uses.
  struct Means {
    const KernelRegistry& kernels;
    LentStructures& lent;
    FiberStacks& stacks;
    LentTiles& lent_tiles;
  };

  /// The queue `queue`, which `registers` are of, is the kernels' host.
  KernelLaunch(KernelHost& host, const LaunchChecks& checks, const Means& means, WorkgroupSlots& slots,
               registers::KernelQueue& registers, std::uint8_t queue);

  /// The packet lies at this address, whatever becomes of it.
  void begin(std::uint64_t packet_address);
  /// The packet has come: why it is not believed; status ok when it is.
  Refusal take_packet(const unsigned char* entry);
  /// Its arguments: within the entry, or else to be read from arguments().
  bool come_with_packet() const { return LaunchChecks::come_with_packet(packet_, packet_address_); }
  const unsigned char* arguments_in(const unsigned char* entry) const {
    return entry + (packet_.arguments - packet_address_);
  }
  /// The arguments have come: makes the kernel, whose workgroups the gates hold, or says why not.
  Refusal make(const unsigned char* arguments, const std::vector<Gate>& gates, std::unique_ptr<KernelRun>& made);
  /// A part of the kernel has left another floating-point environment than it found.
  void note_left_floats(const char* part) { left_floats_ = part; }
  /// No kernel runs any more.
  void clear() { ranges_ = {}; }

  /// The packet has no kernel: it waits for another queue's packet.
  bool is_wait() const { return (packet_.flags & T3_KERNEL_PACKET_FLAGS_WAIT) != 0; }
  /// The cache is written back before the packet ends.
  bool releases() const { return (packet_.flags & T3_KERNEL_PACKET_FLAGS_RELEASE) != 0; }
  /// Of a packet that waits: the queue and the number of the packet that it waits for.
  std::uint32_t awaited_queue() const { return packet_.workgroups; }
  std::uint64_t awaited_packet() const { return packet_.arguments; }

  std::uint64_t packet_address() const { return packet_address_; }
  std::uint64_t arguments() const { return packet_.arguments; }
  std::uint32_t argument_bytes() const { return packet_.argument_bytes; }
  /// Returns the signal of the packet, once the packet is valid; T3_KERNEL_PACKET_COMPLETION_SIGNAL_NONE before.
  std::uint32_t completion_signal() const { return completion_signal_; }
  /// Returns the start time of the kernel: a fixed time after its packet has arrived, unless its arguments come later.
  Picoseconds time() const { return std::max(now(), launch_time_); }
  const KernelRanges& ranges() const { return ranges_; }

 private:
  Refusal read_arguments(const t3_kernel& kernel, const unsigned char* bytes, KernelArguments& arguments);
  void choose_units();

  KernelHost& host_;
  const LaunchChecks& checks_;
  Means means_;
  WorkgroupSlots& slots_;
  registers::KernelQueue& registers_;
  std::uint8_t queue_;
  t3_kernel_packet packet_{};
  std::uint64_t packet_address_ = 0;  ///< of its entry in the ring
  Picoseconds launch_time_ = 0;       ///< of its kernel, when its arguments have come by then
  std::uint32_t completion_signal_ = T3_KERNEL_PACKET_COMPLETION_SIGNAL_NONE;
  const char* left_floats_ = nullptr;  ///< the part of the kernel that was the latest to do so
  KernelRanges ranges_;                ///< of the kernel that runs
};

}  // namespace t3vp::compute
