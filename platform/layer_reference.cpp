#include "platform/layer_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace t3vp {
namespace {

std::uint32_t count_of(const t3_layer_operation& operation) {
  return operation.kernel == T3_LAYER_ROWS ? 1 : std::max(operation.batch.matrices, 1u);
}

}  // namespace

void LayerReference::fill(const PublishedBuffer& tensor) {
  std::seed_seq seeds{static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32),
                      static_cast<std::uint32_t>(tensors_.size())};
  tensors_.push_back(tensor);
  fill_randomly(gpu_, tensor, seeds, tensor.name == "squares" ? 0.0f : -1.0f);
}

PublishedBuffer LayerReference::place(const t3_operand& operand, std::uint32_t matrix, std::uint32_t stride) const {
  const t3_matrix& m = operand.matrix;
  const std::uint64_t offset = m.address + std::uint64_t{matrix} * stride;
  return {"",        tensors_.at(operand.tensor).address + offset, m.row_stride, m.rows,
          m.columns, static_cast<ElementType>(m.element)};
}

Matrix LayerReference::read_operand(const t3_operand& operand, std::uint32_t matrix, std::uint32_t stride) const {
  return operand.used ? read(gpu_, place(operand, matrix, stride), SeenBy::compute_units) : Matrix();
}

void LayerReference::check_hand_over() {
  for (const PublishedBuffer& tensor : tensors_) {
    const Unflushed found = unflushed(gpu_, tensor);
    result_.mismatches += found.elements;
    if (found.elements == 0 || result_.first) continue;
    std::vector<float> in_memory(tensor.columns), seen(tensor.columns);
    read_row(gpu_, tensor, found.row, in_memory.data());
    read_row(gpu_, tensor, found.row, seen.data(), SeenBy::compute_units);
    result_.first = {tensor.name + " in memory, not flushed from the cache",
                     gpu_.processor.gpu(),
                     found.row,
                     found.column,
                     in_memory[found.column],
                     seen[found.column]};
  }
}

void LayerReference::before(const t3_layer_operation& o) {
  operands_.clear();
  for (std::uint32_t i = 0; i < count_of(o); ++i) {
    if (o.kernel == T3_LAYER_ATTENTION) {
      operands_.push_back({read_operand(o.a, i, o.batch.a_stride), read_part(o, i, 1), read_part(o, i, 2), {}});
      continue;
    }
    operands_.push_back({read_operand(o.a, i, o.batch.a_stride), read_operand(o.b, i, o.batch.b_stride),
                         read_operand(o.c, i, o.batch.b_stride), read_operand(o.out, i, o.batch.out_stride)});
  }
}

/// Keys or values: they lie beside the queries.
Matrix LayerReference::read_part(const t3_layer_operation& o, std::uint32_t matrix, std::uint32_t part) const {
  t3_operand operand = o.a;
  operand.matrix.address += std::uint64_t{part} * (o.batch.a_stride / 3);
  return read_operand(operand, matrix, o.batch.a_stride);
}

void LayerReference::after(const LayerOperation& operation) {
  result_.checked = true;
  const t3_layer_operation& o = operation.kernel;
  for (std::uint32_t i = 0; i < count_of(o); ++i) {
    const Operands& in = operands_[i];
    const auto check = [&](const t3_operand& operand, const Expected& expected) {
      compare(operation.name, operand, i, o.batch.out_stride, expected);
    };
    if (o.kernel == T3_LAYER_ATTENTION) {
      const std::uint32_t blocks = (o.out.matrix.rows - 1) / o.tiling.columns + 1;
      check(o.out, expected_attention(static_cast<double>(o.options.factor), blocks, in.a, in.b, in.c));
    } else if (o.kernel == T3_LAYER_GEMM) {
      check(o.out, expected_product(o.transpose_a ? Matrix(in.a.transpose()) : in.a,
                                    o.transpose_b ? Matrix(in.b.transpose()) : in.b));
    } else if (o.rows == T3_ROWS_ADAM) {
      const ExpectedAdam expected = expected_adam(o.options.factor, in.a, in.b, in.c, in.out);
      check(o.b, expected.mean);
      check(o.c, expected.square);
      check(o.out, expected.parameters);
    } else {
      check(o.out, expected_rows(o.rows, o.options, in.a, in.b, in.c));
    }
  }
}

void LayerReference::compare(const std::string& operation, const t3_operand& operand, std::uint32_t matrix,
                             std::uint32_t stride, const Expected& expected) {
  const Array found = read_operand(operand, matrix, stride).array();
  const Array allowed = allowed_error(static_cast<ElementType>(operand.matrix.element), expected);
  result_.elements += static_cast<std::uint64_t>(found.size());
  for (Eigen::Index row = 0; row < found.rows(); ++row)
    for (Eigen::Index column = 0; column < found.cols(); ++column) {
      const double error = std::abs(found(row, column) - expected.value(row, column));
      result_.max_abs_error = std::max(result_.max_abs_error, error);
      if (error <= allowed(row, column)) continue;  // what is no number is not
      ++result_.mismatches;
      if (result_.first) continue;
      const std::string which = stride == 0 ? "" : fmt::format(" (matrix {})", matrix);
      result_.first = {fmt::format("{} of operation {}{}", tensors_[operand.tensor].name, operation, which),
                       gpu_.processor.gpu(),
                       static_cast<std::uint64_t>(row),
                       static_cast<std::uint64_t>(column),
                       found(row, column),
                       expected.value(row, column)};
    }
}

}  // namespace t3vp
