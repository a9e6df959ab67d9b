// A GEMM's operands in memory, its packet and its result by Eigen in double.
#pragma once

#include <Eigen/Core>
#include <random>

#include "cluster_bench.h"
#include "protocol/element.h"
#include "protocol/tile_grid.h"

namespace t3vp::compute {

using Reference = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct GemmCase {
  static constexpr std::uint64_t a_base = 0x10000, b_base = 0x50000, out_base = 0x90000;

  GemmPacket packet;

  GemmCase(const ComputeParameters& p, std::uint32_t m, std::uint32_t n, std::uint32_t k, ElementType element,
           std::uint16_t flags = 0) {
    packet.element = static_cast<std::uint8_t>(element);
    packet.update = (flags & flag::update) != 0;
    packet.uncached = (flags & flag::uncached) != 0;
    packet.transpose_a = (flags & flag::transpose_a) != 0;
    packet.transpose_b = (flags & flag::transpose_b) != 0;
    packet.m = m;
    packet.n = n;
    packet.k = k;
    packet.a = a_base;
    packet.b = b_base;
    packet.out = out_base;
    packet.lda = row_bytes(a_transposed() ? m : k);
    packet.ldb = row_bytes(transposed() ? k : n);
    packet.ldo = row_bytes(n);
    packet.tile_rows = static_cast<std::uint16_t>(p.tile_rows);
    packet.tile_columns = static_cast<std::uint16_t>(p.tile_columns);
    packet.wavefronts = static_cast<std::uint8_t>(p.wavefronts);
    packet.header.workgroups = grid().workgroups();
  }

  ElementType element() const { return static_cast<ElementType>(packet.element); }
  bool a_transposed() const { return packet.transpose_a != 0; }
  bool transposed() const { return packet.transpose_b != 0; }
  TileGrid grid() const {
    return {packet.m, packet.n, packet.tile_rows, packet.tile_columns, packet.wavefronts, packet.ldo, element()};
  }

  /// Integers of at most `magnitude` are exact in every type while sums stay small; otherwise normal numbers.
  void fill(NodeMemory& memory, std::mt19937& random, int magnitude) {
    std::normal_distribution<float> normal;
    const auto number = [&] {
      return magnitude == 0 ? normal(random)
                            : static_cast<float>(
                                  static_cast<int>(random() % (2u * static_cast<unsigned>(magnitude) + 1)) - magnitude);
    };
    a_ = place(memory, packet.a, a_transposed() ? packet.k : packet.m, a_transposed() ? packet.m : packet.k, packet.lda,
               number);
    if (a_transposed()) a_.transposeInPlace();
    b_ = place(memory, packet.b, transposed() ? packet.n : packet.k, transposed() ? packet.k : packet.n, packet.ldb,
               number);
  }
  Reference expected() const { return transposed() ? Reference(a_ * b_.transpose()) : Reference(a_ * b_); }
  Reference result(NodeMemory& memory) const { return read(memory, packet.out, packet.m, packet.n, packet.ldo); }

  /// Bytes that the workgroups load: each its rows of A and its columns of B.
  std::uint64_t loaded_bytes() const {
    std::uint64_t elements = 0;
    for (std::uint32_t wg = 0; wg < grid().workgroups(); ++wg)
      elements += std::uint64_t{grid().tile(wg).rows + grid().tile(wg).columns} * packet.k;
    return elements * bytes_of(element());
  }

 private:
  std::uint32_t row_bytes(std::uint32_t columns) const { return (columns * bytes_of(element()) + 31) / 32 * 32; }

  Reference read(NodeMemory& memory, std::uint64_t base, std::uint32_t rows, std::uint32_t columns,
                 std::uint32_t stride) const {
    Reference matrix(rows, columns);
    std::vector<float> row(columns);
    for (std::uint32_t r = 0; r < rows; ++r) {
      widen_elements(element(), memory.at(base + std::uint64_t{r} * stride), row.data(), columns);
      for (std::uint32_t c = 0; c < columns; ++c) matrix(r, c) = row[c];
    }
    return matrix;
  }
  /// Writes a matrix and returns it as it is in memory, rounded.
  template <typename Number>
  Reference place(NodeMemory& memory, std::uint64_t base, std::uint32_t rows, std::uint32_t columns,
                  std::uint32_t stride, Number number) const {
    std::vector<float> row(columns);
    for (std::uint32_t r = 0; r < rows; ++r) {
      for (float& value : row) value = number();
      narrow_elements(element(), row.data(), memory.at(base + std::uint64_t{r} * stride), columns);
    }
    return read(memory, base, rows, columns, stride);
  }

  Reference a_, b_;
};

}  // namespace t3vp::compute
