// What a run computes: GEMMs, Transformer layers, collective operations, embedding tables, products with vectors and
// those of experts, by their shapes. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hardware/gpu_parameters.h"
#include "protocol/tile_grid.h"
#include "t3/collective.h"
#include "t3/dlrm.h"
#include "t3/embedding.h"
#include "t3/experts.h"
#include "t3/fused.h"
#include "t3/gemv.h"

namespace t3vp {

/// The part of the output that a GEMM workgroup computes, in elements.
struct TileShape {
  std::uint32_t rows = 0, columns = 0;
  std::uint64_t elements() const { return std::uint64_t{rows} * columns; }
  bool operator==(const TileShape& other) const { return rows == other.rows && columns == other.columns; }
};

/// A GPU and the tiles of its GEMM library, besides those of its own compute parameters.
struct GemmSystem : GpuParameters {
  std::vector<TileShape> tiles;
};

/// C = A B on every GPU: A is m x k, B k x n (stored n x k when transposed), C m x n.
struct GemmShape {
  std::uint32_t m = 0, n = 0, k = 0;
  ElementType element = ElementType::fp16;
  bool transpose_b = false;
  TileShape tile;  ///< the run file's, else the one that choose_tile() has chosen
};

/// A Transformer as its layers see it.
struct TransformerShape {
  std::uint32_t hidden = 0, heads = 0;
  std::uint32_t sequence = 0, batch = 0;  ///< tokens of an input, inputs
  ElementType element = ElementType::fp16;
};

enum class LayerPart : std::uint8_t { gemm, attention, element_wise, optimizer };
inline constexpr LayerPart all_layer_parts[] = {LayerPart::gemm, LayerPart::attention, LayerPart::element_wise,
                                                LayerPart::optimizer};

/// A layer without its sub-layers that need an all-reduce, on one of tp GPUs.
struct LayerWorkload {
  bool training = false;         ///< forward, backward and optimizer; else forward without dropout (prompt)
  bool fused_attention = false;  ///< scores stay on the compute units
  std::uint32_t tp = 1;
  TransformerShape shape;
  std::vector<LayerPart> parts;  ///< whose operations are simulated; empty: all
};

struct Workload {
  std::string label;  ///< for people
  GemmShape gemm;     ///< of each GPU
  /// What fused methods make of the GPUs' outputs.
  t3_fused_kind fused = T3_FUSED_RING_REDUCE_SCATTER;
  std::uint32_t gpus_per_node = 0;  ///< of a GEMM: GPUs that links join inside a node, or all
  bool by_nic = false;              ///< of a GEMM: NICs, and no links, join its nodes
  std::string model, sublayer;      ///< empty, and tp and tokens 0, without a model
  std::uint32_t tp = 0, tokens = 0;
  std::optional<LayerWorkload> layer;  ///< then gemm, sublayer and tokens say nothing

  std::optional<t3_collective> collective;  ///< alone; then gemm and all else say nothing
  std::optional<t3_embedding> embedding;    ///< the same
  std::optional<t3_dlrm> dlrm;              ///< beside embedding: a training pass
  /// Of embedding tables, of a persistent kernel: of a pooling kernel's workgroups so large a share; 0: as many as fit.
  double occupancy = 0;
  std::optional<t3_gemv> gemv;  ///< the same: a matrix times a vector on each GPU, and the all-reduce
  /// Alone as well: `gemm` is their product, of which each GPU's rows go to their owners.
  std::optional<t3_experts> experts;

  /// Neither a layer, nor a collective alone, nor embedding tables, nor a vector, nor none at all, as with a program of
  /// the user's own.
  bool has_gemm() const { return !layer && gemm.m != 0; }
  /// Whether the platform's own programs have anything to do.
  bool empty() const { return !layer && !is_of_several() && gemm.m == 0; }
  /// Alone, without a GEMM's or a layer's key, on two GPUs at least.
  bool is_of_several() const { return collective || embedding || gemv || experts; }
};

/// Values of A and B: such that no sum is ever rounded, or any in [-1, 1].
enum class Operands { exact, random };

const char* name_of(Operands operands);

/// A GEMM of which every GPU computes its part.
struct GemmProblem {
  GemmShape gemm;
  std::uint32_t wavefronts = 1;  ///< wavefronts of a workgroup
  std::uint32_t slab_depth = 1;  ///< elements of K that a workgroup takes at a time
  std::uint32_t gpus = 1;        ///< GPUs whose products are summed, or exchanged
  Operands operands = Operands::exact;
  std::uint64_t seed = 1;
};

const char* name_of(LayerPart part);

inline constexpr t3_fused_kind all_fused_kinds[] = {T3_FUSED_RING_REDUCE_SCATTER, T3_FUSED_DIRECT_REDUCE_SCATTER,
                                                    T3_FUSED_ALL_REDUCE, T3_FUSED_ALL_TO_ALL,
                                                    T3_FUSED_HIERARCHICAL_REDUCE_SCATTER};
const char* name_of(t3_fused_kind kind);

/// Elements of the tiles of each GPU's chunk.
std::vector<std::uint64_t> chunk_elements(const TileGrid& grid, std::uint32_t gpus);

/// Output tiles of a GEMM whose workgroups have so many wavefronts; rows are padded to 32 bytes.
TileGrid output_grid(const GemmShape& gemm, std::uint32_t wavefronts);

}  // namespace t3vp
