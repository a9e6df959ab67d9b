#include "platform/layer_reference.h"

#include <algorithm>
#include <cmath>

namespace t3vp {
namespace {

using Array = Eigen::Array<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double fp32_half_unit = 0x1p-24;

std::uint32_t count_of(const t3_layer_operation& operation) {
  return operation.kernel == T3_LAYER_ROWS ? 1 : std::max(operation.batch.matrices, 1u);
}

double gelu_tanh(double x) { return std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)); }
double gelu(double x) { return 0.5 * x * (1 + gelu_tanh(x)); }
double gelu_slope(double x) {
  const double t = gelu_tanh(x);
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x);
}

Array softmax(const Array& x) {
  Array y = x;
  for (Eigen::Index r = 0; r < x.rows(); ++r) {
    y.row(r) = (x.row(r) - x.row(r).maxCoeff()).exp();
    y.row(r) /= y.row(r).sum();
  }
  return y;
}

double inverse_deviation(const Array& row) { return 1 / std::sqrt((row - row.mean()).square().mean() + 1e-5); }

Array layer_norm(const Array& x, const Array& scale, const Array& shift) {
  Array y = x;
  for (Eigen::Index r = 0; r < x.rows(); ++r)
    y.row(r) = (x.row(r) - x.row(r).mean()) * inverse_deviation(x.row(r)) * scale.row(0) + shift.row(0);
  return y;
}

Array layer_norm_backward(const Array& gradient, const Array& x, const Array& scale) {
  Array y = x;
  for (Eigen::Index r = 0; r < x.rows(); ++r) {
    const double inverse = inverse_deviation(x.row(r));
    const Array normal = (x.row(r) - x.row(r).mean()) * inverse, g = gradient.row(r) * scale.row(0);
    y.row(r) = inverse * (g - g.mean() - normal * (g * normal).mean());
  }
  return y;
}

Array softmax_backward(const Array& gradient, const Array& y) {
  Array x = y;
  for (Eigen::Index r = 0; r < y.rows(); ++r)
    x.row(r) = y.row(r) * (gradient.row(r) - (gradient.row(r) * y.row(r)).sum());
  return x;
}

Array repeated(const Matrix& vector, Eigen::Index rows) {
  return vector.rows() == rows ? Array(vector.array()) : Array(vector.array().replicate(rows, 1));
}

/// Of what dropout keeps and what it drops, each element's alternative that is there: which elements it keeps is the
/// model's affair, how many is a test's.
Array nearest(const Array& kept, const Array& dropped, const Array& found) {
  return ((found - kept).abs() <= (found - dropped).abs()).select(kept, dropped);
}

/// What a row operation other than Adam writes; `found` is what is there.
Array expected_rows(const t3_layer_operation& o, const Array& a, const Matrix& b, const Matrix& c, const Array& found) {
  const double factor = o.options.factor;
  const auto drop = [&](const Array& x, const Array& more) {
    return factor < 1 ? nearest(x / factor + more, more, found) : Array(x + more);
  };
  switch (o.rows) {
    case T3_ROWS_SCALE:
      return factor * a;
    case T3_ROWS_ADD:
      return a + repeated(b, a.rows());
    case T3_ROWS_BIAS_GELU:
      return (a + repeated(b, a.rows())).unaryExpr(&gelu);
    case T3_ROWS_SOFTMAX:
      return softmax(a);
    case T3_ROWS_LAYER_NORM:
      return layer_norm(a, b.array(), c.array());
    case T3_ROWS_DROPOUT:
      return drop(a, Array::Zero(a.rows(), a.cols()));
    case T3_ROWS_BIAS_DROPOUT_ADD:
      return drop(a + repeated(b, a.rows()), c.array());
    case T3_ROWS_BIAS_GELU_BACKWARD:
      return a * (b.array() + repeated(c, a.rows())).unaryExpr(&gelu_slope);
    case T3_ROWS_SOFTMAX_BACKWARD:
      return softmax_backward(a, b.array());
    case T3_ROWS_LAYER_NORM_BACKWARD:
      return layer_norm_backward(a, b.array(), c.array());
    case T3_ROWS_ADAM:
      break;
  }
  return found;
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
  return operand.used ? read(gpu_, place(operand, matrix, stride)) : Matrix();
}

