#include "compute/packet_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "protocol/address_map.h"
#include "protocol/data_protocol.h"
#include "registers/signals.h"

namespace t3vp {
namespace {

constexpr std::uint32_t most_rows = 1u << 30, most_tile_rows = 1024;  // of columns as well
constexpr std::uint32_t most_gpus = 1u << 16;                         // their number travels in 16 bits

bool unaligned(std::uint64_t value) { return value % 32 != 0; }

bool in_memory(std::uint64_t address, std::uint64_t rows, std::uint64_t row_stride) {
  return address_map::local_of(address) + rows * row_stride <= address_map::hbm_limit;
}

std::uint64_t tiles(const KernelPacket& packet) {
  const auto cut = [](std::uint64_t length, std::uint32_t tile) { return (length + tile - 1) / tile; };
  return cut(packet.m, packet.tile_rows) * cut(packet.n, packet.tile_columns);
}

std::uint32_t element_bytes(const KernelPacket& packet) { return bytes_of(static_cast<ElementType>(packet.element)); }

std::string check_gemm(const KernelPacket& packet) {
  const std::uint32_t bytes = element_bytes(packet);
  const bool transposed = (packet.flags & KernelPacket::transpose_b) != 0;
  const std::uint64_t b_row = std::uint64_t{transposed ? packet.k : packet.n} * bytes;
  if (packet.k == 0 || packet.lda < std::uint64_t{packet.k} * bytes || packet.ldb < b_row)
    return fmt::format("k {}, row strides of a {} and b {}: k of 1 or more, strides of at least a row, expected",
                       packet.k, packet.lda, packet.ldb);
  if (unaligned(packet.a) || unaligned(packet.b) || unaligned(packet.lda) || unaligned(packet.ldb))
    return fmt::format("a {:#x}, b {:#x}, row strides {} and {}: multiples of 32 expected", packet.a, packet.b,
                       packet.lda, packet.ldb);
  if (!in_memory(packet.a, packet.m, packet.lda) || !in_memory(packet.b, transposed ? packet.n : packet.k, packet.ldb))
    return fmt::format("a {:#x} or b {:#x} does not end in memory", packet.a, packet.b);
  if (packet.wavefronts == 0 || packet.wavefronts > 8 || packet.tile_rows % packet.wavefronts != 0)
    return fmt::format("{} wavefronts: 1 to 8 expected that divide the tile's {} rows", packet.wavefronts,
                       packet.tile_rows);
  if (packet.workgroups != tiles(packet) || packet.first_workgroup >= packet.workgroups)
    return fmt::format("workgroups {} from {}: all {} of the output, from one of them, expected", packet.workgroups,
                       packet.first_workgroup, tiles(packet));
  return {};
}

std::string check_ring(const KernelPacket& packet, const ComputeParameters& parameters) {
  if (packet.gpus < 2 || packet.gpus > most_gpus || packet.gpu >= packet.gpus)
    return fmt::format("GPU {} of {}: a ring of 2 to {} expected", packet.gpu, packet.gpus, most_gpus);
  const bool staged = packet.kind == KernelKind::ring_reduce_scatter && (packet.flags & KernelPacket::near_memory) == 0;
  if (unaligned(packet.peer_out) || (staged && (unaligned(packet.staging) || unaligned(packet.peer_staging))))
    return fmt::format("peer_out {:#x}, staging {:#x}, peer_staging {:#x}: multiples of 32 expected", packet.peer_out,
                       packet.staging, packet.peer_staging);
  const std::uint32_t units = packet.max_compute_units == 0
                                  ? parameters.compute_units
                                  : std::min(packet.max_compute_units, parameters.compute_units);
  // All workgroups of a ring kernel wait for each other, so all must be resident.
  if (packet.workgroups == 0 || packet.workgroups > units * parameters.ring_workgroups_per_cu)
    return fmt::format("{} workgroups: 1 to {} that fit at once expected", packet.workgroups,
                       units * parameters.ring_workgroups_per_cu);
  const std::uint64_t signals_end = std::uint64_t{packet.signal_base} + packet.workgroups;
  if (signals_end > registers::Signals::value_count)
    return fmt::format("signals {} to {}: there are {}", packet.signal_base, signals_end - 1,
                       registers::Signals::value_count);
  return {};
}

}  // namespace

std::string check_packet(const KernelPacket& packet, const ComputeParameters& parameters) {
  if (packet.kind != KernelKind::gemm && packet.kind != KernelKind::ring_reduce_scatter &&
      packet.kind != KernelKind::ring_all_gather)
    return fmt::format("kind {}: 1 (gemm), 2 (reduce-scatter) or 3 (all-gather) expected",
                       static_cast<int>(packet.kind));
  if (packet.element > static_cast<std::uint8_t>(ElementType::fp32))
    return fmt::format("element {}: 0 (fp16), 1 (bf16) or 2 (fp32) expected", packet.element);
  if ((packet.flags & ~KernelPacket::all_flags) != 0) return fmt::format("flags {:#x}: unknown bits", packet.flags);
  const bool right_size = packet.m - 1 < most_rows && packet.n - 1 < most_rows;
  const bool right_tiles = packet.tile_rows - 1u < most_tile_rows && packet.tile_columns - 1u < most_tile_rows;
  if (!right_size || !right_tiles || tiles(packet) >= no_workgroup)
    return fmt::format("output {} x {} in tiles of {} x {}: 1 to {} and 1 to {}, fewer than 2^32 tiles, expected",
                       packet.m, packet.n, packet.tile_rows, packet.tile_columns, most_rows, most_tile_rows);
  const std::uint32_t bytes = element_bytes(packet);
  if (unaligned(packet.out) || unaligned(packet.ldo) || packet.ldo < std::uint64_t{packet.n} * bytes)
    return fmt::format("out {:#x} with row stride {}: multiples of 32, at least a row of {} bytes, expected",
                       packet.out, packet.ldo, std::uint64_t{packet.n} * bytes);
  if (!in_memory(packet.out, packet.m, packet.ldo)) return fmt::format("out {:#x} does not end in memory", packet.out);
  return packet.kind == KernelKind::gemm ? check_gemm(packet) : check_ring(packet, parameters);
}

}  // namespace t3vp
