// The reference results of a layer's operations, in double precision, and the error bounds of fp32 arithmetic in any
// order. docs/models/layers.md has the bounds as a table.
//
// u is 2^-24, half a unit in the last place of fp32. A sum of n terms is off by n u times the sum of their magnitudes
// at most; elementary functions (exp, tanh, square root) by some u. Terms in u^2 are left out: the factors are rounded
// up.
#pragma once

#include <Eigen/Core>
#include <optional>

#include "protocol/access.h"
#include "workloads/layer/layer_layout.h"

namespace t3vp {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Array = Eigen::Array<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Expected {
  Array value;
  Array loss;  ///< bound of |result - value| before the result is rounded to the element type
};

/// Half a unit in the last place of 1.
double half_unit(ElementType element);

/// Returns the allowed difference from `expected`: the loss, one rounding to the element type, and the underflow of the
/// element type.
Array allowed_error(ElementType element, const Expected& expected);

Expected expected_product(const Matrix& a, const Matrix& b);

/// Returns the results of a row operation other than Adam; `b` and `c` may be vectors.
Expected expected_rows(t3_row_operation operation, const t3_row_options& options, const Matrix& a, const Matrix& b,
                       const Matrix& c);

struct ExpectedAdam {
  Expected mean, square, parameters;
};
ExpectedAdam expected_adam(float rate, const Matrix& gradients, const Matrix& means, const Matrix& squares,
                           const Matrix& parameters);

/// softmax(factor q k^T) v, computed in `blocks` blocks of keys.
Expected expected_attention(double factor, std::uint32_t blocks, const Matrix& q, const Matrix& k, const Matrix& v);

}  // namespace t3vp
