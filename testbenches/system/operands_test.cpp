// What platform/exact_operands.h claims, for all sizes of rings and all depths of products.
#include <algorithm>
#include <catch2/catch.hpp>

#include "system/platform_run.h"
#include "workloads/shared/exact_operands.h"
#include "workloads/shared/gemm_operands.h"

namespace t3vp::test::operands_test {

using DoubleMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

namespace {

constexpr std::uint32_t rows = 5, columns = 7;

DoubleMatrix left(const ExactOperands& operands, std::uint32_t k) {
  return DoubleMatrix::NullaryExpr(rows, k, [&](Eigen::Index i, Eigen::Index j) {
    return operands.a(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j));
  });
}

DoubleMatrix right(const ExactOperands& operands, std::uint32_t k) {
  return DoubleMatrix::NullaryExpr(k, columns, [&](Eigen::Index i, Eigen::Index j) {
    return operands.b(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j));
  });
}

/// Whether a number is a whole one of so many binary digits at most.
bool fits(double value, int digits) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return value == std::round(value) && std::ldexp(fraction, digits) == std::round(std::ldexp(fraction, digits));
}

/// Depths around one, two and three K tiles.
std::vector<std::uint32_t> depths(std::uint32_t k_tile) {
  std::vector<std::uint32_t> list{1, 2, 3, 4, 5};
  for (std::uint32_t k_tiles = 1; k_tiles <= 3; ++k_tiles)
    for (int more = -2; more <= 3; ++more)
      list.push_back(static_cast<std::uint32_t>(static_cast<int>(k_tiles * k_tile) + more));
  list.push_back(9 * k_tile + 5);
  return list;
}

}  // namespace

TEST_CASE("exact operands have a product that is nowhere 0 and of bounded sums over GPUs") {
  for (const std::uint32_t gpus : {1u, 2u, 3u, 4u, 5u, 8u, 16u, 24u, 32u, 64u, 255u, 256u})
    for (const std::uint32_t k : {1u, 31u, 33u, 100u}) {
      CAPTURE(gpus, k);
      DoubleMatrix positive = DoubleMatrix::Zero(rows, columns), negative = positive;
      for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
        const ExactOperands operands(k, 32, gpus, gpu, 1);
        const DoubleMatrix product = left(operands, k) * right(operands, k);
        REQUIRE((product.array() != 0).all());
        for (std::uint32_t i = 0; i < rows; ++i)
          for (std::uint32_t j = 0; j < columns; ++j)
            REQUIRE(product(i, j) == double{operands.product_row(i)} * double{operands.product_column(j)});
        positive += product.cwiseMax(0);
        negative += product.cwiseMin(0);
      }
      REQUIRE(positive.maxCoeff() <= 256);
      REQUIRE(negative.minCoeff() >= -256);
    }
}

TEST_CASE("exact operands have few digits and slabs whose own product is nowhere 0") {
  for (const std::uint32_t k_tile : {16u, 32u, 64u, 256u})
    for (const std::uint32_t k : depths(k_tile)) {
      const std::uint32_t gpus = k % 3 == 0 ? 2 : 64;
      CAPTURE(k_tile, k, gpus);
      const ExactOperands operands(k, k_tile, gpus, 1, 7);
      const DoubleMatrix a = left(operands, k), b = right(operands, k);
      for (const DoubleMatrix& matrix : {a, b}) {
        REQUIRE((matrix.array() != 0).all());
        for (Eigen::Index i = 0; i < matrix.size(); ++i) REQUIRE(fits(matrix.data()[i], 8));
        REQUIRE(matrix.cwiseAbs().maxCoeff() <= 65504);
      }
      for (std::uint32_t first = 0; first < k; first += k_tile) {
        const std::uint32_t depth = std::min(k_tile, k - first);
        const DoubleMatrix product = a.middleCols(first, depth) * b.middleRows(first, depth);
        REQUIRE((product.array() != 0).all());
      }
    }
}

TEST_CASE("exact operands fit fp16 in the deepest slabs") {
  const ExactOperands operands(3 * 4096, 4096, 2, 0, 1);
  REQUIRE(left(operands, 3 * 4096).cwiseAbs().maxCoeff() <= 32768);
}

TEST_CASE("rows, columns, GPUs and seeds have exact operands of their own") {
  const auto product = [](std::uint32_t gpu, std::uint64_t seed) {
    const ExactOperands operands(40, 32, 4, gpu, seed);
    return DoubleMatrix(left(operands, 40) * right(operands, 40));
  };
  const DoubleMatrix one = product(0, 1);
  Eigen::Index other_rows = 0, other_columns = 0;
  for (Eigen::Index i = 1; i < rows; ++i) other_rows += one.row(i) != one.row(0) ? 1 : 0;
  for (Eigen::Index j = 1; j < columns; ++j) other_columns += one.col(j) != one.col(0) ? 1 : 0;
  REQUIRE(other_rows >= rows - 2);
  REQUIRE(other_columns >= columns - 2);
  REQUIRE(one != product(1, 1));
  REQUIRE(one != product(0, 2));
  REQUIRE(one == product(0, 1));
}

TEST_CASE("what is expected of exact operands is the sum of products") {
  for (const bool transposed : {false, true}) {
    const RunConfiguration c = configuration_of(gemm(90, 140, 70) + Settings{on_small_system(), "gpus=5"});
    GemmShape shape{90, 140, 70, ElementType::fp16, transposed, {64, 64}};
    const GemmProblem problem = gemm_problem(shape, c);
    DoubleMatrix sum = DoubleMatrix::Zero(90, 140);
    for (std::uint32_t gpu = 0; gpu < c.gpus; ++gpu) {
      DoubleMatrix b = operand_b(problem, gpu).cast<double>();
      if (transposed) b.transposeInPlace();
      sum += operand_a(problem, gpu).cast<double>() * b;
    }
    REQUIRE(expected_output(problem).cast<double>() == sum);
  }
}

}  // namespace t3vp::test::operands_test
