// Tensors and operations of a layer, put together one after the other.
#pragma once

#include <string>
#include <vector>

#include "workloads/layer/layer_program.h"

namespace t3vp {

/// A matrix, or several of one shape.
struct TensorView {
  t3_operand operand{};
  std::uint32_t matrices = 1;
  std::uint32_t stride = 0;  ///< bytes between them
};

class LayerBuilder {
 public:
  LayerBuilder(const LayerShape& layer, const compute::ComputeParameters& compute) : layer_(layer), compute_(compute) {}

  std::uint32_t tokens() const { return layer_.shape.sequence * layer_.shape.batch; }
  std::uint32_t hidden() const { return layer_.shape.hidden; }
  std::uint32_t slice() const { return hidden() / layer_.tp; }
  /// The heads of all inputs on this GPU.
  std::uint32_t heads() const { return layer_.shape.batch * layer_.shape.heads / layer_.tp; }
  /// The factor of softmax's argument.
  float score_factor() const;

  TensorView tensor(const std::string& name, std::uint32_t rows, std::uint32_t columns) {
    return tensor(name, rows, columns, layer_.shape.element);
  }
  TensorView tensor(const std::string& name, std::uint32_t rows, std::uint32_t columns, ElementType element);
  TensorView vector(const std::string& name, std::uint32_t columns) { return tensor(name, 1, columns); }

  /// Part `part` of `parts` of every head in a tensor whose rows are tokens, those of a sequence's n-th token side by
  /// side (Megatron-LM's layout: batched products need no transposed copies). Grows the tensor to padded heads.
  TensorView heads_of(const TensorView& whole, std::uint32_t part, std::uint32_t parts);
  /// The score matrices of all heads, one below the other.
  TensorView scores_of(const TensorView& whole) const;

  enum Layout { plain, transposed };
  void gemm(const std::string& name, LayerPart part, const TensorView& out, const TensorView& a, Layout a_layout,
            const TensorView& b, Layout b_layout);
  void rows(const std::string& name, LayerPart part, t3_row_operation operation, const TensorView& out,
            const TensorView& a, const TensorView& b = {}, const TensorView& c = {}, float factor = 1);
  /// Forward and backward pass drop the same elements when they have the same seed; the prompt phase drops none.
  void dropping(const std::string& name, LayerPart part, t3_row_operation operation, std::uint32_t seed,
                const TensorView& out, const TensorView& a, const TensorView& b = {}, const TensorView& c = {});
  /// `out` is laid out as the result or, in backward passes, as qkv.
  void attention(const std::string& name, t3_attention_pass pass, const TensorView& out, const TensorView& qkv,
                 const TensorView& gradient = {}, const TensorView& result = {});

  /// The program without the parts that the workload leaves out.
  LayerProgram take();

 private:
  t3_layer_operation& add(const std::string& name, LayerPart part, t3_layer_kernel kernel);
  t3_tiling tiling_for(std::uint32_t columns) const;

  const LayerShape& layer_;
  const compute::ComputeParameters& compute_;
  LayerProgram program_;
};

}  // namespace t3vp
