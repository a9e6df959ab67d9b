// The bounds of a layer's operations hold for the models, are not much wider than they need, and what is beyond them is
// found.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>

#include "compute/matrix_unit.h"
#include "kernels/kernels.h"
#include "kernels/rows/arithmetic.h"
#include "node/node.h"
#include "protocol/element.h"
#include "run/buffer_access.h"
#include "run/node_parameters.h"
#include "system/platform_run.h"
#include "workloads/layer/layer_reference.h"
#include "workloads/layer/operation_reference.h"

namespace t3vp::test::operation_bounds_test {

using Matrix = t3vp::Matrix;

namespace {

struct Checked {
  t3_row_operation operation;
  bool vector_b, vector_c;
  double widest;  ///< bound over the largest error that random operands show
};

constexpr Checked operations[] = {{T3_ROWS_SCALE, false, false, 2},
                                  {T3_ROWS_ADD, true, false, 2},
                                  {T3_ROWS_BIAS_GELU, true, false, 8},
                                  {T3_ROWS_SOFTMAX, false, false, 8},
                                  {T3_ROWS_LAYER_NORM, true, true, 16},
                                  {T3_ROWS_DROPOUT, false, false, 4},
                                  {T3_ROWS_BIAS_DROPOUT_ADD, true, false, 4},
                                  {T3_ROWS_BIAS_GELU_BACKWARD, false, true, 8},
                                  {T3_ROWS_SOFTMAX_BACKWARD, false, false, 8},
                                  {T3_ROWS_LAYER_NORM_BACKWARD, false, true, 16}};

struct Drawn {
  explicit Drawn(unsigned seed) : random(seed) {}
  Matrix matrix(Eigen::Index rows, Eigen::Index columns, double scale, double least = -1) {
    std::uniform_real_distribution<double> uniform(least * scale, scale);
    return Matrix::NullaryExpr(rows, columns, [&] { return static_cast<double>(static_cast<float>(uniform(random))); });
  }
  std::mt19937 random;
};

using Rows = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Rows as_float(const Matrix& matrix) { return matrix.cast<float>().array(); }

/// Computes the results of a rows kernel from these operands, in place.
void compute_rows(t3_row_operation operation, const t3_row_options& options, std::array<Rows, T3_ROWS_OPERANDS>& rows) {
  t3_row_work work{};
  work.operation = operation;
  work.factor = options.factor;
  work.seed = options.seed;
  work.rows = static_cast<std::uint32_t>(rows[T3_ROWS_A].rows());
  work.columns = static_cast<std::uint32_t>(rows[T3_ROWS_A].cols());
  if (rows[T3_ROWS_OUT].size() == 0) rows[T3_ROWS_OUT].setZero(rows[T3_ROWS_A].rows(), rows[T3_ROWS_A].cols());
  float* operands[T3_ROWS_OPERANDS];
  for (std::uint32_t o = 0; o < T3_ROWS_OPERANDS; ++o) {
    operands[o] = rows[o].data();
    if (rows[o].rows() == 1) work.vectors = static_cast<std::uint8_t>(work.vectors | 1u << o);
  }
  t3_compute_rows(&work, operands);
}

/// Largest error of fp32 results in units of the bound.
double share_of_bound(const Rows& found, const Expected& expected) {
  return ((found.cast<double>() - expected.value).abs() / (expected.loss + 0x1p-126)).maxCoeff();
}

double share_of_bound(const Checked& o, Eigen::Index columns, double scale, unsigned seed) {
  Drawn drawn(seed);
  const Eigen::Index rows = 6;
  const Matrix a = drawn.matrix(rows, columns, scale), b = drawn.matrix(o.vector_b ? 1 : rows, columns, scale),
               c = drawn.matrix(o.vector_c ? 1 : rows, columns, scale);
  const t3_row_options options{0.9f, 5};
  std::array<Rows, T3_ROWS_OPERANDS> operands{as_float(a), as_float(b), as_float(c), Rows()};
  compute_rows(o.operation, options, operands);
  return share_of_bound(operands[T3_ROWS_OUT], expected_rows(o.operation, options, a, b, c));
}

/// The largest number of the type that is not above `limit`.
float at_most(ElementType element, double limit) {
  const std::uint32_t bytes = bytes_of(element);
  float value = static_cast<float>(limit);
  unsigned char narrow[4] = {};
  narrow_elements(element, &value, narrow, 1);
  widen_elements(element, narrow, &value, 1);
  while (double{value} > limit) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, narrow, bytes);
    bits += value > 0 ? ~0u : 1u;  // towards minus infinity
    std::memcpy(narrow, &bits, bytes);
    widen_elements(element, narrow, &value, 1);
  }
  return value;
}

