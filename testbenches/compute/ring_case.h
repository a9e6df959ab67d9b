// A ring of GPUs with an output each, and the packets of the ring kernels on it.
#pragma once

#include <Eigen/Core>
#include <random>

#include "cluster_bench.h"
#include "protocol/element.h"
#include "protocol/tile_grid.h"

namespace t3vp::compute {

struct RingCase {
  static constexpr std::uint64_t out_base = 0x10000, staging_base = 0x90000;
  static constexpr std::uint32_t signal_base = 7;
  using Output = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  TileGrid grid;
  std::uint32_t gpus, workgroups;

  /// Chunk that GPU g sends in a step: its neighbour's first, its own last (T3 Figure 3), or its own first.
  static std::uint32_t chunk(std::uint32_t kind, std::uint32_t gpus, std::uint32_t g, std::uint32_t step) {
    return (g + step + (kind == handle::ring_reduce_scatter ? 1 : 0)) % gpus;
  }
  std::uint32_t receiver(std::uint32_t g) const { return (g + gpus - 1) % gpus; }

  RingPacket packet(std::uint32_t kind, std::uint32_t g, std::uint16_t flags, std::uint64_t epoch) const {
    RingPacket p(kind);
    p.element = static_cast<std::uint8_t>(grid.element);
    p.uncached = (flags & flag::uncached) != 0;
    p.near_memory = (flags & flag::near_memory) != 0;
    p.m = grid.rows;
    p.n = grid.columns;
    p.ldo = static_cast<std::uint32_t>(grid.row_stride);
    p.tile_rows = static_cast<std::uint16_t>(grid.tile_rows);
    p.tile_columns = static_cast<std::uint16_t>(grid.tile_columns);
    p.header.workgroups = workgroups;
    p.gpu = g;
    p.gpus = gpus;
    p.signal_base = signal_base;
    p.signal_epoch = epoch;
    p.out = address_map::on_gpu(g, out_base);
    p.peer_out = address_map::on_gpu(receiver(g), out_base);
    if (p.is_staged()) {
      p.staging = address_map::on_gpu(g, staging_base);
      p.peer_staging = address_map::on_gpu(receiver(g), staging_base);
    }
    return p;
  }

  std::uint64_t chunk_bytes(std::uint32_t c) const {
    std::uint64_t elements = 0;
    for (std::uint32_t wg = grid.chunk_begin(c, gpus); wg < grid.chunk_begin(c + 1, gpus); ++wg)
      elements += grid.tile(wg).elements();
    return elements * bytes_of(grid.element);
  }
  std::uint32_t chunk_of_offset(std::uint64_t offset) const {
    const std::uint64_t row = offset / grid.row_stride, column = offset % grid.row_stride / bytes_of(grid.element);
    const auto wg = static_cast<std::uint32_t>(row / grid.tile_rows * grid.tiles_across() + column / grid.tile_columns);
    std::uint32_t c = 0;
    while (grid.chunk_begin(c + 1, gpus) <= wg) ++c;
    return c;
  }
  /// Calls visit(row, column) for the elements of a chunk.
  template <typename Visit>
  void for_each_element(std::uint32_t c, Visit visit) const {
    for (std::uint32_t wg = grid.chunk_begin(c, gpus); wg < grid.chunk_begin(c + 1, gpus); ++wg) {
      const Rectangle tile = grid.tile(wg);
      for (std::uint32_t row = tile.row; row < tile.row + tile.rows; ++row)
        for (std::uint32_t column = tile.column; column < tile.column + tile.columns; ++column) visit(row, column);
    }
  }

  /// Small integers, whose sums are exact whatever their order.
  Output fill(NodeMemory& memory, std::uint32_t g, std::mt19937& random) const {
    Output output(grid.rows, grid.columns);
    for (std::uint32_t row = 0; row < grid.rows; ++row)
      for (std::uint32_t column = 0; column < grid.columns; ++column) {
        const float value = static_cast<float>(random() % 9) - 4;
        output(row, column) = value;
        narrow_elements(grid.element, &value, memory.at(address_map::on_gpu(g, out_base + grid.offset(row, column))),
                        1);
      }
    return output;
  }
  Output read(NodeMemory& memory, std::uint32_t g) const {
    Output output(grid.rows, grid.columns);
    for (std::uint32_t row = 0; row < grid.rows; ++row)
      for (std::uint32_t column = 0; column < grid.columns; ++column) {
        float value = 0;
        widen_elements(grid.element, memory.at(address_map::on_gpu(g, out_base + grid.offset(row, column))), &value, 1);
        output(row, column) = value;
      }
    return output;
  }
};

}  // namespace t3vp::compute
