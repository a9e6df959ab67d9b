// Packets that run, and what their kernels say of others.
#pragma once

#include <functional>

#include "compute/kernel_registry.h"
#include "compute/kernel_run.h"
#include "gemm_case.h"
#include "registers/signals.h"
#include "ring_case.h"
#include "t3/check.h"
#include "t3/row_operations.h"

namespace t3vp::compute {

template <typename Packet>
struct Mistake {
  const char* text;  ///< part of what the error log says
  std::function<void(Packet&)> make;
};

template <typename Packet, typename Arguments, typename Value>
Mistake<Packet> mistake(const char* text, Value Arguments::*field, std::uint64_t value) {
  return {text, [=](Packet& p) { p.*field = static_cast<Value>(value); }};
}

/// What the packet's kernel says of its operands, where every GPU can be reached.
inline std::string check_operands(const EncodedPacket& packet, const ComputeParameters& parameters, std::uint16_t gpu,
                                  bool functional) {
  const t3_device device = device_of(parameters);
  t3_check check{};
  check.device = &device;
  check.gpu = gpu;
  check.functional = functional;
  check.memory_bytes = parameters.memory_bytes;
  check.counters = registers::Signals::value_count;
  check.reaches = [](void*, std::uint64_t) { return true; };
  const t3_kernel* const kernel = KernelRegistry(t3_kernels).find(packet.header.kernel);
  REQUIRE(kernel != nullptr);
  std::vector<std::max_align_t> arguments(kernel->arguments.size / sizeof(std::max_align_t) + 1);
  kernel->arguments.read(arguments.data(), packet.arguments.data());
  const std::uint32_t most = packet.header.max_compute_units;
  const t3_launch launch{arguments.data(), packet.header.workgroups, most == 0 ? parameters.compute_units : most};
  return kernel->check(&check, &launch) ? "" : check.text;
}

inline GemmPacket good_gemm(const ComputeParameters& p) { return GemmCase(p, 64, 48, 48, ElementType::fp16).packet; }

inline RingPacket good_ring(std::uint32_t kind) {
  const RingCase ring{{64, 48, 32, 32, 1, 96, ElementType::fp16}, 2, 2};
  RingPacket packet = ring.packet(kind, 0, 0, 0);
  packet.out = 0x90000;
  if (packet.is_staged()) packet.staging = 0x30000;
  return packet;
}

/// out = dropout(a + vector b) + c
inline RowsPacket good_rows() {
  RowsPacket packet;
  packet.operation = static_cast<std::uint8_t>(T3_ROWS_BIAS_DROPOUT_ADD);
  packet.m = 64;
  packet.n = 48;
  packet.a = 0x10000, packet.b = 0x50000, packet.c = 0x70000, packet.out = 0x90000;
  packet.lda = packet.ldc = packet.ldo = 96;
  packet.factor = 0.5f;
  return packet;
}

inline AttentionPacket good_attention() {
  AttentionPacket packet;
  packet.pass = static_cast<std::uint8_t>(AttentionPass::forward);
  packet.m = 64;
  packet.n = 48;
  packet.qkv = 0x10000, packet.out = 0x90000;
  packet.ld_qkv = 288, packet.ldo = 96;
  packet.batches = 2;
  packet.qkv_batch = 64 * 288, packet.out_batch = 64 * 96;
  packet.tile_rows = packet.tile_columns = 32;
  packet.header.workgroups = 4;
  return packet;
}

}  // namespace t3vp::compute
