#include <catch2/catch.hpp>

#include "cluster_bench.h"
#include "kernel_names.h"
#include "operand.h"
#include "t3/row_operations.h"

namespace t3vp::test::attention_test {

using namespace compute;

namespace {

/// Several heads whose q, k and v lie side by side in the rows of one matrix, as an input projection leaves them.
struct AttentionCase {
  static constexpr float factor = 0.3f;
  AttentionPacket packet;
  std::uint32_t rows, columns, heads;
  ElementType element;

  AttentionCase(const ComputeParameters& p, std::uint32_t m, std::uint32_t n, std::uint32_t batch, ElementType type,
                AttentionPass pass = AttentionPass::forward)
      : rows(m), columns(n), heads(batch), element(type) {
    const bool backward = pass != AttentionPass::forward;
    packet.pass = static_cast<std::uint8_t>(pass);
    packet.element = static_cast<std::uint8_t>(element);
    packet.m = rows;
    packet.n = columns;
    packet.qkv = 0x10000, packet.out = 0x110000;
    packet.batches = static_cast<std::uint16_t>(heads);
    packet.qkv_batch = 3 * part();
    packet.out_batch = backward ? packet.qkv_batch : part();
    packet.ld_qkv = heads * packet.qkv_batch;
    packet.ldo = heads * packet.out_batch;
    if (backward) {
      packet.gradient = 0x80000, packet.result = 0xC0000;
      packet.gradient_batch = part();
      packet.ld_gradient = heads * packet.gradient_batch;
    }
    packet.factor = factor;
    packet.tile_rows = static_cast<std::uint16_t>(p.tile_rows);
    packet.tile_columns = 16;
    packet.header.workgroups = (rows + packet.tile_rows - 1) / packet.tile_rows * heads;
  }

