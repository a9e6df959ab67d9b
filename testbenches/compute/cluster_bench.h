// Compute clusters of a ring of GPUs on a functional memory, programmed through their registers as firmware does.
#pragma once

#include <catch2/catch.hpp>
#include <memory>

#include "compute/compute_cluster.h"
#include "data_path/checked_sockets.h"
#include "data_path/named_registers.h"
#include "data_path/node_memory.h"
#include "kernel_packets.h"
#include "kernels/kernels.h"
#include "protocol/address_map.h"

namespace t3vp::compute {

/// Blocks with maps and writes in a kernel's way, when they have a text.
struct InTheWay : MapHolder, MemoryUser {
  std::string map, write;
  std::string in_the_way(const OutputRange&, bool with_stores) const override {
    return with_stores ? map : std::string();
  }
  std::string use_of(const OutputRange&) const override { return write; }
};

/// The compute units of one GPU with their interrupt and stage lines.
struct ClusterUnderTest {
  static constexpr std::uint64_t queue_base = 0x1FFE00;
  static constexpr std::uint32_t queue_entries = 4;

  std::uint16_t gpu;
  ComputeCluster cluster;
  sc_core::sc_signal<bool, sc_core::SC_UNCHECKED_WRITERS> interrupt, kernel_active, first_stage;
  sc_core::sc_signal<std::uint32_t, sc_core::SC_UNCHECKED_WRITERS> withdraw;
  NamedRegisters registers{cluster.registers};
  InTheWay others;
  std::uint64_t submitted = 0;

  ClusterUnderTest(const ComputeParameters& parameters, bool functional, std::uint16_t number,
                   const t3_kernel* const* kernels = t3_kernels)
      : gpu(number),
        cluster(("cluster_" + std::to_string(number)).c_str(), parameters, kernels, functional, number, nullptr) {
    cluster.interrupt.bind(interrupt);
    cluster.kernel_active.bind(kernel_active);
    cluster.first_stage.bind(first_stage);
    cluster.withdraw.bind(withdraw);
    cluster.map_holders.bind(others);
    cluster.users.bind(others);
  }

  std::uint64_t here(std::uint64_t local) const { return address_map::on_gpu(gpu, local); }
  void start_queue() {
    REQUIRE(registers.set("base", here(queue_base)) == tlm::TLM_OK_RESPONSE);
    REQUIRE(registers.set("entries", queue_entries) == tlm::TLM_OK_RESPONSE);
  }
  /// Where the ring's entry for the next packet is.
  std::uint64_t next_entry() const {
    return here(queue_base + submitted % queue_entries * T3_KERNEL_PACKET_ENTRY_BYTES);
  }
  /// Writes a packet to the ring without ringing, with its arguments behind it, or where it says.
  void put(NodeMemory& memory, EncodedPacket packet) {
    unsigned char* const entry = memory.at(next_entry());
    std::memset(entry, 0xEE, T3_KERNEL_PACKET_ENTRY_BYTES);
    std::memcpy(entry + T3_KERNEL_PACKET_BYTES, packet.arguments.data(), packet.arguments.size());
    if (packet.header.arguments == 0) packet.header.arguments = next_entry() + T3_KERNEL_PACKET_BYTES;
    t3_kernel_packet_to(&packet.header, entry);
    ++submitted;
  }
  void ring() { REQUIRE(registers.set("doorbell", submitted) == tlm::TLM_OK_RESPONSE); }

  std::uint64_t completed() { return registers["completed"]; }
  bool busy() { return (registers["status"] & 1) != 0; }
  /// Returns the code of the packet's own completion.
  Status code_of(std::uint64_t packet) {
    using Queue = registers::KernelQueue;
    const std::uint64_t offset =
        Queue::completion_offset + 4 * (packet % (Queue::completion_count / Queue::base_count));
    const std::uint64_t completion = registers.read(offset, 4).value;
    REQUIRE(completion >> 8 == (packet & 0xFFFFFF));
    return static_cast<Status>(completion & 0xFF);
  }
  /// Whether the packet, of queue 0, was refused: its kernel has not begun.
  bool was_refused(std::uint64_t packet) {
    using Queue = registers::KernelQueue;
    const std::uint64_t place = packet % (Queue::completion_count / Queue::base_count);
    return (registers.read(Queue::refused_offset + 4 * (place / 32), 4).value >> place % 32 & 1) != 0;
  }
  /// Code of the packet that has ended last.
  Status error() { return code_of(completed()); }
  /// The first failure since it was acknowledged.
  Status first_error() { return static_cast<Status>(registers["status"] >> 8 & 0xFF); }
  void abort() { REQUIRE(registers.set("command", 1) == tlm::TLM_OK_RESPONSE); }
  double busy_ns() const { return to_ns(cluster.busy_time()); }
};

struct ClusterBench {
  static constexpr std::uint64_t memory_bytes = 2 << 20;

  ComputeParameters parameters;
  std::vector<std::unique_ptr<ClusterUnderTest>> gpus;
  NodeMemory memory;
  CheckedSockets checks;

  explicit ClusterBench(const ComputeParameters& p, bool functional = true, std::uint16_t clusters = 1,
                        std::uint16_t gpu_count = 2, const t3_kernel* const* kernels = t3_kernels)
      : parameters(p), memory("memory", clusters, std::max(clusters, gpu_count), memory_bytes) {
    parameters.memory_bytes = memory_bytes;
    for (std::uint16_t g = 0; g < clusters; ++g) {
      gpus.push_back(std::make_unique<ClusterUnderTest>(parameters, functional, g, kernels));
      checks.join(gpus.back()->cluster.memory, *memory.ports[g]);
    }
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    for (auto& gpu : gpus) gpu->start_queue();
  }

  ClusterUnderTest& gpu() { return *gpus.front(); }
  void wait(Picoseconds time) { sc_core::sc_start(to_sc_time(time)); }
  /// Until no cluster is busy or nothing happens any more; false in the second case.
  bool finish() {
    for (auto& gpu : gpus)
      while (gpu->busy()) {
        if (!sc_core::sc_pending_activity()) return false;
        sc_core::sc_start(sc_core::sc_time_to_pending_activity());
      }
    return true;
  }
  /// Runs a packet on the first GPU and returns the time it took.
  Picoseconds run(const EncodedPacket& packet) {
    const Picoseconds begin = now();
    gpu().put(memory, packet);
    gpu().ring();
    REQUIRE(finish());
    return now() - begin;
  }

  /// A small cluster with short latencies.
  static ComputeParameters small() {
    ComputeParameters p;
    p.compute_units = 3;
    p.launch_latency = 1'000'000;
    p.tile_rows = p.tile_columns = 32;
    p.wavefronts = 4;
    p.slab_depth = 16;
    p.kernels.ring.block_bytes = 256;
    p.kernels.ring.blocks_in_flight = 2;
    return p;
  }
};

}  // namespace t3vp::compute
