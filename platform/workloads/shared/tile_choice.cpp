#include "workloads/shared/tile_choice.h"

#include <algorithm>

#include "workloads/shared/room_checks.h"

namespace t3vp {
namespace {

constexpr double as_short = 1.05;

std::uint64_t cut(std::uint64_t length, std::uint64_t piece) { return (length + piece - 1) / piece; }

std::uint64_t tiles_in(TileShape tile, std::uint64_t m, std::uint64_t n) {
  return cut(m, tile.rows) * cut(n, tile.columns);
}

}  // namespace

double GemmEstimate::total() const { return std::max({compute, loads, latency, cache, dram}) + edges; }

GemmEstimate estimate_gemm(const GemmSystem& system, const GemmShape& gemm, TileShape tile) {
  const compute::ComputeParameters& p = system.compute;
  const cache::CacheParameters& cache = system.cache;
  const double bytes = bytes_of(gemm.element);
  const std::uint64_t tiles = tiles_in(tile, gemm.m, gemm.n), tiles_of_cu = cut(tiles, p.compute_units);
  const std::uint64_t resident =
      p.workgroups_per_cu * std::max<std::uint64_t>(std::uint64_t{p.tile_rows} * p.tile_columns / tile.elements(), 1);
  const auto rounds = static_cast<double>(cut(tiles_of_cu, resident));
  const double rows = std::min(tile.rows, gemm.m), columns = std::min(tile.columns, gemm.n), k = gemm.k;
  const double port_GBps = p.port_bytes_per_cycle * p.clock_GHz, load_bytes = (rows + columns) * k * bytes;
  const double load_ns = load_latency_ns(cache, system.memory);
  GemmEstimate e;
  e.compute = to_ns(quantized_compute_time(p, tile, gemm.m, gemm.n, gemm.k, 1));
  e.loads = static_cast<double>(tiles_of_cu) * load_bytes / port_GBps;
  e.latency = rounds * static_cast<double>(cut(gemm.k, p.slab_depth)) * load_ns / p.prefetch_slabs;
  e.cache = static_cast<double>(tiles) * load_bytes / (cache.banks * cache.bank_bytes_per_cycle * cache.clock_GHz);
  e.dram = (double{1} * gemm.m * gemm.k + double{1} * gemm.k * gemm.n + double{1} * gemm.m * gemm.n) * bytes /
           peak_GBps(system.memory);
  e.edges = rounds * (load_ns + rows * columns * bytes / port_GBps);
  return e;
}

std::vector<TileShape> tiles_of(const GemmSystem& system) {
  const TileShape own{system.compute.tile_rows, system.compute.tile_columns};
  std::vector<TileShape> tiles{own};
  for (const TileShape& tile : system.tiles)
    if (tile.elements() <= own.elements()) tiles.push_back(tile);
  return tiles;
}

TileShape choose_tile(const GemmSystem& system, const GemmShape& gemm) {
  const std::vector<TileShape> tiles = tiles_of(system);
  std::vector<double> times;
  for (const TileShape& tile : tiles) times.push_back(estimate_gemm(system, gemm, tile).total());
  const double limit = as_short * *std::min_element(times.begin(), times.end());
  TileShape chosen{0, 0};
  for (std::size_t i = 0; i < tiles.size(); ++i)
    if (times[i] <= limit && tiles[i].elements() > chosen.elements()) chosen = tiles[i];
  return chosen;
}

Picoseconds quantized_compute_time(const compute::ComputeParameters& p, TileShape tile, std::uint32_t m,
                                   std::uint32_t n, std::uint32_t k, std::uint32_t matrices) {
  const auto k_tile_time = [&](std::uint32_t depth) {
    const double flops = 2.0 * tile.rows * tile.columns * depth;
    return cycle_time(flops / (p.matrix_flops_per_cycle * p.matrix_efficiency), p.clock_GHz);
  };
  const std::uint64_t waves = cut(tiles_in(tile, m, n) * matrices, p.compute_units);
  return waves * (k / p.slab_depth * k_tile_time(p.slab_depth) + k_tile_time(k % p.slab_depth));
}

}  // namespace t3vp