/// The smallest number of the type above `limit`, for a positive one.
float above(ElementType element, double limit) {
  const std::uint32_t bytes = bytes_of(element);
  float value = at_most(element, limit);
  unsigned char narrow[4] = {};
  narrow_elements(element, &value, narrow, 1);
  std::uint32_t bits = 0;
  std::memcpy(&bits, narrow, bytes);
  ++bits;
  std::memcpy(narrow, &bits, bytes);
  widen_elements(element, narrow, &value, 1);
  return value;
}

}  // namespace

TEST_CASE("row operations stay within their bounds, which are not much wider than needed") {
  for (const Checked& o : operations) {
    double largest = 0;
    for (const Eigen::Index columns : {1, 2, 7, 64, 500, 3000})
      for (const double scale : {0.01, 1.0, 6.0})
        for (const unsigned seed : {1u, 2u, 3u}) {
          CAPTURE(o.operation, columns, scale, seed);
          const double share = share_of_bound(o, columns, scale, seed);
          REQUIRE(share <= 1);
          largest = std::max(largest, share);
        }
    CAPTURE(o.operation, largest);
    CHECK(largest * o.widest >= 1);
  }
}

TEST_CASE("Adam stays within its bounds") {
  double largest[3] = {};
  for (const unsigned seed : {1u, 2u, 3u, 4u}) {
    Drawn drawn(seed);
    const Matrix gradients = drawn.matrix(4, 300, 1), means = drawn.matrix(4, 300, 1),
                 squares = drawn.matrix(4, 300, 1, 0), parameters = drawn.matrix(4, 300, 1);
    std::array<Rows, T3_ROWS_OPERANDS> operands{as_float(gradients), as_float(means), as_float(squares),
                                                as_float(parameters)};
    compute_rows(T3_ROWS_ADAM, {1e-3f, 0}, operands);
    const ExpectedAdam expected = expected_adam(1e-3f, gradients, means, squares, parameters);
    const double shares[] = {share_of_bound(operands[T3_ROWS_B], expected.mean),
                             share_of_bound(operands[T3_ROWS_C], expected.square),
                             share_of_bound(operands[T3_ROWS_OUT], expected.parameters)};
    for (int i = 0; i < 3; ++i) {
      CAPTURE(i, seed);
      REQUIRE(shares[i] <= 1);
      largest[i] = std::max(largest[i], shares[i]);
    }
  }
  for (const double share : largest) CHECK(share * 4 >= 1);
}

TEST_CASE("products stay within their bound") {
  for (const Eigen::Index k : {1, 3, 40, 600}) {
    Drawn drawn(static_cast<unsigned>(k));
    const Matrix a = drawn.matrix(5, k, 1), b = drawn.matrix(k, 30, 1);
    compute::FloatMatrix sum = compute::FloatMatrix::Zero(5, 30);
    compute::multiply_add(a.cast<float>(), b.cast<float>(), sum);
    REQUIRE(share_of_bound(sum.array(), expected_product(a, b)) <= 1);
  }
}

TEST_CASE("the bound of attention is that of a plain computation in fp32") {
  for (const Eigen::Index keys : {2, 20, 300}) {
    Drawn drawn(static_cast<unsigned>(keys));
    const Matrix q = drawn.matrix(6, 16, 2), k = drawn.matrix(keys, 16, 2), v = drawn.matrix(keys, 16, 1);
    const Rows scores = 0.25f * (q.cast<float>() * k.cast<float>().transpose()).array();
    const Rows e = (scores - scores.rowwise().maxCoeff().replicate(1, keys)).exp();
    const Rows result = (e.matrix() * v.cast<float>()).array() / e.rowwise().sum().replicate(1, 16);
    const double share = share_of_bound(result, expected_attention(0.25, 1, q, k, v));
    CAPTURE(keys, share);
    REQUIRE(share <= 1);
    CHECK(share * (72 + 2 * static_cast<double>(keys)) >= 1);
  }
}

