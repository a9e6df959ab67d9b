#include "platform/layer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace t3vp {
namespace {

constexpr std::uint32_t alignment = 32;             // bytes, of rows
constexpr std::uint32_t attention_block_rows = 64;  // of keys and values, FlashAttention-2 for heads of 96 to 256
constexpr float keep_probability = 0.9f;            // BERT's and GPT-2's dropout of 0.1
constexpr float learning_rate = 1e-3f;

std::uint32_t padded(std::uint32_t columns, ElementType element) {
  const std::uint32_t unit = alignment / bytes_of(element);
  return (columns + unit - 1) / unit * unit;
}

/// A matrix, or several of one shape.
struct View {
  t3_operand operand{};
  std::uint32_t matrices = 1;
  std::uint32_t stride = 0;  ///< bytes between them
};

class Builder {
 public:
  Builder(const LayerWorkload& layer, const ComputeParameters& compute) : layer_(layer), compute_(compute) {}

  LayerProgram program() {
    forward();
    if (layer_.training) backward();
    if (!layer_.parts.empty()) keep(layer_.parts);
    return std::move(program_);
  }

 private:
  void keep(const std::vector<LayerPart>& parts) {
    const auto left_out = [&](const LayerOperation& o) {
      return std::find(parts.begin(), parts.end(), o.part) == parts.end();
    };
    auto& list = program_.operations;
    list.erase(std::remove_if(list.begin(), list.end(), left_out), list.end());
  }

  const TransformerShape& shape() const { return layer_.shape; }
  std::uint32_t tokens() const { return shape().sequence * shape().batch; }
  std::uint32_t hidden() const { return shape().hidden; }
  std::uint32_t slice() const { return hidden() / layer_.tp; }
  std::uint32_t head_columns() const { return hidden() / shape().heads; }
  /// Of all inputs, on this GPU.
  std::uint32_t heads() const { return shape().batch * shape().heads / layer_.tp; }

  View tensor(const std::string& name, std::uint32_t rows, std::uint32_t columns) {
    return tensor(name, rows, columns, shape().element);
  }

  View tensor(const std::string& name, std::uint32_t rows, std::uint32_t columns, ElementType element) {
    View view;
    view.operand.used = true;
    view.operand.tensor = static_cast<std::uint32_t>(program_.tensors.size());
    view.operand.matrix.rows = rows;
    view.operand.matrix.columns = columns;
    view.operand.matrix.element = static_cast<t3_element>(element);
    view.operand.matrix.row_stride = std::uint64_t{padded(columns, element)} * bytes_of(element);
    program_.tensors.push_back({name, view.operand.matrix.row_stride * rows, static_cast<t3_element>(element)});
    return view;
  }

  View vector(const std::string& name, std::uint32_t columns) { return tensor(name, 1, columns); }

  /// Part `part` of `parts` of every head in a tensor whose rows are tokens, those of a sequence's n-th token side by
  /// side (Megatron-LM's layout: batched products need no transposed copies). Grows the tensor to padded heads.
  View heads_of(const View& whole, std::uint32_t part, std::uint32_t parts) {
    const std::uint32_t bytes = padded(head_columns(), shape().element) * bytes_of(shape().element);
    View view = whole;
    view.operand.matrix.address = std::uint64_t{part} * bytes;
    view.operand.matrix.rows = shape().sequence;
    view.operand.matrix.columns = head_columns();
    view.operand.matrix.row_stride = std::uint64_t{heads()} * parts * bytes;
    view.matrices = heads();
    view.stride = parts * bytes;
    std::uint64_t& size = program_.tensors[whole.operand.tensor].bytes;
    size = std::max(size, view.operand.matrix.row_stride * shape().sequence);
    return view;
  }

  /// The score matrices of all heads, one below the other.
  View scores_of(const View& whole) const {
    View view = whole;
    view.operand.matrix.rows = shape().sequence;
    view.matrices = heads();
    view.stride = static_cast<std::uint32_t>(whole.operand.matrix.row_stride * shape().sequence);
    return view;
  }

  t3_layer_operation& add(const std::string& name, LayerPart part, t3_layer_kernel kernel) {
    program_.operations.push_back({name, part, {}});
    program_.operations.back().kernel.kernel = kernel;
    return program_.operations.back().kernel;
  }

  /// A tile half or a quarter as wide is taken when that saves a fifth of the work, as BLAS libraries choose among tile
  /// shapes.
  t3_tiling tiling_for(std::uint32_t columns) const {
    const auto work = [columns](std::uint32_t tile) { return (columns - 1) / tile * tile + tile; };
    std::uint32_t chosen = compute_.tile_columns;
    for (std::uint32_t tile = chosen / 2; tile >= 64 && tile % 16 == 0; tile /= 2)
      if (5 * work(tile) <= 4 * work(chosen)) chosen = tile;
    return {compute_.tile_rows, chosen, compute_.wavefronts};
  }

  enum Layout { plain, transposed };

