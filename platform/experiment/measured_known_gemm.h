// A GEMM whose kernel is known: its tile, and the order in which workgroups take tiles.
#pragma once

#include "experiment/measured_runs.h"

namespace t3vp {

struct TileInRow {
  std::uint64_t rows, columns;
};
/// By the columns tile_m and tile_n.
TileInRow tile_of(const MeasuredRow& row);
/// Rows of tiles that workgroups take together, by the column group_m.
std::uint64_t group_of(const MeasuredRow& row);

/// K tiles and how many of them are in flight.
struct PipelineInRow {
  std::uint64_t depth = 64, stages = 3;
};

/// Settings of a GEMM by this kernel alone on one GPU.
Settings known_gemm(const GemmInRow& gemm, const TileInRow& tile, std::uint64_t group,
                    const PipelineInRow& pipeline = {});

}  // namespace t3vp
