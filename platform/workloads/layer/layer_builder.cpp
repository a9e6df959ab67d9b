#include "workloads/layer/layer_builder.h"

#include <algorithm>
#include <cmath>

namespace t3vp {
namespace {

constexpr std::uint32_t alignment = 32;             // bytes, of rows
constexpr std::uint32_t attention_block_rows = 64;  // of keys and values, FlashAttention-2 for heads of 96 to 256
constexpr float keep_probability = 0.9f;            // BERT's and GPT-2's dropout of 0.1

std::uint32_t padded(std::uint32_t columns, ElementType element) {
  const std::uint32_t unit = alignment / bytes_of(element);
  return (columns + unit - 1) / unit * unit;
}

}  // namespace

float LayerBuilder::score_factor() const {
  return 1 / std::sqrt(static_cast<float>(hidden()) / static_cast<float>(layer_.shape.heads));
}

TensorView LayerBuilder::tensor(const std::string& name, std::uint32_t rows, std::uint32_t columns,
                                ElementType element) {
  TensorView view;
  view.operand.used = true;
  view.operand.tensor = static_cast<std::uint32_t>(program_.tensors.size());
  view.operand.matrix.rows = rows;
  view.operand.matrix.columns = columns;
  view.operand.matrix.element = static_cast<t3_element>(element);
  view.operand.matrix.row_stride = std::uint64_t{padded(columns, element)} * bytes_of(element);
  program_.tensors.push_back({name, view.operand.matrix.row_stride * rows, static_cast<t3_element>(element)});
  return view;
}

TensorView LayerBuilder::heads_of(const TensorView& whole, std::uint32_t part, std::uint32_t parts) {
  const TransformerShape& shape = layer_.shape;
  const std::uint32_t columns = shape.hidden / shape.heads;
  const std::uint32_t bytes = padded(columns, shape.element) * bytes_of(shape.element);
  TensorView view = whole;
  view.operand.matrix.address = std::uint64_t{part} * bytes;
  view.operand.matrix.rows = shape.sequence;
  view.operand.matrix.columns = columns;
  view.operand.matrix.row_stride = std::uint64_t{heads()} * parts * bytes;
  view.matrices = heads();
  view.stride = parts * bytes;
  std::uint64_t& size = program_.tensors[whole.operand.tensor].bytes;
  size = std::max(size, view.operand.matrix.row_stride * shape.sequence);
  return view;
}

TensorView LayerBuilder::scores_of(const TensorView& whole) const {
  TensorView view = whole;
  view.operand.matrix.rows = layer_.shape.sequence;
  view.matrices = heads();
  view.stride = static_cast<std::uint32_t>(whole.operand.matrix.row_stride * layer_.shape.sequence);
  return view;
}

t3_layer_operation& LayerBuilder::add(const std::string& name, LayerPart part, t3_layer_kernel kernel) {
  program_.operations.push_back({name, part, {}});
  program_.operations.back().kernel.kernel = kernel;
  return program_.operations.back().kernel;
}

/// A tile half or a quarter as wide is taken when that saves a fifth of the work, as BLAS libraries choose among tile
/// shapes.
t3_tiling LayerBuilder::tiling_for(std::uint32_t columns) const {
  const auto work = [columns](std::uint32_t tile) { return (columns - 1) / tile * tile + tile; };
  std::uint32_t chosen = compute_.tile_columns;
  for (std::uint32_t tile = chosen / 2; tile >= 64 && tile % 16 == 0; tile /= 2)
    if (5 * work(tile) <= 4 * work(chosen)) chosen = tile;
  return {compute_.tile_rows, chosen, compute_.wavefronts};
}

void LayerBuilder::gemm(const std::string& name, LayerPart part, const TensorView& out, const TensorView& a,
                        Layout a_layout, const TensorView& b, Layout b_layout) {
  t3_layer_operation& o = add(name, part, T3_LAYER_GEMM);
  o.out = out.operand, o.a = a.operand, o.b = b.operand;
  o.transpose_a = a_layout == transposed, o.transpose_b = b_layout == transposed;
  o.tiling = tiling_for(out.operand.matrix.columns);
  o.batch = {out.matrices, a.stride, b.stride, out.stride};
}

void LayerBuilder::rows(const std::string& name, LayerPart part, t3_row_operation operation, const TensorView& out,
                        const TensorView& a, const TensorView& b, const TensorView& c, float factor) {
  t3_layer_operation& o = add(name, part, T3_LAYER_ROWS);
  o.rows = operation;
  o.out = out.operand, o.a = a.operand, o.b = b.operand, o.c = c.operand;
  o.options = {factor, 0};
}

void LayerBuilder::dropping(const std::string& name, LayerPart part, t3_row_operation operation, std::uint32_t seed,
                            const TensorView& out, const TensorView& a, const TensorView& b, const TensorView& c) {
  rows(name, part, operation, out, a, b, c, layer_.training ? keep_probability : 1.0f);
  program_.operations.back().kernel.options.seed = seed;
}

void LayerBuilder::attention(const std::string& name, t3_attention_pass pass, const TensorView& out,
                             const TensorView& qkv, const TensorView& gradient, const TensorView& result) {
  t3_layer_operation& o = add(name, LayerPart::attention, T3_LAYER_ATTENTION);
  o.pass = pass;
  o.out = out.operand, o.a = qkv.operand, o.b = gradient.operand, o.c = result.operand;
  o.tiling = {compute_.tile_rows, std::min(attention_block_rows, layer_.shape.sequence), compute_.wavefronts};
  o.batch = {heads(), qkv.stride, gradient.stride, out.stride};
  o.options = {score_factor(), 0};
}

LayerProgram LayerBuilder::take() {
  const std::vector<LayerPart>& parts = layer_.parts;
  const auto left_out = [&](const LayerOperation& o) {
    return !parts.empty() && std::find(parts.begin(), parts.end(), o.part) == parts.end();
  };
  auto& list = program_.operations;
  list.erase(std::remove_if(list.begin(), list.end(), left_out), list.end());
  return std::move(program_);
}

}  // namespace t3vp
