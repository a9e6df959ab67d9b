#include "compute/row_operations.h"

#include <cmath>

namespace t3vp {
namespace {

using Operands = std::array<Rows, row_operand_count>;

constexpr float epsilon = 1e-5f;
// The complements are numbers of their own: 1 - 0.999f has lost 11 of its digits.
constexpr float adam_decay_1 = 0.9f, adam_rest_1 = 0.1f, adam_decay_2 = 0.999f, adam_rest_2 = 0.001f,
                adam_epsilon = 1e-8f;
constexpr std::uint8_t a = 1 << row_a, b = 1 << row_b, c = 1 << row_c, out = 1 << row_out;

/// The operand's rows, a vector repeated.
Rows all_rows(const Rows& operand, Eigen::Index rows) {
  return operand.rows() == rows ? operand : Rows(operand.replicate(rows, 1));
}

/// A column of one value per row, beside every element of the row.
template <typename Column>
Rows beside(const Column& column, Eigen::Index columns) {
  return column.replicate(1, columns);
}

// gelu(x) = x/2 (1 + tanh(inner(x))), the tanh form of BERT and GPT-2.
constexpr float gelu_scale = 0.7978845608f, gelu_cube = 0.044715f;

Rows gelu(const Rows& x) { return 0.5f * x * (1 + (gelu_scale * (x + gelu_cube * x.cube())).tanh()); }

Rows gelu_derivative(const Rows& x) {
  const Rows t = (gelu_scale * (x + gelu_cube * x.cube())).tanh();
  return 0.5f * (1 + t) + 0.5f * x * (1 - t.square()) * gelu_scale * (1 + 3 * gelu_cube * x.square());
}

Rows softmax(const Rows& x) {
  const Rows e = (x - beside(x.rowwise().maxCoeff(), x.cols())).exp();
  return e / beside(e.rowwise().sum(), x.cols());
}

Rows centred(const Rows& x) { return x - beside(x.rowwise().mean(), x.cols()); }

Rows inverse_deviation(const Rows& centred_x) {
  return beside((centred_x.square().rowwise().mean() + epsilon).rsqrt(), centred_x.cols());
}

Rows layer_norm_backward(const Rows& gradient, const Rows& x, const Rows& scale) {
  const Rows d = centred(x), r = inverse_deviation(d);
  const Rows normal = d * r, g = gradient * scale;
  const Rows along = beside((g * normal).rowwise().mean(), x.cols());
  return r * (g - beside(g.rowwise().mean(), x.cols()) - normal * along);
}

Rows dropout(Rows x, const RowParameters& p) {
  for (Eigen::Index row = 0; row < x.rows(); ++row)
    for (Eigen::Index column = 0; column < x.cols(); ++column) {
      const bool kept =
          keeps(p.seed, p.first_row + static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(column), p.factor);
      x(row, column) = kept ? x(row, column) / p.factor : 0;
    }
  return x;
}

void adam(Operands& operands, float rate) {
  Rows &mean = operands[row_b], &square = operands[row_c];
  mean = adam_decay_1 * mean + adam_rest_1 * operands[row_a];
  square = adam_decay_2 * square + adam_rest_2 * operands[row_a].square();
  operands[row_out] -= rate * mean / (square.sqrt() + adam_epsilon);
}

}  // namespace

const RowTraits& traits_of(RowOperation operation) {
  // Operations: multiply, add, compare count 1; exp, tanh, divide, square root 4, a quarter of the lanes having them;
  // a hash of dropout 8. A sum or maximum over the row counts 1.
  static constexpr RowTraits traits[] = {{"none", 0, 0, 0, 0},
                                         {"scale", a, out, 0, 1},
                                         {"add", a | b, out, b, 1},
                                         {"bias_gelu", a | b, out, b, 11},
                                         {"softmax", a, out, 0, 12},
                                         {"layer_norm", a | b | c, out, b | c, 7},
                                         {"dropout", a, out, 0, 10},
                                         {"bias_dropout_add", a | b | c, out, b, 12},
                                         {"bias_gelu_backward", a | b | c, out, c, 17},
                                         {"softmax_backward", a | b, out, 0, 4},
                                         {"layer_norm_backward", a | b | c, out, c, 13},
                                         {"adam", a | b | c | out, b | c | out, 0, 17}};
  return traits[static_cast<std::size_t>(operation)];
}

void compute_rows(RowOperation operation, const RowParameters& p, Operands& o) {
  const Rows& x = o[row_a];
  const Eigen::Index rows = x.rows();
  switch (operation) {
    case RowOperation::scale:
      o[row_out] = p.factor * x;
      break;
    case RowOperation::add:
      o[row_out] = x + all_rows(o[row_b], rows);
      break;
    case RowOperation::bias_gelu:
      o[row_out] = gelu(x + all_rows(o[row_b], rows));
      break;
    case RowOperation::softmax:
      o[row_out] = softmax(x);
      break;
    case RowOperation::layer_norm:
      o[row_out] = centred(x) * inverse_deviation(centred(x)) * all_rows(o[row_b], rows) + all_rows(o[row_c], rows);
      break;
    case RowOperation::dropout:
      o[row_out] = dropout(x, p);
      break;
    case RowOperation::bias_dropout_add:
      o[row_out] = dropout(x + all_rows(o[row_b], rows), p) + o[row_c];
      break;
    case RowOperation::bias_gelu_backward:
      o[row_out] = x * gelu_derivative(o[row_b] + all_rows(o[row_c], rows));
      break;
    case RowOperation::softmax_backward:
      o[row_out] = o[row_b] * (x - beside((x * o[row_b]).rowwise().sum(), x.cols()));
      break;
    case RowOperation::layer_norm_backward:
      o[row_out] = layer_norm_backward(x, o[row_b], all_rows(o[row_c], rows));
      break;
    case RowOperation::adam:
      adam(o, p.factor);
      break;
    case RowOperation::none:
    case RowOperation::count:
      break;
  }
}

bool keeps(std::uint32_t seed, std::uint64_t row, std::uint64_t column, float probability) {
  // The finalizer of MurmurHash3 over the element's place.
  std::uint64_t hash = row << 32 ^ column ^ std::uint64_t{seed} * 0x9E3779B97F4A7C15;
  hash = (hash ^ hash >> 33) * 0xFF51AFD7ED558CCD;
  hash = (hash ^ hash >> 33) * 0xC4CEB9FE1A85EC53;
  hash ^= hash >> 33;
  return static_cast<double>(hash >> 11) * 0x1p-53 < static_cast<double>(probability);
}

}  // namespace t3vp
