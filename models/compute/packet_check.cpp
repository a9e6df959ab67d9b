#include "compute/packet_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "protocol/tile_grid.h"
#include "registers/signals.h"

namespace t3vp {
namespace {

bool unaligned(std::uint64_t value) { return value % 32 != 0; }

std::uint32_t element_bytes(const KernelPacket& packet) { return bytes_of(static_cast<ElementType>(packet.element)); }

std::string check_gemm(const KernelPacket& packet) {
  const std::uint32_t bytes = element_bytes(packet);
  const TileGrid grid{packet.m, packet.n, packet.tile_rows, packet.tile_columns, 1, packet.ldo, ElementType::fp16};
  const bool transposed = (packet.flags & KernelPacket::transpose_b) != 0;
  const std::uint64_t b_row = std::uint64_t{transposed ? packet.k : packet.n} * bytes;
  if (packet.k == 0 || packet.lda < std::uint64_t{packet.k} * bytes || packet.ldb < b_row)
    return fmt::format("k {}, row strides of a {} and b {}: k of 1 or more, strides of at least a row, expected",
                       packet.k, packet.lda, packet.ldb);
  if (unaligned(packet.a) || unaligned(packet.b) || unaligned(packet.lda) || unaligned(packet.ldb))
    return fmt::format("a {:#x}, b {:#x}, row strides {} and {}: multiples of 32 expected", packet.a, packet.b,
                       packet.lda, packet.ldb);
  if (packet.wavefronts == 0 || packet.wavefronts > 8 || packet.tile_rows % packet.wavefronts != 0)
    return fmt::format("{} wavefronts: 1 to 8 expected that divide the tile's {} rows", packet.wavefronts,
                       packet.tile_rows);
  if (packet.workgroups != grid.workgroups() || packet.first_workgroup >= grid.workgroups())
    return fmt::format("workgroups {} from {}: all {} of the output, from one of them, expected", packet.workgroups,
                       packet.first_workgroup, grid.workgroups());
  return {};
}

std::string check_ring(const KernelPacket& packet, const ComputeParameters& parameters) {
  if (packet.gpus < 2 || packet.gpu >= packet.gpus)
    return fmt::format("GPU {} of {}: a ring of 2 or more expected", packet.gpu, packet.gpus);
  const std::uint32_t units = packet.max_compute_units == 0
                                  ? parameters.compute_units
                                  : std::min(packet.max_compute_units, parameters.compute_units);
  // All workgroups of a ring kernel wait for each other, so all must be resident.
  if (packet.workgroups == 0 || packet.workgroups > units * parameters.ring_workgroups_per_cu)
    return fmt::format("{} workgroups: 1 to {} that fit at once expected", packet.workgroups,
                       units * parameters.ring_workgroups_per_cu);
  if (packet.signal_base + packet.workgroups > registers::Signals::value_count)
    return fmt::format("signals {} to {}: there are {}", packet.signal_base, packet.signal_base + packet.workgroups - 1,
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
  if (packet.m == 0 || packet.n == 0 || packet.tile_rows == 0 || packet.tile_columns == 0)
    return fmt::format("output {} x {} in tiles of {} x {}: none may be 0", packet.m, packet.n, packet.tile_rows,
                       packet.tile_columns);
  const std::uint32_t bytes = element_bytes(packet);
  if (unaligned(packet.out) || unaligned(packet.ldo) || packet.ldo < std::uint64_t{packet.n} * bytes)
    return fmt::format("out {:#x} with row stride {}: multiples of 32, at least a row of {} bytes, expected",
                       packet.out, packet.ldo, std::uint64_t{packet.n} * bytes);
  return packet.kind == KernelKind::gemm ? check_gemm(packet) : check_ring(packet, parameters);
}

}  // namespace t3vp
