// The 128-byte packet by which firmware asks the compute cluster for a kernel (T3 4.3 sends the update flag this way).
// In memory it is little endian, as AQL packets are, each field at its offset here, whatever the host is.
// firmware/include/t3/kernel_packet.h is its twin in C; a firmware test compares them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace t3vp {

/// One of the three walks over the scores of an attention kernel.
enum class AttentionPass : std::uint8_t { none = 0, forward = 1, backward_q = 2, backward_kv = 3, count };

/// out (m x n) = a (m x k) b (k x n), all row-major; with transpose_a, a is stored k x m, with transpose_b, b n x k.
/// Element types are ElementType's. A batch is several such products of one shape, each a batch stride further on.
///
/// An attention kernel never writes its m x m scores: it walks over them tile by tile, tile_rows x tile_columns. Each
/// matrix of a holds q, k and v (m x n each) side by side, each padded to 32 bytes of a row; out is softmax(factor q
/// k^T) v, or in the backward passes the gradients of q, k and v in the layout of a, from the gradient of the result in
/// b and, in backward_q, the result in c, which has the layout of b.
///
/// Ring kernels work on the same out, cut into `gpus` chunks of consecutive workgroups (protocol/tile_grid.h): GPU g
/// sends to the GPU of peer_out, chunk (g + 1) first and chunk g last for reduce-scatter, chunk g first for all-gather.
struct KernelPacket {
  // Bits of `flags`.
  static constexpr std::uint16_t update = 1;    ///< stores of out are near-memory updates
  static constexpr std::uint16_t uncached = 2;  ///< loads and stores of out bypass the cache
  static constexpr std::uint16_t transpose_b = 4;
  static constexpr std::uint16_t near_memory = 8;  ///< reduce-scatter updates peer_out, peer_staging is not used
  static constexpr std::uint16_t transpose_a = 16;
  static constexpr std::uint16_t all_flags = update | uncached | transpose_b | near_memory | transpose_a;

  static constexpr std::uint32_t no_signal = 0xFFFFFFFF;  ///< completion_signal: none

  // What every packet begins with.
  std::uint32_t kernel;  ///< t3_kernel_handle() of its name
  std::uint32_t completion_signal =
      no_signal;            ///< counter of the signals block that grows by 1 when the packet has ended
  std::uint64_t arguments;  ///< 0: the operands follow here

  std::uint32_t m, n;  ///< elements
  std::uint64_t out;   ///< local address, as all others but peers'
  union {
    std::uint64_t a;
    std::uint64_t peer_out;  ///< ring: the receiver's out
  };
  union {
    std::uint64_t b;
    std::uint64_t staging;  ///< reduce-scatter: own receive buffer, laid out as out
  };
  union {
    std::uint64_t c;             ///< rows, attention: third operand
    std::uint64_t peer_staging;  ///< reduce-scatter: the receiver's
  };
  union {
    std::uint64_t signal_epoch;  ///< ring: value of its signals before this kernel; step s waits for signal_epoch + s
    float factor;                ///< rows, attention
  };
  std::uint32_t ldo, lda, ldb;  ///< bytes from one row to the next
  union {
    std::uint32_t ldc;          ///< rows: as lda
    std::uint32_t signal_base;  ///< ring: workgroup w counts received steps in signal signal_base + w
  };
  union {
    std::uint32_t k;     ///< GEMM: elements
    std::uint32_t seed;  ///< rows: of the dropout
  };
  std::uint32_t first_workgroup;    ///< GEMM: where the order of workgroups starts; it wraps around
  std::uint32_t workgroups;         ///< GEMM: all of the output's; ring: how many share a chunk, the same on all GPUs
  std::uint32_t max_compute_units;  ///< 0: all
  std::uint32_t gpu, gpus;          ///< position in the ring and its size
  std::uint32_t a_batch, b_batch, out_batch;  ///< bytes from one matrix of a batch to the next
  std::uint16_t tile_rows, tile_columns;
  std::uint16_t batches;  ///< GEMM, attention: 0 and 1 mean one
  std::uint8_t element;
  std::uint8_t wavefronts;  ///< of a GEMM workgroup, 1 to 8
  std::uint8_t operation;   ///< rows: a t3_row_operation; attention: an AttentionPass
  std::uint8_t reserved;    ///< 0
  std::uint16_t flags;
};

static_assert(sizeof(KernelPacket) == 128, "the queue's entries are 128 bytes");
static_assert(offsetof(KernelPacket, arguments) == 8 && offsetof(KernelPacket, ldo) == 64 &&
                  offsetof(KernelPacket, reserved) == 125 && offsetof(KernelPacket, flags) == 126,
              "no padding between fields");

/// From its bytes in memory.
KernelPacket packet_from(const unsigned char* bytes);

}  // namespace t3vp
