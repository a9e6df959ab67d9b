#include "workloads/layer/layer_program.h"

#include <numeric>

#include "workloads/layer/layer_builder.h"

namespace t3vp {
namespace {

constexpr float learning_rate = 1e-3f;

/// docs/models/layers.md has this as a table.
class Layer : private LayerBuilder {
 public:
  Layer(const LayerShape& layer, const compute::ComputeParameters& compute)
      : LayerBuilder(layer, compute), layer_(layer) {}

  LayerProgram program() {
    forward();
    if (layer_.training) backward();
    return take();
  }

 private:
  void forward() {
    x_ = tensor("x", tokens(), hidden());
    norm_1_ = tensor("norm_1", tokens(), hidden());
    norm_2_ = tensor("norm_2", tokens(), hidden());
    scale_ = vector("norm_scale", hidden());
    const TensorView shift = vector("norm_shift", hidden()), bias = vector("bias", hidden());
    qkv_ = tensor("qkv", tokens(), 3 * slice());
    context_ = tensor("context", tokens(), slice());
    const TensorView w_ip = tensor("w_input", 3 * slice(), hidden()), w_fc_1 = tensor("w_fc_1", 4 * slice(), hidden());

    rows("layer_norm_1", LayerPart::element_wise, T3_ROWS_LAYER_NORM, norm_1_, x_, scale_, shift);
    gemm("input_projection", LayerPart::gemm, qkv_, norm_1_, plain, w_ip, transposed);
    if (layer_.fused_attention)
      attention("attention", T3_ATTENTION_FORWARD, heads_of(context_, 0, 1), heads_of(qkv_, 0, 3));
    else
      unfused_attention();
    // Here the output projection with its all-reduce.
    const TensorView projected = tensor("projected", tokens(), hidden());
    middle_ = tensor("middle", tokens(), hidden());
    dropping("output_residual", LayerPart::element_wise, T3_ROWS_BIAS_DROPOUT_ADD, 2, middle_, projected, bias, x_);
    rows("layer_norm_2", LayerPart::element_wise, T3_ROWS_LAYER_NORM, norm_2_, middle_, scale_, shift);
    fc_1_ = tensor("fc_1", tokens(), 4 * slice());
    gelu_ = tensor("gelu", tokens(), 4 * slice());
    fc_1_bias_ = vector("fc_1_bias", 4 * slice());
    gemm("fc_1", LayerPart::gemm, fc_1_, norm_2_, plain, w_fc_1, transposed);
    rows("gelu", LayerPart::element_wise, T3_ROWS_BIAS_GELU, gelu_, fc_1_, fc_1_bias_);
    // Here FC-2 with its all-reduce.
    const TensorView fc_2 = tensor("fc_2", tokens(), hidden()), y = tensor("y", tokens(), hidden());
    dropping("fc_2_residual", LayerPart::element_wise, T3_ROWS_BIAS_DROPOUT_ADD, 3, y, fc_2, bias, middle_);
  }

  void unfused_attention() {
    const std::uint32_t all = heads() * shape_.sequence;
    scores_ = tensor("scores", all, shape_.sequence);
    scores_2_ = tensor("scores_2", all, shape_.sequence);
    probabilities_ = tensor("probabilities", all, shape_.sequence);
    kept_ = layer_.training ? tensor("kept_probabilities", all, shape_.sequence) : probabilities_;
    const TensorView mask = vector("mask", shape_.sequence);
    const auto part = LayerPart::attention;
    gemm("scores", part, scores_of(scores_), heads_of(qkv_, 0, 3), plain, heads_of(qkv_, 1, 3), transposed);
    rows("scale", part, T3_ROWS_SCALE, scores_2_, scores_, {}, {}, score_factor());
    rows("mask", part, T3_ROWS_ADD, scores_, scores_2_, mask);
    rows("softmax", part, T3_ROWS_SOFTMAX, probabilities_, scores_);
    if (layer_.training) dropping("attention_dropout", part, T3_ROWS_DROPOUT, 1, kept_, probabilities_);
    gemm("context", part, heads_of(context_, 0, 1), scores_of(kept_), plain, heads_of(qkv_, 2, 3), plain);
  }