  void gemm(const std::string& name, LayerPart part, const View& out, const View& a, Layout a_layout, const View& b,
            Layout b_layout) {
    t3_layer_operation& o = add(name, part, T3_LAYER_GEMM);
    o.out = out.operand, o.a = a.operand, o.b = b.operand;
    o.transpose_a = a_layout == transposed, o.transpose_b = b_layout == transposed;
    o.tiling = tiling_for(out.operand.matrix.columns);
    o.batch = {out.matrices, a.stride, b.stride, out.stride};
  }

  void rows(const std::string& name, LayerPart part, t3_row_operation operation, const View& out, const View& a,
            const View& b = {}, const View& c = {}, float factor = 1) {
    t3_layer_operation& o = add(name, part, T3_LAYER_ROWS);
    o.rows = operation;
    o.out = out.operand, o.a = a.operand, o.b = b.operand, o.c = c.operand;
    o.options = {factor, 0};
  }

  /// Forward and backward pass drop the same elements when they have the same seed.
  void dropping(const std::string& name, LayerPart part, t3_row_operation operation, std::uint32_t seed,
                const View& out, const View& a, const View& b = {}, const View& c = {}) {
    rows(name, part, operation, out, a, b, c, layer_.training ? keep_probability : 1.0f);
    program_.operations.back().kernel.options.seed = seed;
  }

  void attention(const std::string& name, t3_attention_pass pass, const View& out, const View& gradient = {}) {
    t3_layer_operation& o = add(name, LayerPart::attention, T3_LAYER_ATTENTION);
    const View qkv = heads_of(qkv_, 0, 3);
    o.pass = pass;
    o.out = out.operand, o.a = qkv.operand, o.b = gradient.operand;
    if (pass != T3_ATTENTION_FORWARD) o.c = heads_of(context_, 0, 1).operand;
    o.tiling = {compute_.tile_rows, std::min(attention_block_rows, shape().sequence), compute_.wavefronts};
    o.batch = {heads(), qkv.stride, gradient.stride, out.stride};
    o.options = {score_factor(), 0};
  }

  float score_factor() const { return 1 / std::sqrt(static_cast<float>(head_columns())); }

  void forward() {
    x_ = tensor("x", tokens(), hidden());
    norm_1_ = tensor("norm_1", tokens(), hidden());
    norm_2_ = tensor("norm_2", tokens(), hidden());
    scale_ = vector("norm_scale", hidden());
    const View shift = vector("norm_shift", hidden()), bias = vector("bias", hidden());
    qkv_ = tensor("qkv", tokens(), 3 * slice());
    context_ = tensor("context", tokens(), slice());
    const View w_ip = tensor("w_input", 3 * slice(), hidden()), w_fc_1 = tensor("w_fc_1", 4 * slice(), hidden());

    rows("layer_norm_1", LayerPart::element_wise, T3_ROWS_LAYER_NORM, norm_1_, x_, scale_, shift);
    gemm("input_projection", LayerPart::gemm, qkv_, norm_1_, plain, w_ip, transposed);
    if (layer_.fused_attention)
      attention("attention", T3_ATTENTION_FORWARD, heads_of(context_, 0, 1));
    else
      unfused_attention();
    // Here the output projection with its all-reduce.
    const View projected = tensor("projected", tokens(), hidden());
    middle_ = tensor("middle", tokens(), hidden());
    dropping("output_residual", LayerPart::element_wise, T3_ROWS_BIAS_DROPOUT_ADD, 2, middle_, projected, bias, x_);
    rows("layer_norm_2", LayerPart::element_wise, T3_ROWS_LAYER_NORM, norm_2_, middle_, scale_, shift);
    fc_1_ = tensor("fc_1", tokens(), 4 * slice());
    gelu_ = tensor("gelu", tokens(), 4 * slice());
    fc_1_bias_ = vector("fc_1_bias", 4 * slice());
    gemm("fc_1", LayerPart::gemm, fc_1_, norm_2_, plain, w_fc_1, transposed);
    rows("gelu", LayerPart::element_wise, T3_ROWS_BIAS_GELU, gelu_, fc_1_, fc_1_bias_);
    // Here FC-2 with its all-reduce.
    const View fc_2 = tensor("fc_2", tokens(), hidden()), y = tensor("y", tokens(), hidden());
    dropping("fc_2_residual", LayerPart::element_wise, T3_ROWS_BIAS_DROPOUT_ADD, 3, y, fc_2, bias, middle_);
  }

