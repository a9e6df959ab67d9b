#include <catch2/catch.hpp>
#include <functional>

#include "cluster_bench.h"
#include "kernel_names.h"
#include "operand.h"
#include "t3/row_operations.h"

namespace t3vp::test::row_kernel_test {

using namespace compute;

namespace {

constexpr ElementType elements[] = {ElementType::fp16, ElementType::bf16, ElementType::fp32};
struct Size {
  std::uint32_t rows, columns;
};
// A block of several rows, rows longer than a block, ragged, one element.
constexpr Size sizes[] = {{64, 16}, {5, 400}, {33, 77}, {7, 1}, {1, 1}};

/// A rows kernel's packet and operands: a, b, c at fixed places, vectors with stride 0.
struct RowCase {
  RowsPacket packet;
  Operand a, b, c, out;

  RowCase(t3_row_operation operation, const Size& size, ElementType element, bool b_vector = false,
          bool c_vector = false) {
    const std::uint32_t stride = Operand::padded(size.columns, element) + 32;
    a = {0x10000, size.rows, size.columns, stride, element};
    b = {0x50000, b_vector ? 1 : size.rows, size.columns, b_vector ? 0 : stride, element};
    c = {0x90000, c_vector ? 1 : size.rows, size.columns, c_vector ? 0 : stride, element};
    out = {0xD0000, size.rows, size.columns, stride, element};
    packet.operation = static_cast<std::uint8_t>(operation);
    packet.element = static_cast<std::uint8_t>(element);
    packet.m = size.rows;
    packet.n = size.columns;
    packet.a = a.address, packet.b = b.address, packet.c = c.address, packet.out = out.address;
    packet.lda = a.stride, packet.ldb = b.stride, packet.ldc = c.stride, packet.ldo = out.stride;
  }
};

Reals repeated(const Reals& vector, const Reals& like) { return vector.replicate(like.rows() / vector.rows(), 1); }

/// Its slope is taken by differences, so that nothing is shared with the model but the definition.
double gelu(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }
double gelu_slope(double x) { return (gelu(x + 1e-5) - gelu(x - 1e-5)) / 2e-5; }

Reals layer_norm(const Reals& x) {
  Reals y(x.rows(), x.cols());
  for (Eigen::Index r = 0; r < x.rows(); ++r) {
    const double mean = x.row(r).mean(), variance = (x.row(r) - mean).square().mean();
    y.row(r) = (x.row(r) - mean) / std::sqrt(variance + 1e-5);
  }
  return y;
}

Reals softmax(const Reals& x) {
  Reals y = x.exp();
  for (Eigen::Index r = 0; r < x.rows(); ++r) y.row(r) /= y.row(r).sum();
  return y;
}

/// The gradient of sum(forward(x) gradient), by differences.
Reals slope(const std::function<Reals(const Reals&)>& forward, const Reals& x, const Reals& gradient) {
  const double step = 1e-6;
  Reals result(x.rows(), x.cols());
  for (Eigen::Index column = 0; column < x.cols(); ++column) {
    Reals more = x, less = x;
    more.col(column) += step, less.col(column) -= step;
    result.col(column) = ((forward(more) - forward(less)) * gradient).rowwise().sum() / (2 * step);
  }
  return result;
}

/// What is expected of an operation on a, b and c.
using Expectation = std::function<Reals(const Reals& a, const Reals& b, const Reals& c)>;

struct Expected {
  t3_row_operation operation;
  bool b_vector, c_vector;
  Expectation value;
};

const std::vector<Expected>& expectations() {
  static const std::vector<Expected> all = {
      {T3_ROWS_SCALE, false, false, [](auto& a, auto&, auto&) { return Reals(0.37f * a); }},
      {T3_ROWS_ADD, false, false, [](auto& a, auto& b, auto&) { return Reals(a + b); }},
      {T3_ROWS_ADD, true, false, [](auto& a, auto& b, auto&) { return Reals(a + repeated(b, a)); }},
      {T3_ROWS_BIAS_GELU, true, false,
       [](auto& a, auto& b, auto&) { return Reals((a + repeated(b, a)).unaryExpr(&gelu)); }},
      {T3_ROWS_SOFTMAX, false, false, [](auto& a, auto&, auto&) { return softmax(a); }},
      {T3_ROWS_LAYER_NORM, true, true,
       [](auto& a, auto& b, auto& c) { return Reals(layer_norm(a) * repeated(b, a) + repeated(c, a)); }},
      {T3_ROWS_BIAS_GELU_BACKWARD, false, true,
       [](auto& a, auto& b, auto& c) { return Reals(a * (b + repeated(c, a)).unaryExpr(&gelu_slope)); }},
  };
  return all;
}

}  // namespace

TEST_CASE("row operations agree with Eigen in double, for all element types and shapes") {
  ClusterBench bench(ClusterBench::small());
  std::mt19937 random(21);
  for (const Expected& expected : expectations())
    for (const ElementType element : elements)
      for (const Size& size : sizes) {
        RowCase test(expected.operation, size, element, expected.b_vector, expected.c_vector);
        test.packet.factor = 0.37f;
        const Reals a = test.a.fill(bench.memory, random), b = test.b.fill(bench.memory, random),
                    c = test.c.fill(bench.memory, random);
        INFO(t3_row_traits_of(test.packet.operation)->name << " " << size.rows << " x " << size.columns << ", element "
                                                           << static_cast<int>(element));
        bench.run(test.packet);
        REQUIRE(bench.gpu().error() == Status::ok);
        const Reals right = expected.value(a, b, c), result = test.out.read(bench.memory);
        // One rounding to the element type and float's own on the way.
        const Reals allowed = (half_unit(element) + 0x1p-20) * right.abs() + 0x1p-17;
        REQUIRE(((result - right).abs() <= allowed).all());
      }
}

TEST_CASE("softmax's backward operation is its derivative") {
  ClusterBench bench(ClusterBench::small());
  std::mt19937 random(22);
  const RowCase test(T3_ROWS_SOFTMAX_BACKWARD, {9, 40}, ElementType::fp32);
  RowCase forward(T3_ROWS_SOFTMAX, {9, 40}, ElementType::fp32);
  const Operand scores{0xE0000, 9, 40, test.a.stride, ElementType::fp32};
  const Reals x = scores.fill(bench.memory, random), gradient = test.a.fill(bench.memory, random);
  forward.packet.a = scores.address;
  forward.packet.out = test.b.address;
  bench.run(forward.packet);
  bench.run(test.packet);
  const Reals right = slope(softmax, x, gradient);
  REQUIRE((test.out.read(bench.memory) - right).abs().maxCoeff() < 1e-5);
  REQUIRE(right.abs().maxCoeff() > 0.01);
}

TEST_CASE("layer norm's backward operation is its derivative") {
  ClusterBench bench(ClusterBench::small());
  std::mt19937 random(26);
  const RowCase test(T3_ROWS_LAYER_NORM_BACKWARD, {9, 40}, ElementType::fp32, false, true);
  const Reals gradient = test.a.fill(bench.memory, random), x = test.b.fill(bench.memory, random, 2, 1),
              scale = test.c.fill(bench.memory, random);
  bench.run(test.packet);
  const Reals right = slope([&](const Reals& y) { return Reals(layer_norm(y) * repeated(scale, y)); }, x, gradient);
  REQUIRE((test.out.read(bench.memory) - right).abs().maxCoeff() < 1e-5);
}

TEST_CASE("softmax stands large numbers") {
  ClusterBench bench(ClusterBench::small());
  RowCase test(T3_ROWS_SOFTMAX, {1, 4}, ElementType::fp32);
  const float row[] = {3e38f, 3e38f, -3e38f, 0};
  std::memcpy(bench.memory.at(test.packet.a), row, sizeof row);
  bench.run(test.packet);
  const Reals right = (Reals(1, 4) << 0.5, 0.5, 0, 0).finished();
  REQUIRE((test.out.read(bench.memory) - right).abs().maxCoeff() < 1e-37);
}

TEST_CASE("dropout keeps elements by seed and place, and adds bias and residual") {
  ClusterBench bench(ClusterBench::small());
  std::mt19937 random(23);
  const Size size{60, 77};
  RowCase test(T3_ROWS_DROPOUT, size, ElementType::fp32);
  const Reals a = test.a.fill(bench.memory, random, 1, 10);
  test.packet.factor = 0.75f;
  test.packet.seed = 5;
  bench.run(test.packet);
  const Reals first = test.out.read(bench.memory), scaled = a / 0.75;
  const Reals kept = (first != 0).cast<double>();
  REQUIRE((first - kept * scaled).abs().maxCoeff() < 1e-5);
  REQUIRE(kept.mean() == Approx(0.75).margin(0.03));
  // No row and no column is treated alike: all have some kept and some dropped.
  REQUIRE(kept.rowwise().mean().maxCoeff() < 1);
  REQUIRE(kept.colwise().mean().maxCoeff() < 1);

  // The backward pass is the same operation on the gradient, whatever the blocks.
  RowCase add(T3_ROWS_BIAS_DROPOUT_ADD, size, ElementType::fp32, true);
  const Reals bias = add.b.fill(bench.memory, random), residual = add.c.fill(bench.memory, random);
  add.packet.factor = 0.75f;
  add.packet.seed = 5;
  bench.run(add.packet);
  const Reals right = kept * (a + repeated(bias, a)) / 0.75 + residual;
  REQUIRE((add.out.read(bench.memory) - right).abs().maxCoeff() < 1e-5);

  test.packet.seed = 6;
  bench.run(test.packet);
  REQUIRE(((test.out.read(bench.memory) != 0) != (first != 0)).any());
}

TEST_CASE("Adam updates moments and weights in place") {
  ClusterBench bench(ClusterBench::small());
  std::mt19937 random(24);
  RowCase test(T3_ROWS_ADAM, {33, 77}, ElementType::fp32);
  const Reals gradient = test.a.fill(bench.memory, random), mean = test.b.fill(bench.memory, random),
              square = test.c.fill(bench.memory, random, 0, 2), weights = test.out.fill(bench.memory, random);
  test.packet.factor = 0.01f;
  bench.run(test.packet);
  const Reals new_mean = 0.9 * mean + 0.1 * gradient, new_square = 0.999 * square + 0.001 * gradient.square();
  REQUIRE((test.b.read(bench.memory) - new_mean).abs().maxCoeff() < 1e-6);
  REQUIRE((test.c.read(bench.memory) - new_square).abs().maxCoeff() < 1e-5);
  const Reals right = weights - 0.01 * new_mean / new_square.sqrt();
  REQUIRE((test.out.read(bench.memory) - right).abs().maxCoeff() < 1e-6);
}

TEST_CASE("a rows kernel moves each operand once, vectors once per workgroup, and no more than allowed at a time") {
  ClusterBench bench(ClusterBench::small(), false);
  for (const Size& size : {Size{100, 512}, Size{20, 5000}}) {
    const RowCase test(T3_ROWS_BIAS_DROPOUT_ADD, size, ElementType::fp16, true);
    RowsPacket packet = test.packet;
    packet.factor = 1;
    bench.memory.log.clear();
    bench.run(packet);
    const std::uint64_t matrix = std::uint64_t{size.rows} * size.columns * 2;
    const std::uint64_t workgroups = size.columns == 512 ? 25 : 20;  // blocks of four rows, or a row in three pieces
    REQUIRE(bench.memory.bytes_of(Operation::store, TrafficClass::gemm_write) == matrix);
    REQUIRE(bench.memory.bytes_of(Operation::load, TrafficClass::gemm_read) ==
            2 * matrix + workgroups * size.columns * 2);
    for (const LoggedAccess& access : bench.memory.log) REQUIRE(access.shape.bytes() <= 4096);
    for (const LoggedAccess& access : bench.memory.accesses(Operation::store)) REQUIRE(access.cached);
  }
}

TEST_CASE("the time of a rows kernel's workgroup, by hand") {
  ComputeParameters p = ClusterBench::small();
  ClusterBench bench(p, false);
  const Picoseconds memory = bench.memory.latency;
  const auto cycles = [&](double count) { return cycle_time(count, p.clock_GHz); };
  // Three pieces of 4096, 4096 and 1808 bytes, each operand of a piece after the other through the port.
  const RowCase test(T3_ROWS_ADD, {1, 5000}, ElementType::fp16);
  const Picoseconds loads = 3 * memory + 2 * (2 * cycles(4096 / 64.0) + cycles(1808 / 64.0));
  const Picoseconds compute = cycles(5000 / p.vector_elements_per_cycle);
  const Picoseconds stores = 2 * cycles(4096 / 64.0) + cycles(1808 / 64.0) + memory;
  REQUIRE(bench.run(test.packet) == memory + p.launch_latency + loads + compute + stores);
}

TEST_CASE("a rows kernel computes each element once, also when the last group of rows is short") {
  ComputeParameters p = ClusterBench::small();
  ClusterBench bench(p, false);
  for (const std::uint32_t rows : {4u, 5u, 7u, 41u}) {  // groups of four rows of 512 fp16 elements
    CAPTURE(rows);
    const RowCase test(T3_ROWS_ADD, {rows, 512}, ElementType::fp16);
    const double before = bench.gpu().busy_ns();
    bench.run(test.packet);
    const double groups = (rows + 3) / 4;
    REQUIRE(bench.gpu().busy_ns() - before ==
            Approx(rows * 512 / p.vector_elements_per_cycle / p.clock_GHz).margin(groups * 0.001));
  }
}

TEST_CASE("functional and timing-only rows kernels take the same time") {
  const RowCase test(T3_ROWS_SOFTMAX, {300, 77}, ElementType::fp16);
  ClusterUnderTest timing(ClusterBench::small(), false, 1);
  NodeMemory timing_memory("timing_memory", 1, 2, ClusterBench::memory_bytes);
  timing.cluster.memory.bind(*timing_memory.ports[0]);
  ClusterBench bench(ClusterBench::small());
  timing.start_queue();
  bench.gpu().put(bench.memory, test.packet);
  RowsPacket packet = test.packet;
  packet.a = timing.here(packet.a), packet.out = timing.here(packet.out);
  timing.put(timing_memory, packet);
  bench.gpu().ring();
  timing.ring();
  bench.wait(100'000'000);
  REQUIRE(timing.completed() == 1);
  REQUIRE(bench.memory.log.size() == timing_memory.log.size());
  for (std::size_t i = 0; i < timing_memory.log.size(); ++i)
    REQUIRE(bench.memory.log[i].arrival == timing_memory.log[i].arrival);
}

}  // namespace t3vp::test::row_kernel_test
