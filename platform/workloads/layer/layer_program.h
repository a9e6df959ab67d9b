// The local work of a GPU in a Transformer layer that is sliced over tp GPUs: all operations but the sub-layers with an
// all-reduce (T3 Figure 15). docs/models/layers.md has the table and its sources.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "compute/cluster_parameters.h"
#include "workloads/layer/layer_layout.h"
#include "workloads/layer/layer_shape.h"

namespace t3vp {

struct LayerOperation {
  std::string name;
  LayerPart part;
  t3_layer_operation kernel;
};

struct LayerTensor {
  std::string name;
  std::uint64_t bytes;
  t3_element element;
};

struct LayerProgram {
  std::vector<LayerTensor> tensors;
  std::vector<LayerOperation> operations;
};

/// Tiles and blocks are the system's, narrower for matrices that would waste a wide tile.
LayerProgram layer_program(const LayerShape& layer, const compute::ComputeParameters& compute);

/// Names of the tensors of any layer.
std::set<std::string> layer_tensor_names();

/// Counts those of its matrix products, a multiply-add as two; 0 for operations on rows.
double flops_of(const t3_layer_operation& operation);

/// The K dimension of a GEMM.
std::uint32_t depth_of(const t3_layer_operation& gemm);

std::uint64_t bytes_of(const LayerProgram& program);

}  // namespace t3vp
