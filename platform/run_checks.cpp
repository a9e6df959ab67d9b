#include "platform/run_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "platform/faults.h"
#include "platform/layer.h"

namespace t3vp {
namespace {

/// Elements of the tiles before workgroup `wg_id`.
std::uint64_t elements_before(const TileGrid& grid, std::uint32_t wg_id) {
  const std::uint32_t tile_row = wg_id / grid.tiles_across();
  const std::uint64_t rows = std::min<std::uint64_t>(std::uint64_t{tile_row} * grid.tile_rows, grid.rows);
  const std::uint64_t height = std::min<std::uint64_t>(grid.tile_rows, grid.rows - rows);
  const std::uint64_t width = std::uint64_t{wg_id % grid.tiles_across()} * grid.tile_columns;
  return rows * grid.columns + height * width;
}

/// A mirror's own chunks stand for its neighbours', so that they have to be of one size.
void check_mirror(const Document& run, const RunConfiguration& c) {
  if (c.functional) run.reject("/simulate", "all with data functional: a mirror has no neighbours' data");
  const TileGrid grid = output_grid(c);
  const std::uint64_t first = elements_before(grid, grid.chunk_begin(1, c.gpus));
  for (std::uint32_t chunk = 1; chunk < c.gpus; ++chunk) {
    const std::uint64_t elements = elements_before(grid, grid.chunk_begin(chunk + 1, c.gpus)) -
                                   elements_before(grid, grid.chunk_begin(chunk, c.gpus));
    if (elements != first)
      run.reject("/simulate",
                 fmt::format("all, since the {} GPUs' chunks differ ({} and {} elements)", c.gpus, first, elements));
  }
}

void check_memory_holds(const Document& run, const RunConfiguration& c) {
  const GemmShape& g = c.workload.gemm;
  const std::uint64_t m = g.m, n = g.n, k = g.k;
  const std::uint64_t bytes = (m * k + k * n + m * n) * bytes_of(g.element);
  if (bytes > c.system.memory.capacity_bytes)
    run.reject("/workload", fmt::format("operands and output of {} B", bytes),
               fmt::format("at most the {} B of a GPU's memory", c.system.memory.capacity_bytes));
}

void check_layer(const Document& run, const RunConfiguration& c) {
  const LayerWorkload& layer = *c.workload.layer;
  if (c.method != Method::sequential)
    run.reject("/method", "sequential, or nothing: the operations of a layer run one after the other");
  if (c.functional && layer.training && layer.fused_attention)
    run.reject("/data", "timing-only: fused attention computes no data in its backward pass");
  const std::uint64_t bytes = bytes_of(layer_program(layer, c.system.compute));
  if (bytes > c.system.memory.capacity_bytes)
    run.reject("/workload", fmt::format("tensors of {} B", bytes),
               fmt::format("at most the {} B of a GPU's memory", c.system.memory.capacity_bytes));
}

void check_gemm(const Document& run, const RunConfiguration& c) {
  const std::uint32_t tiles = output_grid(c).workgroups();
  if (tiles < c.gpus)
    run.reject(run.content.contains("gpus") ? "/gpus" : "/workload/tp",
               fmt::format("at most {}, the output's tiles, so that every GPU has a chunk", tiles));
  check_memory_holds(run, c);
  if (c.mirror) check_mirror(run, c);
}

}  // namespace

void check_run(const Document& run, const RunConfiguration& c) {
  if (c.workload.layer)
    check_layer(run, c);
  else
    check_gemm(run, c);
  if (run.content.contains("phases") && (!is_ideal(c.method) || c.functional))
    run.reject("/phases", "this key only with method ideal-overlap or ideal-rs-nmc and data timing-only");
  check_faults(run, c);
}

}  // namespace t3vp
