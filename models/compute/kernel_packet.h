// The 128-byte packet by which firmware asks the compute cluster for a kernel, little endian, as AQL packets are
// (T3 4.3 sends the update flag this way). firmware/include/t3/kernel_packet.h is its twin in C; a firmware test
// compares them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace t3vp {

enum class KernelKind : std::uint8_t { none = 0, gemm = 1, ring_reduce_scatter = 2, ring_all_gather = 3 };

/// out (m x n) = a (m x k) b (k x n), all row-major; with transpose_b, b is n x k. Element types are ElementType's.
/// Ring kernels work on the same out, cut into `gpus` chunks of consecutive workgroups (protocol/tile_grid.h): GPU g
/// sends to the GPU of peer_out, chunk (g + 1) first and chunk g last for reduce-scatter, chunk g first for all-gather.
struct KernelPacket {
  // Bits of `flags`.
  static constexpr std::uint16_t update = 1;    ///< stores of out are near-memory updates
  static constexpr std::uint16_t uncached = 2;  ///< loads and stores of out bypass the cache
  static constexpr std::uint16_t transpose_b = 4;
  static constexpr std::uint16_t near_memory = 8;  ///< reduce-scatter updates peer_out, peer_staging is not used
  static constexpr std::uint16_t all_flags = update | uncached | transpose_b | near_memory;

  KernelKind kind;
  std::uint8_t element;
  std::uint16_t flags;
  std::uint32_t m, n, k;            ///< elements
  std::uint64_t a, b, out;          ///< local addresses
  std::uint32_t lda, ldb, ldo;      ///< bytes from one row to the next
  std::uint32_t first_workgroup;    ///< GEMM: where the order of workgroups starts; it wraps around
  std::uint32_t workgroups;         ///< GEMM: all of the output's; ring: how many share a chunk, the same on all GPUs
  std::uint32_t gpu, gpus;          ///< position in the ring and its size
  std::uint32_t signal_base;        ///< ring: workgroup w counts received steps in signal signal_base + w
  std::uint64_t peer_out;           ///< ring: the receiver's out
  std::uint64_t staging;            ///< reduce-scatter: own receive buffer, laid out as out
  std::uint64_t peer_staging;       ///< reduce-scatter: the receiver's
  std::uint64_t signal_epoch;       ///< value of those signals before this kernel; step s waits for signal_epoch + s
  std::uint32_t max_compute_units;  ///< 0: all
  std::uint16_t tile_rows, tile_columns;
  std::uint8_t wavefronts;  ///< of a GEMM workgroup, 1 to 8
  std::array<std::uint8_t, 15> reserved;
};

static_assert(sizeof(KernelPacket) == 128, "the queue's entries are 128 bytes");
static_assert(offsetof(KernelPacket, peer_out) == 72 && offsetof(KernelPacket, signal_epoch) == 96,
              "no padding between fields");

}  // namespace t3vp