void LayerReference::before(const t3_layer_operation& o) {
  operands_.clear();
  for (std::uint32_t i = 0; i < count_of(o); ++i)
    operands_.push_back({read_operand(o.a, i, o.batch.a_stride), read_operand(o.b, i, o.batch.b_stride),
                         read_operand(o.c, i, o.batch.b_stride), read_operand(o.out, i, o.batch.out_stride)});
}

void LayerReference::after(const t3_layer_operation& operation) {
  result_.checked = true;
  for (std::uint32_t i = 0; i < count_of(operation); ++i) {
    if (operation.kernel == T3_LAYER_GEMM) check_gemm(operation, i);
    if (operation.kernel == T3_LAYER_ROWS) check_rows(operation);
    if (operation.kernel == T3_LAYER_ATTENTION) check_attention(operation, i);
  }
}

void LayerReference::compare(const t3_operand& operand, std::uint32_t matrix, std::uint32_t stride,
                             const Matrix& expected, const Matrix& loss) {
  const auto element = static_cast<ElementType>(operand.matrix.element);
  const Matrix error = (read_operand(operand, matrix, stride) - expected).cwiseAbs();
  const auto allowed = half_unit(element) * expected.array().abs() + loss.array() + 0x1p-24;
  result_.elements += static_cast<std::uint64_t>(error.size());
  result_.mismatches += static_cast<std::uint64_t>(error.size() - (error.array() <= allowed).count());
  result_.max_abs_error = std::max(result_.max_abs_error, error.maxCoeff());
}

void LayerReference::check_gemm(const t3_layer_operation& o, std::uint32_t matrix) {
  const Operands& in = operands_[matrix];
  const Matrix a = o.transpose_a ? Matrix(in.a.transpose()) : in.a, b = o.transpose_b ? Matrix(in.b.transpose()) : in.b;
  const double roundings = static_cast<double>(a.cols()) * fp32_half_unit;
  compare(o.out, matrix, o.batch.out_stride, a * b, roundings * (a.cwiseAbs() * b.cwiseAbs()));
}

void LayerReference::check_rows(const t3_layer_operation& o) {
  const Operands& in = operands_.front();
  const auto check = [&](const t3_operand& operand, const Array& expected) {
    // Sums over a row and elementary functions lose some units of fp32 of the largest term.
    const double largest = std::max({1.0, in.a.cwiseAbs().maxCoeff(), expected.abs().maxCoeff()});
    compare(operand, 0, 0, expected.matrix(), Matrix::Constant(expected.rows(), expected.cols(), 0x1p-18 * largest));
  };
  if (o.rows != T3_ROWS_ADAM)
    return check(o.out, expected_rows(o, in.a.array(), in.b, in.c, read_operand(o.out, 0, 0).array()));
  const Array mean = 0.9 * in.b.array() + 0.1 * in.a.array();
  const Array square = 0.999 * in.c.array() + 0.001 * in.a.array().square();
  check(o.b, mean);
  check(o.c, square);
  check(o.out, in.out.array() - o.options.factor * mean / (square.sqrt() + 1e-8));
}

void LayerReference::check_attention(const t3_layer_operation& o, std::uint32_t matrix) {
  t3_operand k = o.a, v = o.a;
  const std::uint64_t part = o.batch.a_stride / 3;
  k.matrix.address += part;
  v.matrix.address += 2 * part;
  const Matrix keys = read_operand(k, matrix, o.batch.a_stride), values = read_operand(v, matrix, o.batch.a_stride);
  const Matrix scores = static_cast<double>(o.options.factor) * (operands_[matrix].a * keys.transpose());
  const Matrix expected = softmax(scores.array()).matrix() * values;
  compare(o.out, matrix, o.batch.out_stride, expected,
          Matrix::Constant(expected.rows(), expected.cols(),
                           0x1p-18 * values.cwiseAbs().maxCoeff() * std::max(1.0, scores.cwiseAbs().maxCoeff())));
}

}  // namespace t3vp
