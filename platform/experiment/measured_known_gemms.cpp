// known_order.csv, known_splitk.csv: GEMMs alone on one GPU whose kernel is known.
#include <fmt/format.h>

#include "experiment/measured_known_gemm.h"

namespace t3vp {
namespace {

constexpr std::uint64_t largest_tile = 1024, largest_group = 1024, most_parts = 64;

/// K is split into parts. A workgroup for each adds to the output, in the element type.
Settings split_gemm(const GemmInRow& gemm, const TileInRow& tile, std::uint64_t parts) {
  const Settings whole = joined(known_gemm(gemm, tile, 1), dirty_cache);
  return parts == 1 ? whole : joined(whole, Settings{fmt::format("workload.split_k={}", parts), atomic_cache});
}

std::vector<Measurement> ordered_times_in(const MeasuredRow& row) {
  check_amounts(row, {"us_min", "us_max"});
  const TileInRow tile = tile_of(row);
  const std::uint64_t group = group_of(row);
  const PipelineInRow pipeline{row.count("slab_k", 8, 1024), row.count("stages", 1, 16)};
  const auto settings = [&](const GemmInRow& gemm) {
    return joined(known_gemm(gemm, tile, group, pipeline), dirty_cache);
  };
  return {time_in(row, "us", by_depth(gemm_of(row), settings, "time_ns.gemm"), known_launches)};
}

std::vector<Measurement> split_times_in(const MeasuredRow& row) {
  check_amounts(row, {"us_min", "us_max"});
  const TileInRow tile = tile_of(row);
  const std::uint64_t parts = row.count("split", 1, most_parts);
  row.name("store", {"store", "update_f32", "update_f16"});
  const auto settings = [&](const GemmInRow& gemm) { return split_gemm(gemm, tile, parts); };
  return {time_in(row, "us", by_depth(gemm_of(row, true), settings, "time_ns.gemm"), known_launches)};
}

}  // namespace

TileInRow tile_of(const MeasuredRow& row) {
  return {row.count("tile_m", 8, largest_tile), row.count("tile_n", 8, largest_tile)};
}

std::uint64_t group_of(const MeasuredRow& row) { return row.count("group_m", 1, largest_group); }

std::string known_keys(const GemmInRow& gemm, const TileInRow& tile, std::uint64_t group) {
  return fmt::format(R"("tile": "{}x{}", "group": {}, "step_ns": {}, "store_bytes": {})", tile.rows, tile.columns,
                     group, gemm.transpose_b ? known_step_ns : 0, known_store_bytes);
}

Settings known_gemm(const GemmInRow& gemm, const TileInRow& tile, std::uint64_t group, const PipelineInRow& pipeline) {
  return joined(gemm_alone(gemm, known_keys(gemm, tile, group)),
                joined(known_system, Settings{fmt::format("system.compute.slab_depth={}", pipeline.depth),
                                              fmt::format("system.compute.prefetch_slabs={}", pipeline.stages)}));
}

MeasuredFile measured_orders() {
  return {"known_order.csv",
          {"model", "sublayer", "tp", "M", "N", "K", "transpose_b", "tile_m", "tile_n", "slab_k", "stages", "group_m",
           "us", "us_min", "us_max"},
          ordered_times_in,
          unaligned_depth};
}

MeasuredFile measured_split_depths() {
  return {"known_splitk.csv",
          {"M", "N", "K", "tile_m", "tile_n", "split", "store", "us", "us_min", "us_max"},
          split_times_in,
          unaligned_depth};
}

}  // namespace t3vp
