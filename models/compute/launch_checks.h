// The checks that refuse a packet: of its header, of the kernel's own check, and of the memory that the kernel would
// read and write.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "compute/fenced_memory.h"
#include "compute/gate_table.h"
#include "compute/kernel_history.h"
#include "compute/kernel_host.h"
#include "compute/kernel_registry.h"
#include "compute/packet_ring.h"
#include "protocol/data_sockets.h"
#include "protocol/refusal.h"

namespace t3vp::compute {

class ComputeCluster;

/// The memory that kernels' functions write for the dispatcher: two structures at a time.
using LentStructures = std::array<FencedMemory, 2>;

/// The memory that a kernel reads and writes, by its plan.
struct KernelRanges {
  std::vector<OutputRange> writes, reads;
};

class LaunchChecks {
 public:
  /// The other blocks that the checks ask.
  struct Context {
    const ComputeCluster& cluster;
    const KernelRegistry& kernels;
    const KernelHistory& history;
    LentStructures& lent;
    DataInitiatorBase& memory;
  };

  LaunchChecks(KernelHost& host, const Context& context, const PacketRing& ring, std::uint8_t queue)
      : host_(host), context_(context), ring_(ring), queue_(queue) {}

  /// Whether the packet can be believed that lies at this address.
  Refusal header(const t3_kernel_packet& packet, std::uint64_t address) const;
  /// The arguments lie in the packet's own entry.
  static bool come_with_packet(const t3_kernel_packet& packet, std::uint64_t address);
  /// Whether the kernel can run so on this GPU, in the kernel's own words.
  Refusal launch(const t3_kernel& kernel, const t3_device& device, const t3_launch& launch) const;
  /// Whether the gates can hold workgroups of the plan's.
  Refusal gates(const std::vector<Gate>& gates, const t3_plan& plan) const;
  /// Whether the plan's kernel may read and write there now, or, behind gates, will be able to read.
  Refusal ranges(const KernelRanges& ranges, const t3_plan& plan, bool is_gated) const;

 private:
  Refusal counter(const t3_kernel_packet& packet) const;
  Refusal wait(const t3_kernel_packet& packet) const;
  Refusal place_of_arguments(const t3_kernel_packet& packet, std::uint64_t address) const;
  Refusal use(const KernelRanges& ranges, const t3_plan& plan) const;
  Refusal order(const KernelRanges& ranges, const t3_plan& plan) const;
  Refusal maps(const KernelRanges& ranges, const t3_plan& plan) const;
  Refusal reads(const KernelRanges& ranges) const;
  Refusal arrivals(const KernelRanges& ranges) const;

  KernelHost& host_;
  Context context_;
  const PacketRing& ring_;
  std::uint8_t queue_;
};

}  // namespace t3vp::compute
