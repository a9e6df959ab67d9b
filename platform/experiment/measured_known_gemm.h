// A GEMM whose kernel is known: its tile, and the order in which workgroups take tiles.
#pragma once

#include "experiment/measured_runs.h"

namespace t3vp {

struct TileInRow {
  std::uint64_t rows, columns;
};
/// Reads the columns tile_m and tile_n.
TileInRow tile_of(const MeasuredRow& row);
/// Reads the column group_m: rows of tiles that workgroups take together.
std::uint64_t group_of(const MeasuredRow& row);

/// K tiles and how many of them are in flight.
struct PipelineInRow {
  std::uint64_t depth = 64, stages = 3;
};

/// A workgroup's time from one K tile to the next, beside its products', where B is transposed. Otherwise there is
/// none. Given rows of known_order.csv and known_contention.csv have set it, the share of the matrix peak and the
/// launches (docs/validation/h200.md).
inline constexpr unsigned known_step_ns = 180;
inline const Settings known_system{"system.compute.matrix_efficiency=0.84"};
/// Launches by the host that its launch from Python counts as.
inline constexpr unsigned known_launches = 3;
/// Results leave from registers: four lanes of a wavefront hold 8 fp16 elements of a row (PTX ISA, wgmma, matrix D).
inline constexpr unsigned known_store_bytes = 16;
/// Keys of workload.gemm, as JSON.
std::string known_keys(const GemmInRow& gemm, const TileInRow& tile, std::uint64_t group);

/// Settings of a GEMM by this kernel alone on one GPU. They do not say what the cache holds at the start.
Settings known_gemm(const GemmInRow& gemm, const TileInRow& tile, std::uint64_t group,
                    const PipelineInRow& pipeline = {});

}  // namespace t3vp
