// A GPU of which two queues of kernels are in use.
#pragma once

#include <utility>

#include "gemm_case.h"
#include "ring_case.h"

namespace t3vp::compute {

struct TwoQueues {
  using Queue = registers::KernelQueue;
  static constexpr std::uint32_t entries = ClusterUnderTest::queue_entries,
                                 words = Queue::cu_mask_count / Queue::base_count;
  static constexpr std::uint64_t second_base = 0x1F0000;

  ClusterBench bench;
  ClusterUnderTest& gpu = bench.gpu();
  std::uint64_t submitted = 0;  ///< to the second queue

  explicit TwoQueues(const ComputeParameters& p = ClusterBench::small()) : bench(p) { start_second_queue(); }
  void start_second_queue() {
    set("base", 1, second_base);
    set("entries", 1, entries);
    submitted = 0;
  }

  void set(const char* name, std::uint32_t queue, std::uint64_t value) {
    REQUIRE(gpu.registers.set(name, value, queue) == tlm::TLM_OK_RESPONSE);
  }
  std::uint64_t get(const char* name, std::uint32_t queue) { return gpu.registers.element(name, queue); }
  /// The compute units that the queue may use.
  void mask(std::uint32_t queue, std::uint64_t bits) { set("cu_mask", words * queue, bits); }

  void put_second(EncodedPacket packet) {
    const std::uint64_t entry = second_base + submitted++ % entries * T3_KERNEL_PACKET_ENTRY_BYTES;
    std::memcpy(bench.memory.at(entry + T3_KERNEL_PACKET_BYTES), packet.arguments.data(), packet.arguments.size());
    packet.header.arguments = entry + T3_KERNEL_PACKET_BYTES;
    t3_kernel_packet_to(&packet.header, bench.memory.at(entry));
  }
  void start(std::uint32_t queue, const EncodedPacket& packet) {
    if (queue == 0) {
      gpu.put(bench.memory, packet);
      return gpu.ring();
    }
    put_second(packet);
    set("doorbell", 1, submitted);
  }
  bool busy(std::uint32_t queue) { return (get("status", queue) & 1) != 0; }
  /// Until something happens; false when nothing does.
  static bool step() {
    if (!sc_core::sc_pending_activity()) return false;
    sc_core::sc_start(sc_core::sc_time_to_pending_activity());
    return true;
  }
  /// Until neither is busy: when the kernels of each have ended.
  std::pair<Picoseconds, Picoseconds> finish() {
    std::pair<Picoseconds, Picoseconds> ends{now(), now()};
    while (busy(0) || busy(1)) {
      const bool first = busy(0), second = busy(1);
      REQUIRE(step());
      if (first) ends.first = now();
      if (second) ends.second = now();
    }
    return ends;
  }
  /// Both begin now: how long each takes.
  std::pair<Picoseconds, Picoseconds> run(const EncodedPacket& first, const EncodedPacket& second) {
    const Picoseconds begin = now();
    start(0, first);
    start(1, second);
    const auto ends = finish();
    return {ends.first - begin, ends.second - begin};
  }
  Picoseconds run(std::uint32_t queue, const EncodedPacket& packet) {
    const Picoseconds begin = now();
    start(queue, packet);
    const auto ends = finish();
    return (queue == 0 ? ends.first : ends.second) - begin;
  }
  /// How the second queue's latest packet has ended.
  Status second_code() {
    const std::uint64_t kept = Queue::completion_count / Queue::base_count, packet = get("completed", 1);
    const std::uint64_t completion = gpu.registers.read(Queue::completion_offset + 4 * (kept + packet % kept), 4).value;
    REQUIRE(completion >> 8 == packet);
    return static_cast<Status>(completion & 0xFF);
  }
  std::string last_report() { return gpu.registers.reported.back().text; }
  /// Until the second queue's packet has been judged.
  void launch() { bench.wait(3 * bench.memory.latency + bench.parameters.launch_latency); }
};

/// A GEMM of so many workgroups; the other's operands and output lie elsewhere.
inline GemmCase gemm_of(const TwoQueues& gpu, std::uint32_t workgroups, bool other = false) {
  GemmCase gemm(gpu.bench.parameters, 32 * workgroups, 32, 64, ElementType::fp16);
  if (other) gemm.packet.a = 0xD0000, gemm.packet.b = 0x110000, gemm.packet.out = 0x150000;
  return gemm;
}

}  // namespace t3vp::compute