  void unfused_attention() {
    const std::uint32_t all = heads() * shape().sequence;
    scores_ = tensor("scores", all, shape().sequence);
    scores_2_ = tensor("scores_2", all, shape().sequence);
    probabilities_ = tensor("probabilities", all, shape().sequence);
    kept_ = layer_.training ? tensor("kept_probabilities", all, shape().sequence) : probabilities_;
    const View mask = vector("mask", shape().sequence);
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
    const View dy = tensor("dy", tokens(), hidden()), dropped = tensor("d_dropped", tokens(), hidden());
    const View d_gelu = tensor("d_gelu", tokens(), 4 * slice()), d_fc_1 = tensor("d_fc_1", tokens(), 4 * slice());
    const View w_fc_2 = tensor("w_fc_2", hidden(), 4 * slice()), w_op = tensor("w_output", hidden(), slice());
    dropping("fc_2_dropout_backward", element_wise, T3_ROWS_DROPOUT, 3, dropped, dy);
    gemm("fc_2_data_gradient", gemms, d_gelu, dropped, plain, w_fc_2, plain);
    gemm("fc_2_weight_gradient", gemms, tensor("d_w_fc_2", hidden(), 4 * slice()), dropped, transposed, gelu_, plain);
    rows("gelu_backward", element_wise, T3_ROWS_BIAS_GELU_BACKWARD, d_fc_1, d_gelu, fc_1_, fc_1_bias_);
    gemm("fc_1_weight_gradient", gemms, tensor("d_w_fc_1", 4 * slice(), hidden()), d_fc_1, transposed, norm_2_, plain);
    // Here FC-1's data gradient with its all-reduce.
    const View d_norm_2 = tensor("d_norm_2", tokens(), hidden()), d_middle = tensor("d_middle", tokens(), hidden());
    const View d_residual = tensor("d_residual", tokens(), hidden());
    rows("layer_norm_2_backward", element_wise, T3_ROWS_LAYER_NORM_BACKWARD, d_residual, d_norm_2, middle_, scale_);
    rows("residual_2_gradient", element_wise, T3_ROWS_ADD, d_middle, d_residual, dy);
    dropping("output_dropout_backward", element_wise, T3_ROWS_DROPOUT, 2, dropped, d_middle);
    const View d_context = tensor("d_context", tokens(), slice());
    gemm("output_data_gradient", gemms, d_context, dropped, plain, w_op, plain);
    gemm("output_weight_gradient", gemms, tensor("d_w_output", hidden(), slice()), dropped, transposed, context_,
         plain);
    const View d_qkv = tensor("d_qkv", tokens(), 3 * slice());
    if (layer_.fused_attention) {
      attention("attention_backward_q", T3_ATTENTION_BACKWARD_Q, heads_of(d_qkv, 0, 3), heads_of(d_context, 0, 1));
      attention("attention_backward_kv", T3_ATTENTION_BACKWARD_KV, heads_of(d_qkv, 0, 3), heads_of(d_context, 0, 1));
    } else {
      unfused_attention_backward(heads_of(d_context, 0, 1), d_qkv);
    }
    gemm("input_weight_gradient", gemms, tensor("d_w_input", 3 * slice(), hidden()), d_qkv, transposed, norm_1_, plain);
    // Here the input projection's data gradient with its all-reduce.
    const View d_norm_1 = tensor("d_norm_1", tokens(), hidden()), d_x = tensor("d_x", tokens(), hidden());
    rows("layer_norm_1_backward", element_wise, T3_ROWS_LAYER_NORM_BACKWARD, d_residual, d_norm_1, x_, scale_);
    rows("residual_1_gradient", element_wise, T3_ROWS_ADD, d_x, d_residual, d_middle);
    optimizer();
  }

  void unfused_attention_backward(const View& d_context, const View& d_qkv) {
    const auto part = LayerPart::attention;
    const View d_kept = scores_of(scores_), d_scores = scores_of(scores_2_);
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
    const View gradients = parameters("gradients"), means = parameters("means"), squares = parameters("squares");
    rows("optimizer", LayerPart::optimizer, T3_ROWS_ADAM, parameters("parameters"), gradients, means, squares,
         learning_rate);
  }

  const LayerWorkload& layer_;
  const ComputeParameters& compute_;
  LayerProgram program_;
  View x_, norm_1_, norm_2_, scale_, qkv_, context_, middle_, fc_1_, gelu_, fc_1_bias_;
  View scores_, scores_2_, probabilities_, kept_;  // unfused
};

}  // namespace

LayerProgram layer_program(const LayerWorkload& layer, const ComputeParameters& compute) {
  return Builder(layer, compute).program();
}

double flops_of(const t3_layer_operation& o) {
  const double outputs = static_cast<double>(o.out.matrix.rows) * o.out.matrix.columns * o.batch.matrices;
  if (o.kernel == T3_LAYER_GEMM) return 2 * outputs * (o.transpose_a ? o.a.matrix.rows : o.a.matrix.columns);
  if (o.kernel == T3_LAYER_ROWS) return 0;
  const double products = o.pass == T3_ATTENTION_FORWARD ? 2 : o.pass == T3_ATTENTION_BACKWARD_Q ? 3 : 4;
  return 2 * products * outputs * o.out.matrix.rows;
}

std::uint64_t bytes_of(const LayerProgram& program) {
  return std::accumulate(program.tensors.begin(), program.tensors.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const LayerTensor& tensor) { return sum + tensor.bytes; });
}

}  // namespace t3vp
