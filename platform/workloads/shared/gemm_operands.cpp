#include "workloads/shared/gemm_operands.h"

#include <cmath>
#include <limits>
#include <random>

#include "workloads/shared/exact_operands.h"

namespace t3vp {
namespace {

/// Rounds to nearest even. The argument is a sum of at most two values of the type: its own rounding to double does not
/// matter.
float rounded(ElementType element, double value) {
  const int digits = element == ElementType::fp32 ? 24 : element == ElementType::fp16 ? 11 : 8;
  const int least = element == ElementType::fp16 ? -14 : -126;  // exponent of the smallest normal number
  int exponent = 0;
  if (std::frexp(value, &exponent) == 0 || !std::isfinite(value)) return static_cast<float>(value);
  const int unit = std::max(exponent - 1, least) - (digits - 1);
  const double result = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  const double largest = element == ElementType::fp16 ? 65504 : 0x1.FFFFFEp127;
  return static_cast<float>(std::abs(result) > largest ? std::copysign(HUGE_VAL, result) : result);
}

ExactOperands exact_operands(const GemmProblem& c, std::uint32_t gpu) {
  return {c.gemm.k, c.slab_depth, c.gpus, gpu, c.seed};
}

compute::FloatMatrix random_operand(const GemmProblem& c, std::uint32_t gpu, char name, std::uint32_t rows,
                                    std::uint32_t columns) {
  std::seed_seq seeds{static_cast<std::uint32_t>(c.seed), static_cast<std::uint32_t>(c.seed >> 32), gpu,
                      static_cast<std::uint32_t>(name)};
  std::mt19937_64 random(seeds);
  compute::FloatMatrix matrix(rows, columns);
  // Drawn from the bits, since the standard's distributions differ between libraries.
  for (Eigen::Index i = 0; i < matrix.size(); ++i)
    matrix.data()[i] = rounded(c.gemm.element, std::ldexp(static_cast<double>(random() >> 40), -23) - 1);
  return matrix;
}

compute::FloatMatrix exact_product(const GemmProblem& c, std::uint32_t gpu) {
  const GemmShape& shape = c.gemm;
  const ExactOperands operands = exact_operands(c, gpu);
  Eigen::VectorXf rows(shape.m), columns(shape.n);
  for (std::uint32_t i = 0; i < shape.m; ++i) rows[i] = operands.product_row(i);
  for (std::uint32_t j = 0; j < shape.n; ++j) columns[j] = operands.product_column(j);
  return rows * columns.transpose();
}

compute::FloatMatrix expected_exactly(const GemmProblem& c) {
  compute::FloatMatrix sum = compute::FloatMatrix::Zero(c.gemm.m, c.gemm.n);
  for (std::uint32_t gpu = 0; gpu < c.gpus; ++gpu) sum += exact_product(c, gpu);
  return sum;
}

/// A GPU's own product.
compute::FloatMatrix partial_result(const GemmProblem& c, std::uint32_t gpu) {
  const compute::FloatMatrix a = operand_a(c, gpu);
  compute::FloatMatrix b = operand_b(c, gpu);
  if (c.gemm.transpose_b) b.transposeInPlace();
  compute::FloatMatrix sum = compute::FloatMatrix::Zero(a.rows(), b.cols());
  for (Eigen::Index i = 0; i < a.rows(); ++i)
    for (Eigen::Index k = 0; k < a.cols(); ++k) sum.row(i) += a(i, k) * b.row(k);
  return sum.unaryExpr([&](float value) { return rounded(c.gemm.element, value); });
}

compute::FloatMatrix expected_in_ring_order(const GemmProblem& c) {
  std::vector<compute::FloatMatrix> partial;
  for (std::uint32_t gpu = 0; gpu < c.gpus; ++gpu) partial.push_back(partial_result(c, gpu));
  const TileGrid grid = output_grid(c.gemm, c.wavefronts);
  compute::FloatMatrix sum(c.gemm.m, c.gemm.n);
  for (std::uint32_t chunk = 0; chunk < c.gpus; ++chunk)
    for (std::uint32_t tile = grid.chunk_begin(chunk, c.gpus); tile < grid.chunk_begin(chunk + 1, c.gpus); ++tile) {
      const Rectangle t = grid.tile(tile);
      auto total = sum.block(t.row, t.column, t.rows, t.columns);
      total = partial[(chunk + c.gpus - 1) % c.gpus].block(t.row, t.column, t.rows, t.columns);
      for (std::uint32_t step = 2; step <= c.gpus; ++step) {
        const auto next = partial[(chunk + c.gpus - step) % c.gpus].block(t.row, t.column, t.rows, t.columns);
        total =
            total.binaryExpr(next, [&](float x, float y) { return rounded(c.gemm.element, double{x} + double{y}); });
      }
    }
  return sum;
}

}  // namespace

compute::FloatMatrix operand_a(const GemmProblem& c, std::uint32_t gpu) {
  const GemmShape& shape = c.gemm;
  if (c.operands == Operands::random) return random_operand(c, gpu, 'a', shape.m, shape.k);
  const ExactOperands operands = exact_operands(c, gpu);
  return compute::FloatMatrix::NullaryExpr(shape.m, shape.k, [&](Eigen::Index i, Eigen::Index k) {
    return operands.a(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(k));
  });
}

compute::FloatMatrix operand_b(const GemmProblem& c, std::uint32_t gpu) {
  const GemmShape& shape = c.gemm;
  const std::uint32_t rows = shape.transpose_b ? shape.n : shape.k, columns = shape.transpose_b ? shape.k : shape.n;
  if (c.operands == Operands::random) return random_operand(c, gpu, 'b', rows, columns);
  const ExactOperands operands = exact_operands(c, gpu);
  return compute::FloatMatrix::NullaryExpr(rows, columns, [&](Eigen::Index row, Eigen::Index column) {
    const auto i = static_cast<std::uint32_t>(row), j = static_cast<std::uint32_t>(column);
    return shape.transpose_b ? operands.b(j, i) : operands.b(i, j);
  });
}

compute::FloatMatrix expected_slabs(const GemmProblem& c, std::uint32_t gpu) {
  const TileGrid grid = output_grid(c.gemm, c.wavefronts);
  compute::FloatMatrix slabs = compute::FloatMatrix::Constant(Eigen::Index{c.gemm.m} * c.gpus, c.gemm.n,
                                                              std::numeric_limits<float>::quiet_NaN());
  for (std::uint32_t sender = 0; sender < c.gpus; ++sender) {
    const compute::FloatMatrix product =
        c.operands == Operands::exact ? exact_product(c, sender) : partial_result(c, sender);
    for (std::uint32_t tile = grid.chunk_begin(gpu, c.gpus); tile < grid.chunk_begin(gpu + 1, c.gpus); ++tile) {
      const Rectangle t = grid.tile(tile);
      slabs.block(Eigen::Index{sender} * c.gemm.m + t.row, t.column, t.rows, t.columns) =
          product.block(t.row, t.column, t.rows, t.columns);
    }
  }
  return slabs;
}

compute::FloatMatrix expected_output(const GemmProblem& c) {
  return c.operands == Operands::exact ? expected_exactly(c) : expected_in_ring_order(c);
}

}  // namespace t3vp