  std::uint32_t part() const { return Operand::padded(columns, element); }
  Operand input(std::uint32_t head, std::uint32_t which) const {
    return {packet.qkv + head * packet.qkv_batch + which * part(), rows, columns, packet.ld_qkv, element};
  }
  Operand output(std::uint32_t head) const {
    return {packet.out + head * packet.out_batch, rows, columns, packet.ldo, element};
  }
};

Reals attention(const Reals& q, const Reals& k, const Reals& v) {
  Eigen::MatrixXd scores = AttentionCase::factor * (q.matrix() * k.matrix().transpose());
  scores = scores.array().exp();
  for (Eigen::Index row = 0; row < scores.rows(); ++row) scores.row(row) /= scores.row(row).sum();
  return (scores * v.matrix()).array();
}

}  // namespace

TEST_CASE("fused attention agrees with softmax(q k^T) v by Eigen in double, head by head") {
  ClusterBench bench(ClusterBench::small());
  std::mt19937 random(31);
  struct Size {
    std::uint32_t rows, columns, heads;
  };
  for (const ElementType element : {ElementType::fp16, ElementType::bf16, ElementType::fp32})
    for (const Size& size : {Size{64, 16, 3}, Size{70, 19, 2}, Size{5, 8, 1}, Size{1, 1, 1}}) {
      const AttentionCase test(bench.parameters, size.rows, size.columns, size.heads, element);
      std::vector<Reals> expected;
      for (std::uint32_t head = 0; head < size.heads; ++head) {
        const Reals q = test.input(head, 0).fill(bench.memory, random),
                    k = test.input(head, 1).fill(bench.memory, random),
                    v = test.input(head, 2).fill(bench.memory, random);
        expected.push_back(attention(q, k, v));
      }
      bench.run(test.packet);
      INFO(size.rows << " x " << size.columns << ", element " << static_cast<int>(element));
      REQUIRE(bench.gpu().error() == Status::ok);
      for (std::uint32_t head = 0; head < size.heads; ++head) {
        const Reals allowed = half_unit(element) * expected[head].abs() + 1e-5;
        REQUIRE(((test.output(head).read(bench.memory) - expected[head]).abs() <= allowed).all());
      }
    }
}

TEST_CASE("fused attention moves no scores: tiles once, the others' rows once per tile") {
  ClusterBench bench(ClusterBench::small(), false);
  const std::uint64_t tiles = 3, part = 70u * 19 * 2, heads = 2;  // tiles of 32 of 70 rows
  struct Expectation {
    AttentionPass pass;
    std::uint64_t kept, walked, written;  // operands of 70 x 19
  };
  for (const Expectation& e :
       {Expectation{AttentionPass::forward, 1, 2, 1}, Expectation{AttentionPass::backward_q, 3, 2, 1},
        Expectation{AttentionPass::backward_kv, 2, 2, 2}}) {
    const AttentionCase test(bench.parameters, 70, 19, heads, ElementType::fp16, e.pass);
    bench.memory.log.clear();
    bench.run(test.packet);
    REQUIRE(bench.gpu().error() == Status::ok);
    REQUIRE(bench.memory.bytes_of(Operation::load, TrafficClass::gemm_read) ==
            heads * part * (e.kept + e.walked * tiles));
    REQUIRE(bench.memory.bytes_of(Operation::store, TrafficClass::gemm_write) == heads * part * e.written);
    // Gradients go where q, or k and v, have their place.
    const std::uint64_t first = e.pass == AttentionPass::backward_kv ? test.part() : 0;
    for (const LoggedAccess& store : bench.memory.accesses(Operation::store)) {
      const std::uint64_t place = (store.address - test.packet.out) % test.packet.out_batch;
      REQUIRE((place == first || place == 2 * first));
    }
  }
}

TEST_CASE("the time of a fused attention's workgroup, by hand") {
  const ComputeParameters p = ClusterBench::small();
  ClusterBench bench(p, false);
  const AttentionCase test(p, 32, 16, 1, ElementType::fp16);
  const auto cycles = [&](double count) { return cycle_time(count, p.clock_GHz); };
  const auto port = [&](double bytes) { return cycles(bytes / p.port_bytes_per_cycle); };
  // q of 32 rows, then k and v of 16 rows for each of two blocks.
  const double product = 2.0 * 32 * 16 * 16 / (p.matrix_flops_per_cycle * p.matrix_efficiency);
  const double vector = 32 * 16 * t3_row_traits_of(T3_ROWS_SOFTMAX)->operations / p.vector_elements_per_cycle;
  // q k^T begins when k has come; v comes meanwhile.
  const Picoseconds loads = bench.memory.latency + port(32 * 16 * 2) + port(16 * 16 * 2);
  REQUIRE(port(16 * 16 * 2) < cycles(product));
  const Picoseconds stores = port(32 * 16 * 2) + bench.memory.latency;
  REQUIRE(bench.run(test.packet) ==
          bench.memory.latency + p.launch_latency + loads + 2 * (2 * cycles(product) + cycles(vector)) + stores);
}

TEST_CASE("a pass of fused attention computes its number of products for each block, and a softmax") {
  const ComputeParameters p = ClusterBench::small();
  ClusterBench bench(p, false);
  constexpr std::uint32_t rows = 96, columns = 16, heads = 2;
  const double blocks = heads * (96.0 / 32) * (96.0 / 16);  // tiles of 32 rows, each against blocks of 16
  for (const auto& [pass, products] : {std::pair{AttentionPass::forward, 2}, std::pair{AttentionPass::backward_q, 3},
                                       std::pair{AttentionPass::backward_kv, 4}}) {
    CAPTURE(products);
    const AttentionCase test(p, rows, columns, heads, ElementType::fp16, pass);
    const double before = bench.gpu().busy_ns();
    bench.run(test.packet);
    REQUIRE(bench.gpu().error() == Status::ok);
    const double matrix = products * 2.0 * 32 * 16 * columns / (p.matrix_flops_per_cycle * p.matrix_efficiency);
    const double vector = 32 * 16 * t3_row_traits_of(T3_ROWS_SOFTMAX)->operations / p.vector_elements_per_cycle;
    REQUIRE(bench.gpu().busy_ns() - before == Approx(blocks * (matrix + vector) / p.clock_GHz).margin(blocks * 0.003));
  }
}

}  // namespace t3vp::test::attention_test
