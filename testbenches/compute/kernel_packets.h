// Packets with the arguments of their kernels, as tests change them, and as they lie in memory.
#pragma once

#include <vector>

#include "kernel_names.h"
#include "t3/arguments/attention.h"
#include "t3/arguments/gemm.h"
#include "t3/arguments/ring_all_gather.h"
#include "t3/arguments/ring_reduce_scatter.h"
#include "t3/arguments/rows.h"
#include "t3/kernel_packet.h"

namespace t3vp::compute {

/// Switches of GEMMs and ring kernels.
namespace flag {
constexpr std::uint16_t update = 1, uncached = 2, transpose_b = 4, near_memory = 8, transpose_a = 16;
}

enum class AttentionPass : std::uint8_t {
  forward = T3_ATTENTION_ARGUMENTS_PASS_FORWARD,
  backward_q = T3_ATTENTION_ARGUMENTS_PASS_BACKWARD_Q,
  backward_kv = T3_ATTENTION_ARGUMENTS_PASS_BACKWARD_KV
};

struct EncodedPacket {
  t3_kernel_packet header;
  std::vector<unsigned char> arguments;
};

inline t3_kernel_packet header_of(std::uint32_t kernel) {
  t3_kernel_packet header{};
  header.kernel = kernel;
  header.completion_signal = T3_KERNEL_PACKET_COMPLETION_SIGNAL_NONE;
  return header;
}

/// Unless the test has said otherwise, the header is about these arguments.
template <typename Arguments, typename To>
EncodedPacket encoded(t3_kernel_packet header, const Arguments& arguments, To to, std::uint32_t bytes) {
  EncodedPacket packet{header, std::vector<unsigned char>(bytes)};
  to(&arguments, packet.arguments.data());
  if (header.argument_bytes == 0) packet.header.argument_bytes = bytes;
  return packet;
}

struct GemmPacket : t3_gemm_arguments {
  t3_kernel_packet header = header_of(handle::gemm);
  GemmPacket() : t3_gemm_arguments{} {}
  operator EncodedPacket() const { return encoded(header, *this, t3_gemm_arguments_to, T3_GEMM_ARGUMENTS_BYTES); }
};

struct RowsPacket : t3_rows_arguments {
  t3_kernel_packet header = header_of(handle::rows);
  RowsPacket() : t3_rows_arguments{} {}
  operator EncodedPacket() const { return encoded(header, *this, t3_rows_arguments_to, T3_ROWS_ARGUMENTS_BYTES); }
};

struct AttentionPacket : t3_attention_arguments {
  t3_kernel_packet header = header_of(handle::attention);
  AttentionPacket() : t3_attention_arguments{} {}
  operator EncodedPacket() const {
    return encoded(header, *this, t3_attention_arguments_to, T3_ATTENTION_ARGUMENTS_BYTES);
  }
};

/// The arguments of either ring kernel: an all-gather has no use for what a reduce-scatter stages.
struct RingPacket : t3_ring_reduce_scatter_arguments {
  t3_kernel_packet header;
  explicit RingPacket(std::uint32_t kernel) : t3_ring_reduce_scatter_arguments{}, header(header_of(kernel)) {}
  bool gathers() const { return header.kernel == handle::ring_all_gather; }
  /// Its chunks arrive in staging buffers and are added by the compute units.
  bool is_staged() const { return !gathers() && near_memory == 0; }
  t3_ring_all_gather_arguments gathered() const {
    return {out, peer_out, signal_epoch, m, n, ldo, signal_base, gpu, gpus, tile_rows, tile_columns, element, uncached};
  }
  operator EncodedPacket() const {
    if (gathers())
      return encoded(header, gathered(), t3_ring_all_gather_arguments_to, T3_RING_ALL_GATHER_ARGUMENTS_BYTES);
    return encoded(header, *this, t3_ring_reduce_scatter_arguments_to, T3_RING_REDUCE_SCATTER_ARGUMENTS_BYTES);
  }
};

}  // namespace t3vp::compute
