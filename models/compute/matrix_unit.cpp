#include "compute/matrix_unit.h"

namespace t3vp::compute {
namespace {

using Factor = Eigen::Ref<const FloatMatrix>;
using Sum = Eigen::Ref<FloatMatrix>;

constexpr Eigen::Index block_rows = 2, block_columns = 16;  // of sums that stay in 16 vector registers

template <int rows, int columns>
void multiply_add_block(const Factor& a, const Factor& b, Sum& sum, Eigen::Index row, Eigen::Index column) {
  using Sums = Eigen::Array<float, columns, 1>;
  Sums sums[std::size_t{rows}];
  for (int i = 0; i < rows; ++i) sums[i] = Eigen::Map<const Sums>(&sum(row + i, column));
  for (Eigen::Index k = 0; k < a.cols(); ++k) {
    const Sums line = Eigen::Map<const Sums>(b.data() + k * b.outerStride() + column);
    for (int i = 0; i < rows; ++i) sums[i] += a(row + i, k) * line;
  }
  for (int i = 0; i < rows; ++i) Eigen::Map<Sums>(&sum(row + i, column)) = sums[i];
}

template <int rows>
void multiply_add_rows(const Factor& a, const Factor& b, Sum& sum, Eigen::Index row) {
  Eigen::Index column = 0;
  for (; column + block_columns <= sum.cols(); column += block_columns)
    multiply_add_block<rows, block_columns>(a, b, sum, row, column);
  for (; column < sum.cols(); ++column) multiply_add_block<rows, 1>(a, b, sum, row, column);
}

}  // namespace

void multiply_add(const Factor& a, const Factor& b, Sum sum) {
  Eigen::Index row = 0;
  for (; row + block_rows <= sum.rows(); row += block_rows) multiply_add_rows<block_rows>(a, b, sum, row);
  for (; row < sum.rows(); ++row) multiply_add_rows<1>(a, b, sum, row);
}

}  // namespace t3vp::compute
