#include "workloads/layer/operation_reference.h"

#include <cmath>

#include "kernels/rows/arithmetic.h"

namespace t3vp {
namespace {

constexpr double u = 0x1p-24;
constexpr double cube = 0.044715;  // of GELU's tanh form

Array repeated(const Matrix& vector, Eigen::Index rows) {
  return vector.rows() == rows ? Array(vector.array()) : Array(vector.array().replicate(rows, 1));
}

/// The only product, as every other pair of expressions costs the compiler a second or more.
Matrix product(const Matrix& a, const Matrix& b) { return a * b; }

/// One value per row, beside every element.
Array beside(const Array& column, Eigen::Index columns) { return column.replicate(1, columns); }

double gelu_tanh(double x) { return std::tanh(std::sqrt(2 / M_PI) * (x + cube * x * x * x)); }

/// Rounding of the sum x and of tanh's argument, error of tanh, all times x / 2.
Expected gelu(const Array& x) {
  const Array y = x.unaryExpr([](double v) { return 0.5 * v * (1 + gelu_tanh(v)); });
  return {y, u * (7 * x.abs() + 3 * y.abs())};
}

/// GELU's derivative: half of 1 + tanh, and a term with 1 - tanh^2, which cancels.
Expected gelu_slope(const Array& x) {
  const Array t = x.unaryExpr(&gelu_tanh);
  const Array second = 0.5 * x * (1 - t.square()) * std::sqrt(2 / M_PI) * (1 + 3 * cube * x.square());
  return {0.5 * (1 + t) + second, u * (5 + x.abs() + 5 * x.abs() * (1 + 3 * cube * x.square()) + 4 * second.abs())};
}

/// exp's argument is off by u times itself, in the numerator and in the mean over the denominator's terms.
Expected softmax(const Array& x) {
  const double n = static_cast<double>(x.cols());
  const Array distance = beside(x.rowwise().maxCoeff(), x.cols()) - x, e = (-distance).exp();
  const Array y = e / beside(e.rowwise().sum(), x.cols());
  return {y, u * y * (distance + beside((y * distance).rowwise().sum(), x.cols()) + n + 10)};
}

/// (x - mean) / deviation, and the inverse deviation beside every element.
struct Normal {
  Array value, loss, inverse;
};

/// The mean is off by u sum|x|, which cancels in the variance; that by (n + 4) u of itself.
Normal normalized(const Array& x) {
  const double n = static_cast<double>(x.cols());
  const Array centred = x - beside(x.rowwise().mean(), x.cols());
  const Array inverse = beside((centred.square().rowwise().mean() + 1e-5).sqrt().inverse(), x.cols());
  const Array z = centred * inverse;
  return {z, u * (inverse * beside(x.abs().rowwise().sum(), x.cols()) + z.abs() * (n / 2 + 14)), inverse};
}

Expected layer_norm(const Array& x, const Array& scale, const Array& shift) {
  const Normal z = normalized(x);
  const Array y = z.value * scale + shift;
  return {y, scale.abs() * (z.loss + u * z.value.abs()) + u * y.abs()};
}

Expected layer_norm_backward(const Array& gradient, const Array& x, const Array& scale) {
  const double n = static_cast<double>(x.cols());
  const Normal z = normalized(x);
  const Array g = gradient * scale, along = beside((g * z.value).rowwise().mean(), x.cols());
  const Array mean_loss = u * (n + 1) * beside(g.abs().rowwise().mean(), x.cols());
  const Array along_loss = beside((g.abs() * z.loss).rowwise().mean(), x.cols()) +
                           u * (n + 3) * beside((g * z.value).abs().rowwise().mean(), x.cols());
  const Array y = z.inverse * (g - beside(g.rowwise().mean(), x.cols()) - z.value * along);
  return {y, z.inverse * (3 * u * g.abs() + mean_loss + z.loss * along.abs() + z.value.abs() * along_loss +
                          3 * u * (z.value * along).abs()) +
                 u * (n / 2 + 14) * y.abs()};
}

Expected softmax_backward(const Array& gradient, const Array& y) {
  const double n = static_cast<double>(y.cols());
  const Array products = gradient * y;
  const Array difference = gradient - beside(products.rowwise().sum(), y.cols());
  return {y * difference, u * y.abs() * (n * beside(products.abs().rowwise().sum(), y.cols()) + 2 * difference.abs())};
}

/// (x / probability where an element is kept, else 0) + more. Which ones are kept is a hash of the place.
Expected dropout(const Array& x, const Array& more, const t3_row_options& options) {
  Array y = x / static_cast<double>(options.factor);
  for (Eigen::Index row = 0; row < x.rows(); ++row)
    for (Eigen::Index column = 0; column < x.cols(); ++column)
      if (!t3_keeps(options.seed, static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(column), options.factor))
        y(row, column) = 0;
  return {y + more, u * (2 * y.abs() + (y + more).abs())};
}

}  // namespace

double half_unit(ElementType element) {
  switch (element) {
    case ElementType::fp16:
      return std::ldexp(1.0, -11);
    case ElementType::bf16:
      return std::ldexp(1.0, -8);
    case ElementType::fp32:
      break;
  }
  return std::ldexp(1.0, -24);
}

Array allowed_error(ElementType element, const Expected& expected) {
  // Half of the smallest number of fp16; fp32 may treat what is below its normal numbers as 0.
  const double smallest = element == ElementType::fp16 ? 0x1p-25 : 0x1p-126;
  if (element == ElementType::fp32) return expected.loss + smallest;
  return expected.loss + half_unit(element) * (expected.value.abs() + expected.loss) + smallest;
}

Expected expected_product(const Matrix& a, const Matrix& b) {
  const double k = static_cast<double>(a.cols());
  return {product(a, b).array(), u * k * product(a.cwiseAbs(), b.cwiseAbs()).array()};
}

Expected expected_rows(t3_row_operation operation, const t3_row_options& options, const Matrix& a_matrix,
                       const Matrix& b, const Matrix& c) {
  const Array a = a_matrix.array();
  const auto all = [&a](const Matrix& operand) { return repeated(operand, a.rows()); };
  const auto rounded_once = [](const Array& y) { return Expected{y, u * y.abs()}; };
  switch (operation) {
    case T3_ROWS_SCALE:
      return rounded_once(static_cast<double>(options.factor) * a);
    case T3_ROWS_ADD:
      return rounded_once(a + all(b));
    case T3_ROWS_BIAS_GELU:
      return gelu(a + all(b));
    case T3_ROWS_SOFTMAX:
      return softmax(a);
    case T3_ROWS_LAYER_NORM:
      return layer_norm(a, all(b), all(c));
    case T3_ROWS_DROPOUT:
      return dropout(a, Array::Zero(a.rows(), a.cols()), options);
    case T3_ROWS_BIAS_DROPOUT_ADD:
      return dropout(a + all(b), all(c), options);
    case T3_ROWS_BIAS_GELU_BACKWARD: {
      const Expected slope = gelu_slope(all(b) + all(c));
      const Array y = a * slope.value;
      return {y, a.abs() * slope.loss + u * y.abs()};
    }
    case T3_ROWS_SOFTMAX_BACKWARD:
      return softmax_backward(a, all(b));
    case T3_ROWS_LAYER_NORM_BACKWARD:
      return layer_norm_backward(a, all(b), all(c));
    case T3_ROWS_ADAM:
      break;
  }
  return {};
}

ExpectedAdam expected_adam(float rate, const Matrix& gradients, const Matrix& means, const Matrix& squares,
                           const Matrix& parameters) {
  const Array g = gradients.array(), m = means.array(), s = squares.array(), p = parameters.array();
  const Array mean = 0.9 * m + 0.1 * g, square = 0.999 * s + 0.001 * g.square();
  const Array mean_loss = 3 * u * (0.9 * m.abs() + 0.1 * g.abs());
  const Array root = square.sqrt() + 1e-8, step = static_cast<double>(rate) * mean / root;
  const Array step_loss = static_cast<double>(rate) * mean_loss / root + 12 * u * step.abs();
  return {{mean, mean_loss}, {square, 4 * u * square}, {p - step, step_loss + u * (p - step).abs()}};
}

Expected expected_attention(double factor, std::uint32_t blocks, const Matrix& q, const Matrix& k, const Matrix& v) {
  const double depth = static_cast<double>(q.cols()), n = static_cast<double>(k.rows());
  const Matrix keys = k.transpose();
  const Array scores = factor * product(q, keys).array();
  const Array score_loss = factor * (depth + 2) * product(q.cwiseAbs(), keys.cwiseAbs()).array();
  const Expected p = softmax(scores);
  // exp's argument is off by the score's error and by u times itself, in numerator and denominator.
  const Array off = p.value * (score_loss + beside(scores.rowwise().maxCoeff(), scores.cols()) - scores);
  const Matrix magnitude = v.cwiseAbs();
  const Array y = product(p.value, v).array();
  // A block more shrinks what there is: exp and product. Numerator and denominator are sums of n terms.
  const double sums = 2 * n + 8 * static_cast<double>(blocks) + 16;
  return {y, u * (product(off, magnitude).array() + beside(off.rowwise().sum(), v.cols()) * y.abs() +
                  sums * product(p.value, magnitude).array())};
}

}  // namespace t3vp