namespace {

Matrix read(Gpu& gpu, const processor::PublishedBuffer& buffer) {
  Matrix values(buffer.rows, buffer.columns);
  std::vector<float> row(buffer.columns);
  for (std::uint32_t i = 0; i < buffer.rows; ++i) {
    read_row(gpu, buffer, i, row.data());
    for (std::uint32_t j = 0; j < buffer.columns; ++j) values(i, j) = row[j];
  }
  return values;
}

}  // namespace

TEST_CASE("an error just above the bound is a mismatch, one just below is none") {
  RunConfiguration configuration = configuration_of({on_small_system(), "gpus=2"});
  configuration.gpus = 1;
  Node node("node", node_parameters(configuration), t3_kernels, nullptr);
  Gpu& gpu = *node.gpus()[0];
  constexpr std::uint32_t rows = 3, columns = 48, row = 1;
  for (const ElementType element : {ElementType::fp16, ElementType::bf16, ElementType::fp32})
    for (const Checked& o : operations) {
      CAPTURE(o.operation, static_cast<int>(element));
      DebugMemory memory(gpu);
      std::vector<LayerOperation> program{{"planted", LayerPart::element_wise, {}}};
      LayerReference reference(memory, 1, program);
      t3_layer_operation& kernel = program.front().kernel;
      kernel.kernel = T3_LAYER_ROWS;
      kernel.rows = o.operation;
      kernel.options = {0.75f, 3};
      const std::uint64_t stride = columns * bytes_of(element);
      t3_operand* const used[] = {&kernel.a, &kernel.b, &kernel.c, &kernel.out};
      const bool vector[] = {false, o.vector_b, o.vector_c, false};
      processor::PublishedBuffer buffers[4];
      for (std::uint32_t i = 0; i < 4; ++i) {
        const std::uint32_t height = vector[i] ? 1 : rows;
        buffers[i] = {"tensor", 0x10000 * (i + 1), stride, height, columns, element};
        processor::PublishedBuffer flat = buffers[i];
        flat.columns = height * columns, flat.rows = 1, flat.row_stride = height * stride;
        reference.publish(tensor_of(flat));
        used[i]->used = true;
        used[i]->tensor = i;
        used[i]->matrix.rows = height;
        used[i]->matrix.columns = columns;
        used[i]->matrix.row_stride = stride;
        used[i]->matrix.element = static_cast<t3_element>(element);
      }
      reference.before(0);
      const Expected expected = expected_rows(o.operation, kernel.options, read(gpu, buffers[0]), read(gpu, buffers[1]),
                                              read(gpu, buffers[2]));
      const Array allowed = allowed_error(element, expected);
      const compute::FloatMatrix right = expected.value.cast<float>().matrix();
      const auto mismatches_with = [&](std::uint32_t column, float value) {
        const std::uint64_t before = reference.so_far().mismatches;
        compute::FloatMatrix planted = right;
        planted(row, column) = value;
        for (std::uint32_t i = 0; i < rows; ++i) write_row(gpu, buffers[3], i, &planted(i, 0));
        reference.after(0);
        return reference.so_far().mismatches - before;
      };
      for (std::uint32_t column = 0; column < columns; column += 5) {
        const double limit = std::abs(expected.value(row, column)) + allowed(row, column);
        const float sign = expected.value(row, column) < 0 ? -1.0f : 1.0f;
        REQUIRE(mismatches_with(column, sign * at_most(element, limit)) == 0);
        REQUIRE(mismatches_with(column, sign * above(element, limit)) == 1);
      }
      REQUIRE(mismatches_with(2, NAN) == 1);
      REQUIRE(reference.result().first->row == row);
      REQUIRE(reference.result().first->tensor == "tensor of operation planted");
    }
}

}  // namespace t3vp::test::operation_bounds_test
