// Batches, rows and attention as the driver puts them into packets, and the program that runs a list of them.
#include <catch2/catch.hpp>

#include "firmware/mock_gpu.h"
#include "guests/program_run.h"
#include "t3/programs.h"
#include "workloads/layer/layer_packing.h"

namespace t3vp::test::layer_test {

namespace {

struct Driver {
  MockGpu mock{0, 1};
  t3_context context;
  Driver() { REQUIRE(t3_init(&context, mock.hal()) == T3_OK); }

  t3_matrix matrix(std::uint32_t rows, std::uint32_t columns, t3_element element = T3_FP16) {
    t3_matrix m{};
    m.rows = rows;
    m.columns = columns;
    m.element = element;
    REQUIRE(t3_matrix_malloc(&context, &m) == T3_OK);
    return m;
  }
  const QueuedKernel& packet() const { return mock.packets().back(); }
};

t3_layer_operation rows_operation(t3_row_operation operation, std::uint32_t in, std::uint32_t out) {
  t3_layer_operation o{};
  o.kernel = T3_LAYER_ROWS;
  o.rows = operation;
  o.options.factor = 1;
  o.a.used = o.out.used = true;
  o.a.tensor = in;
  o.out.tensor = out;
  o.a.matrix.rows = o.out.matrix.rows = 8;
  o.a.matrix.columns = o.out.matrix.columns = 16;
  o.a.matrix.row_stride = o.out.matrix.row_stride = 32;
  o.out.matrix.address = 64;
  return o;
}

}  // namespace

TEST_CASE("a batched GEMM has the workgroups of all its products") {
  Driver driver;
  t3_output out{};
  out.matrix = driver.matrix(200, 100);
  out.tiling = {128, 128, 8};
  const t3_matrix a = driver.matrix(64, 200), b = driver.matrix(64, 100);
  t3_gemm_options options{};
  options.transpose_a = true;
  options.batch = {5, 32, 64, 96};
  REQUIRE(t3_gemm(&driver.context, &out, &a, &b, options) == T3_OK);
  CHECK(driver.packet().workgroups == 2 * 5);
  const t3_gemm_arguments packet = driver.packet().gemm();
  CHECK(packet.k == 64);
  CHECK((packet.transpose_a == 1 && packet.transpose_b == 0 && packet.update == 0));
  CHECK(packet.batches == 5);
  CHECK(packet.a_batch == 32);
  CHECK(packet.b_batch == 64);
  CHECK(packet.out_batch == 96);
  options.batch.matrices = 65536;
  CHECK(t3_gemm(&driver.context, &out, &a, &b, options) == T3_INVALID_ARGUMENT);
  options.batch.matrices = 5;
  options.transpose_a = false;
  CHECK(t3_gemm(&driver.context, &out, &a, &b, options) == T3_INVALID_ARGUMENT);
  CHECK(driver.mock.packets().size() == 1);
}

TEST_CASE("an operand of one row is a vector of a rows kernel") {
  Driver driver;
  const t3_matrix out = driver.matrix(10, 20), a = driver.matrix(10, 20), vector = driver.matrix(1, 20),
                  c = driver.matrix(10, 20), narrow = driver.matrix(10, 19), wide = driver.matrix(10, 20, T3_FP32);
  t3_context* gpu = &driver.context;
  REQUIRE(t3_rows(gpu, T3_ROWS_BIAS_DROPOUT_ADD, &out, &a, &vector, &c, {0.5f, 7}) == T3_OK);
  CHECK(driver.packet().kernel == t3_kernel_handle("rows"));
  const t3_rows_arguments packet = driver.packet().rows();
  CHECK(packet.operation == T3_ROWS_BIAS_DROPOUT_ADD);
  CHECK((packet.m == 10 && packet.n == 20));
  CHECK((packet.a == a.address && packet.b == vector.address && packet.c == c.address && packet.out == out.address));
  CHECK((packet.lda == 64 && packet.ldb == 0 && packet.ldc == 64 && packet.ldo == 64));
  CHECK((packet.factor == 0.5f && packet.seed == 7));
  REQUIRE(t3_rows(gpu, T3_ROWS_SCALE, &vector, &vector, nullptr, nullptr, {2, 0}) == T3_OK);
  CHECK(driver.packet().rows().lda == 64);  // one row of one, not a vector for many
  for (const t3_matrix* wrong : {&narrow, &wide}) {
    CHECK(t3_rows(gpu, T3_ROWS_ADD, &out, &a, wrong, nullptr, {1, 0}) == T3_INVALID_ARGUMENT);
    CHECK(t3_rows(gpu, T3_ROWS_SCALE, &out, wrong, nullptr, nullptr, {1, 0}) == T3_INVALID_ARGUMENT);
  }
  CHECK(t3_rows(gpu, T3_ROWS_SCALE, &out, nullptr, nullptr, nullptr, {1, 0}) == T3_INVALID_ARGUMENT);
  CHECK(t3_rows(gpu, static_cast<t3_row_operation>(12), &out, &a, nullptr, nullptr, {1, 0}) == T3_INVALID_ARGUMENT);
  CHECK(driver.mock.packets().size() == 2);
}

TEST_CASE("a rows kernel takes the operands of its operation and no others") {
  Driver driver;
  const t3_matrix out = driver.matrix(10, 20), a = driver.matrix(10, 20), b = driver.matrix(10, 20),
                  c = driver.matrix(10, 20);
  // As in t3/t3.h: b, and c.
  constexpr std::pair<bool, bool> takes[] = {{false, false}, {true, false},  {true, false}, {false, false},
                                             {true, true},   {false, false}, {true, true},  {true, true},
                                             {true, false},  {true, true},   {true, true}};
  for (std::uint32_t operation = T3_ROWS_SCALE; operation <= T3_ROWS_ADAM; ++operation)
    for (const bool with_b : {false, true})
      for (const bool with_c : {false, true}) {
        CAPTURE(operation, with_b, with_c);
        const bool right = takes[operation - 1] == std::pair(with_b, with_c);
        CHECK(t3_rows(&driver.context, static_cast<t3_row_operation>(operation), &out, &a, with_b ? &b : nullptr,
                      with_c ? &c : nullptr, {1, 0}) == (right ? T3_OK : T3_INVALID_ARGUMENT));
      }
}

TEST_CASE("kernels that store through the cache take no uncached output") {
  Driver driver;
  t3_matrix out = driver.matrix(10, 20);
  const t3_matrix a = driver.matrix(10, 20);
  t3_output tiled{driver.matrix(10, 20), {10, 20, 1}};
  const t3_attention_operands operands{&a, nullptr, nullptr, {}, 1};
  out.memory = tiled.matrix.memory = T3_UNCACHED;
  CHECK(t3_rows(&driver.context, T3_ROWS_SCALE, &out, &a, nullptr, nullptr, {1, 0}) == T3_INVALID_ARGUMENT);
  CHECK(t3_attention(&driver.context, T3_ATTENTION_FORWARD, &tiled, &operands) == T3_INVALID_ARGUMENT);
  out.memory = tiled.matrix.memory = T3_CACHED;
  CHECK(t3_rows(&driver.context, T3_ROWS_SCALE, &out, &a, nullptr, nullptr, {1, 0}) == T3_OK);
  CHECK(t3_attention(&driver.context, T3_ATTENTION_FORWARD, &tiled, &operands) == T3_OK);
}

TEST_CASE("attention has a workgroup for each tile of rows of each matrix") {
  Driver driver;
  t3_output out{};
  out.matrix = driver.matrix(300, 40);
  out.tiling = {128, 64, 8};
  t3_matrix qkv = out.matrix;
  qkv.row_stride = 240;
  const t3_matrix gradient = driver.matrix(300, 40), result = driver.matrix(300, 40);
  t3_attention_operands operands{&qkv, nullptr, nullptr, {4, 32, 64, 96}, 0.25f};
  t3_context* gpu = &driver.context;
  REQUIRE(t3_attention(gpu, T3_ATTENTION_FORWARD, &out, &operands) == T3_OK);
  CHECK(driver.packet().kernel == t3_kernel_handle("attention"));
  CHECK(driver.packet().workgroups == 3 * 4);
  CHECK(driver.packet().attention().ld_qkv == 240);
  CHECK(driver.packet().attention().factor == 0.25f);
  CHECK((driver.packet().attention().tile_rows == 128 && driver.packet().attention().tile_columns == 64));
  CHECK(t3_attention(gpu, T3_ATTENTION_BACKWARD_Q, &out, &operands) == T3_INVALID_ARGUMENT);
  operands.gradient = &gradient;
  CHECK(t3_attention(gpu, T3_ATTENTION_BACKWARD_Q, &out, &operands) == T3_INVALID_ARGUMENT);
  operands.result = &result;
  REQUIRE(t3_attention(gpu, T3_ATTENTION_BACKWARD_KV, &out, &operands) == T3_OK);
  CHECK(driver.packet().attention().pass == T3_ATTENTION_BACKWARD_KV);
  const t3_attention_arguments backward = driver.packet().attention();
  CHECK((backward.gradient == gradient.address && backward.result == result.address));
  CHECK((backward.gradient_batch == 64 && backward.ld_gradient == gradient.row_stride));
  qkv.columns = 41;
  CHECK(t3_attention(gpu, T3_ATTENTION_FORWARD, &out, &operands) == T3_INVALID_ARGUMENT);
}

namespace {

t3_status run_layer(MockGpu& mock, const std::vector<NamedTensor>& tensors,
                    const std::vector<t3_layer_operation>& operations) {
  ProgramRun run;
  run.workload = packed_layer(tensors, operations);
  const t3_run view = run.view();
  return t3_run_layer(mock.hal(), &view);
}

}  // namespace

TEST_CASE("the layer program runs its operations in order, each timed, on the tensors it has published") {
  std::vector<NamedTensor> tensors{{"x", 512, T3_FP16}, {"y", 576, T3_FP16}};
  const std::vector<t3_layer_operation> operations{rows_operation(T3_ROWS_SOFTMAX, 0, 1),
                                                   rows_operation(T3_ROWS_SCALE, 1, 1)};
  MockGpu mock(0, 1);
  REQUIRE(run_layer(mock, tensors, operations) == T3_OK);
  const std::vector<std::string> expected = {
      "arbitration 0 limit 0", "begin setup",     "publish x",          "publish y",       "end setup",
      "begin total",           "begin operation", "kernel rows 4 8x16", "end operation",   "begin operation",
      "kernel rows 1 8x16",    "end operation",   "end total",          "begin hand_over", "flush",
      "end hand_over"};
  REQUIRE(mock.journal() == expected);
  REQUIRE(mock.packets()[0].rows().a == mock.buffers()[0].address);
  REQUIRE(mock.packets()[0].rows().out == mock.buffers()[1].address + 64);
  REQUIRE(mock.buffers()[1].columns == 288);
}

TEST_CASE("the layer program hands on what a kernel is refused for, and too many tensors") {
  std::vector<NamedTensor> tensors{{"x", 512, T3_FP16}, {"y", 576, T3_FP16}};
  const std::vector<t3_layer_operation> operations{rows_operation(T3_ROWS_SOFTMAX, 0, 1),
                                                   rows_operation(T3_ROWS_SCALE, 1, 1)};
  MockGpu mock(0, 1);
  mock.refuse_kernel(T3_BAD_PACKET);
  REQUIRE(run_layer(mock, tensors, operations) == T3_BAD_PACKET);
  REQUIRE(mock.packets().size() == 1);
  tensors.resize(T3_LAYER_TENSORS_MAX + 1, {"z", 32, T3_FP16});
  MockGpu other(0, 1);
  REQUIRE(run_layer(other, tensors, operations) == T3_INVALID_ARGUMENT);
}

TEST_CASE("the layer program refuses bytes that are not its own") {
  MockGpu mock(0, 1);
  ProgramRun run;
  run.workload = packed_layer({{"x", 512, T3_FP16}}, {rows_operation(T3_ROWS_SOFTMAX, 0, 0)});
  const auto refuse = [&] {
    const t3_run view = run.view();
    CHECK(t3_run_layer(mock.hal(), &view) == T3_INVALID_ARGUMENT);
  };
  const PackedWorkload right = run.workload;
  SECTION("a byte is missing") { run.workload.bytes.pop_back(); }
  SECTION("a byte more") { run.workload.bytes.push_back(0); }
  SECTION("a name has no end") { run.workload.bytes.back() = 'x'; }
  SECTION("less than the counts") { run.workload.bytes.resize(T3_LAYER_RUN_BYTES - 1); }
  SECTION("another workload's") { run.workload.name = "gemm"; }
  SECTION("nothing at all") { run.workload = {}; }
  refuse();
  CHECK(mock.journal().empty());
}

}  // namespace t3vp::test::layer_test