  void backward() {
    const auto gemms = LayerPart::gemm, element_wise = LayerPart::element_wise;
    const TensorView dy = tensor("dy", tokens(), hidden()), dropped = tensor("d_dropped", tokens(), hidden());
    const TensorView d_gelu = tensor("d_gelu", tokens(), 4 * slice()), d_fc_1 = tensor("d_fc_1", tokens(), 4 * slice());
    const TensorView w_fc_2 = tensor("w_fc_2", hidden(), 4 * slice()), w_op = tensor("w_output", hidden(), slice());
    dropping("fc_2_dropout_backward", element_wise, T3_ROWS_DROPOUT, 3, dropped, dy);
    gemm("fc_2_data_gradient", gemms, d_gelu, dropped, plain, w_fc_2, plain);
    gemm("fc_2_weight_gradient", gemms, tensor("d_w_fc_2", hidden(), 4 * slice()), dropped, transposed, gelu_, plain);
    rows("gelu_backward", element_wise, T3_ROWS_BIAS_GELU_BACKWARD, d_fc_1, d_gelu, fc_1_, fc_1_bias_);
    gemm("fc_1_weight_gradient", gemms, tensor("d_w_fc_1", 4 * slice(), hidden()), d_fc_1, transposed, norm_2_, plain);
    // Here FC-1's data gradient with its all-reduce.
    const TensorView d_norm_2 = tensor("d_norm_2", tokens(), hidden()),
                     d_middle = tensor("d_middle", tokens(), hidden());
    const TensorView d_residual = tensor("d_residual", tokens(), hidden());
    rows("layer_norm_2_backward", element_wise, T3_ROWS_LAYER_NORM_BACKWARD, d_residual, d_norm_2, middle_, scale_);
    rows("residual_2_gradient", element_wise, T3_ROWS_ADD, d_middle, d_residual, dy);
    dropping("output_dropout_backward", element_wise, T3_ROWS_DROPOUT, 2, dropped, d_middle);
    const TensorView d_context = tensor("d_context", tokens(), slice());
    gemm("output_data_gradient", gemms, d_context, dropped, plain, w_op, plain);
    gemm("output_weight_gradient", gemms, tensor("d_w_output", hidden(), slice()), dropped, transposed, context_,
         plain);
    const TensorView d_qkv = tensor("d_qkv", tokens(), 3 * slice());
    if (layer_.fused_attention) {
      const TensorView qkv = heads_of(qkv_, 0, 3), gradient = heads_of(d_context, 0, 1),
                       result = heads_of(context_, 0, 1);
      const TensorView d_heads = heads_of(d_qkv, 0, 3);
      attention("attention_backward_q", T3_ATTENTION_BACKWARD_Q, d_heads, qkv, gradient, result);
      attention("attention_backward_kv", T3_ATTENTION_BACKWARD_KV, d_heads, qkv, gradient, result);
    } else {
      unfused_attention_backward(heads_of(d_context, 0, 1), d_qkv);
    }
    gemm("input_weight_gradient", gemms, tensor("d_w_input", 3 * slice(), hidden()), d_qkv, transposed, norm_1_, plain);
    // Here the input projection's data gradient with its all-reduce.
    const TensorView d_norm_1 = tensor("d_norm_1", tokens(), hidden()), d_x = tensor("d_x", tokens(), hidden());
    rows("layer_norm_1_backward", element_wise, T3_ROWS_LAYER_NORM_BACKWARD, d_residual, d_norm_1, x_, scale_);
    rows("residual_1_gradient", element_wise, T3_ROWS_ADD, d_x, d_residual, d_middle);
    optimizer();
  }

  void unfused_attention_backward(const TensorView& d_context, const TensorView& d_qkv) {
    const auto part = LayerPart::attention;
    const TensorView d_kept = scores_of(scores_), d_scores = scores_of(scores_2_);
    gemm("value_gradient", part, heads_of(d_qkv, 2, 3), scores_of(kept_), transposed, d_context, plain);
    gemm("probability_gradient", part, d_kept, d_context, plain, heads_of(qkv_, 2, 3), transposed);
    dropping("attention_dropout_backward", part, T3_ROWS_DROPOUT, 1, scores_2_, scores_);
    rows("softmax_backward", part, T3_ROWS_SOFTMAX_BACKWARD, scores_, scores_2_, probabilities_);
    rows("scale_backward", part, T3_ROWS_SCALE, scores_2_, scores_, {}, {}, score_factor());
    gemm("query_gradient", part, heads_of(d_qkv, 0, 3), d_scores, plain, heads_of(qkv_, 1, 3), plain);
    gemm("key_gradient", part, heads_of(d_qkv, 1, 3), d_scores, transposed, heads_of(qkv_, 0, 3), plain);
  }

  /// 12 H^2 / tp parameters, in fp32.
  void optimizer() {
    const auto parameters = [this](const char* name) {
      return tensor(name, 12 * slice(), hidden(), ElementType::fp32);
    };
    const TensorView gradients = parameters("gradients"), means = parameters("means"), squares = parameters("squares");
    rows("optimizer", LayerPart::optimizer, T3_ROWS_ADAM, parameters("parameters"), gradients, means, squares,
         learning_rate);
  }

  const LayerShape& layer_;
  const TransformerShape& shape_ = layer_.shape;
  TensorView x_, norm_1_, norm_2_, scale_, qkv_, context_, middle_, fc_1_, gelu_, fc_1_bias_;
  TensorView scores_, scores_2_, probabilities_, kept_;  // unfused
};

}  // namespace

LayerProgram layer_program(const LayerShape& layer, const compute::ComputeParameters& compute) {
  return Layer(layer, compute).program();
}

std::set<std::string> layer_tensor_names() {
  LayerShape layer;
  layer.training = true;  // computes all that a prompt does
  layer.shape = {64, 1, 64, 1, ElementType::fp16};
  std::set<std::string> names;
  for (const bool fused : {false, true}) {
    layer.fused_attention = fused;
    for (const LayerTensor& tensor : layer_program(layer, {}).tensors) names.insert(tensor.name);
  }
  return names;
}

std::uint32_t depth_of(const t3_layer_operation& gemm) {
  return gemm.transpose_a ? gemm.a.matrix.rows : gemm.a.matrix.columns;
}

double flops_of(const t3_layer_operation& o) {
  const double outputs = static_cast<double>(o.out.matrix.rows) * o.out.matrix.columns * o.batch.matrices;
  if (o.kernel == T3_LAYER_GEMM) return 2 * outputs * depth_of(o);
  if (o.kernel == T3_LAYER_ROWS) return 0;
  const double products = o.pass == T3_ATTENTION_FORWARD ? 2 : o.pass == T3_ATTENTION_BACKWARD_Q ? 3 : 4;
  return 2 * products * outputs * o.out.matrix.rows;
}

std::uint64_t bytes_of(const LayerProgram& program) {
  return std::accumulate(program.tensors.begin(), program.tensors.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const LayerTensor& tensor) { return sum + tensor.bytes; });
}

}  // namespace t3vp
