#include "compute/kernel_ranges.h"

#include <algorithm>

#include "compute/row_operations.h"
#include "protocol/element.h"

namespace t3vp {
namespace {

std::uint64_t row_bytes(const KernelPacket& packet, std::uint64_t columns) {
  return columns * bytes_of(static_cast<ElementType>(packet.element));
}

bool runs_backward(const KernelPacket& packet) {
  return packet.kernel == KernelKind::attention &&
         packet.operation != static_cast<std::uint8_t>(AttentionPass::forward);
}

/// Rows of q, k and v beside each other.
std::uint64_t packed_bytes(const KernelPacket& packet) { return (row_bytes(packet, packet.n) + 31) / 32 * 32 * 3; }

OutputRange range_of(const KernelPacket& packet, std::uint64_t address, std::uint64_t rows, std::uint64_t stride,
                     std::uint64_t row, std::uint64_t batch_stride) {
  const std::uint64_t matrices = std::max<std::uint64_t>(1, packet.batches);
  return {address, address + (matrices - 1) * batch_stride + (rows - 1) * stride + row};
}

/// Operands a, b and c of a rows kernel that are in the mask; a vector has a stride of 0.
void add_rows(const KernelPacket& packet, std::uint8_t mask, std::vector<OutputRange>& ranges) {
  const std::uint64_t addresses[] = {packet.a, packet.b, packet.c}, strides[] = {packet.lda, packet.ldb, packet.ldc};
  for (std::uint32_t operand = row_a; operand < row_out; ++operand)
    if ((mask >> operand & 1) != 0)
      ranges.push_back(
          range_of(packet, addresses[operand], packet.m, strides[operand], row_bytes(packet, packet.n), 0));
}

std::vector<OutputRange> read_by_gemm(const KernelPacket& packet) {
  const bool a_transposed = (packet.flags & KernelPacket::transpose_a) != 0;
  const bool b_transposed = (packet.flags & KernelPacket::transpose_b) != 0;
  return {range_of(packet, packet.a, a_transposed ? packet.k : packet.m, packet.lda,
                   row_bytes(packet, a_transposed ? packet.m : packet.k), packet.a_batch),
          range_of(packet, packet.b, b_transposed ? packet.n : packet.k, packet.ldb,
                   row_bytes(packet, b_transposed ? packet.k : packet.n), packet.b_batch)};
}

std::vector<OutputRange> read_by_attention(const KernelPacket& packet) {
  std::vector<OutputRange> ranges{
      range_of(packet, packet.a, packet.m, packet.lda, packed_bytes(packet), packet.a_batch)};
  if (runs_backward(packet))
    for (const std::uint64_t address : {packet.b, packet.c})
      ranges.push_back(range_of(packet, address, packet.m, packet.ldb, row_bytes(packet, packet.n), packet.b_batch));
  return ranges;
}

}  // namespace

OutputRange output_of(const KernelPacket& packet) {
  const std::uint64_t row = runs_backward(packet) ? packed_bytes(packet) : row_bytes(packet, packet.n);
  return range_of(packet, packet.out, packet.m, packet.ldo, row, packet.out_batch);
}

std::vector<OutputRange> written_by(const KernelPacket& packet) {
  std::vector<OutputRange> ranges{output_of(packet)};
  if (packet.kernel == KernelKind::rows)
    add_rows(packet, traits_of(static_cast<RowOperation>(packet.operation)).writes, ranges);
  if (is_staged(packet))
    ranges.push_back(range_of(packet, packet.staging, packet.m, packet.ldo, row_bytes(packet, packet.n), 0));
  return ranges;
}

std::vector<OutputRange> read_by(const KernelPacket& packet) {
  if (packet.kernel == KernelKind::gemm) return read_by_gemm(packet);
  if (packet.kernel == KernelKind::attention) return read_by_attention(packet);
  std::vector<OutputRange> ranges;
  if (packet.kernel == KernelKind::rows) {
    const RowTraits& traits = traits_of(static_cast<RowOperation>(packet.operation));
    add_rows(packet, traits.reads & static_cast<std::uint8_t>(~traits.writes), ranges);
  }
  return ranges;
}

}  // namespace t3vp
