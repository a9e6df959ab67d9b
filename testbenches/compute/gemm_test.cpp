#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <map>

#include "gemm_case.h"

namespace t3vp::test::gemm_test {

using namespace compute;

namespace {

struct Size {
  std::uint32_t m, n, k;
};
// One tile, whole tiles, ragged ones, less than a tile, a single element.
constexpr Size sizes[] = {{32, 32, 16}, {64, 96, 48}, {70, 45, 33}, {5, 9, 7}, {1, 1, 1}, {33, 1, 100}, {97, 64, 16}};
constexpr std::uint16_t layouts[] = {0, flag::transpose_b, flag::transpose_a, flag::transpose_a | flag::transpose_b};
constexpr ElementType elements[] = {ElementType::fp16, ElementType::bf16, ElementType::fp32};

/// How often each element of the output was stored.
std::vector<int> stores_per_element(const GemmCase& gemm, const std::vector<LoggedAccess>& stores) {
  const TileGrid grid = gemm.grid();
  std::vector<int> count(std::size_t{grid.rows} * grid.columns);
  for (const LoggedAccess& store : stores) {
    const std::uint64_t offset = store.address - gemm.packet.out;
    const std::uint64_t row = offset / grid.row_stride, column = offset % grid.row_stride / bytes_of(grid.element);
    REQUIRE(store.shape.stride == grid.row_stride);
    for (std::uint64_t r = row; r < row + store.shape.rows; ++r)
      for (std::uint64_t c = column; c < column + store.shape.row_bytes / bytes_of(grid.element); ++c)
        ++count.at(r * grid.columns + c);
  }
  return count;
}

/// Workgroups that store at a time do so by turns, as their ports let them.
std::vector<std::uint32_t> workgroups_by_first_store(const std::vector<LoggedAccess>& stores) {
  std::vector<std::uint32_t> order;
  for (const LoggedAccess& store : stores)
    if (std::find(order.begin(), order.end(), store.producer.wg_id) == order.end())
      order.push_back(store.producer.wg_id);
  return order;
}

Picoseconds k_tile_time(const ComputeParameters& p, std::uint32_t depth) {
  return cycle_time(2.0 * p.tile_rows * p.tile_columns * depth / (p.matrix_flops_per_cycle * p.matrix_efficiency),
                    p.clock_GHz);
}

}  // namespace

TEST_CASE("small integers multiply exactly, for all element types, sizes, orders and layouts") {
  ClusterBench bench(ClusterBench::small());
  std::mt19937 random(11);
  for (const ElementType element : elements)
    for (const std::uint16_t flags : layouts)
      for (const Size& size : sizes) {
        GemmCase gemm(bench.parameters, size.m, size.n, size.k, element, flags);
        gemm.packet.first_workgroup = static_cast<std::uint32_t>(random() % gemm.packet.header.workgroups);
        gemm.fill(bench.memory, random, 1);
        bench.run(gemm.packet);
        INFO(size.m << " x " << size.n << " x " << size.k << ", element " << int{gemm.packet.element} << ", flags "
                    << flags);
        REQUIRE(bench.gpu().error() == Status::ok);
        REQUIRE(gemm.result(bench.memory) == gemm.expected());
      }
}

TEST_CASE("real numbers differ from the exact product by roundings only") {
  ClusterBench bench(ClusterBench::small());
  std::mt19937 random(12);
  for (const ElementType element : elements) {
    GemmCase gemm(bench.parameters, 70, 45, 130, element);
    gemm.fill(bench.memory, random, 0);
    bench.run(gemm.packet);
    // Half a unit in the last place of the largest result for the type, and float's own for the sum.
    const double unit = element == ElementType::fp16 ? 0x1p-11 : element == ElementType::bf16 ? 0x1p-8 : 0x1p-24;
    const double bound = (unit + 130 * 0x1p-24) * gemm.expected().cwiseAbs().maxCoeff();
    REQUIRE((gemm.result(bench.memory) - gemm.expected()).cwiseAbs().maxCoeff() <= 4 * bound);
  }
}

TEST_CASE("matrices inside wider ones: row strides larger than rows") {
  ClusterBench bench(ClusterBench::small());
  std::mt19937 random(13);
  GemmCase gemm(bench.parameters, 70, 45, 33, ElementType::fp16);
  gemm.packet.lda += 96;
  gemm.packet.ldb += 32;
  gemm.packet.ldo += 64;
  gemm.fill(bench.memory, random, 1);
  std::memset(bench.memory.at(gemm.packet.out), 0x77, gemm.packet.ldo * 70);
  bench.run(gemm.packet);
  REQUIRE(gemm.result(bench.memory) == gemm.expected());
  for (std::uint32_t row = 0; row < 70; ++row)
    for (std::uint32_t byte = 90; byte < gemm.packet.ldo; ++byte)
      REQUIRE(*bench.memory.at(gemm.packet.out + row * gemm.packet.ldo + byte) == 0x77);
}

TEST_CASE("every element is stored once, by the wavefront that owns it, in the order asked for") {
  ClusterBench bench(ClusterBench::small(), false);
  for (const Size& size : sizes) {
    GemmCase gemm(bench.parameters, size.m, size.n, size.k, ElementType::bf16);
    gemm.packet.first_workgroup = gemm.packet.header.workgroups / 2;
    bench.memory.log.clear();
    bench.run(gemm.packet);
    const auto stores = bench.memory.accesses(Operation::store);
    REQUIRE(stores_per_element(gemm, stores) == std::vector<int>(std::size_t{size.m} * size.n, 1));
    for (const LoggedAccess& store : stores) {
      const Rectangle part = gemm.grid().wavefront_tile(store.producer.wg_id, store.producer.wf_id);
      REQUIRE(store.address == gemm.packet.out + gemm.grid().offset(part));
      REQUIRE(store.shape.rows == part.rows);
      REQUIRE(store.traffic == TrafficClass::gemm_write);
      REQUIRE(store.element == ElementType::bf16);
      REQUIRE(store.cached);
      REQUIRE(!store.has_data);
    }
    // Workgroups that start together finish together here, so stores come in waves of the machine's size.
    const std::uint32_t wave = bench.parameters.compute_units * bench.parameters.workgroups_per_cu;
    const std::uint32_t total = gemm.packet.header.workgroups;
    const std::vector<std::uint32_t> order = workgroups_by_first_store(stores);
    REQUIRE(order.size() == total);
    for (std::uint32_t i = 0; i < total; ++i)
      REQUIRE((order[i] + total - gemm.packet.first_workgroup) % total / wave == i / wave);
  }
}

TEST_CASE("chunks take turns, whatever their sizes, beginning with the first workgroup's") {
  ClusterBench bench(ClusterBench::small(), false);
  const std::uint32_t wave = bench.parameters.compute_units * bench.parameters.workgroups_per_cu;
  for (const Size& size : {Size{160, 160, 16}, Size{97, 130, 16}, Size{5, 9, 7}})
    for (const std::uint32_t chunks : {2u, 3u, 5u, 300u}) {
      GemmCase gemm(bench.parameters, size.m, size.n, size.k, ElementType::bf16);
      const std::uint32_t total = gemm.packet.header.workgroups;
      std::vector<std::deque<std::uint32_t>> waiting(chunks);
      std::uint32_t first = 0;
      for (std::uint32_t c = 0; c < chunks; ++c)
        for (std::uint32_t wg = gemm.grid().chunk_begin(c, chunks); wg < gemm.grid().chunk_begin(c + 1, chunks); ++wg) {
          waiting[c].push_back(wg);
          if (wg == total / 2) first = c;
        }
      gemm.packet.first_workgroup = total / 2;
      gemm.packet.chunks = static_cast<std::uint16_t>(chunks);
      std::map<std::uint32_t, std::uint32_t> place;
      for (std::uint32_t turn = 0; place.size() < total; ++turn) {
        std::deque<std::uint32_t>& chunk = waiting[(first + turn) % chunks];
        if (chunk.empty()) continue;
        place.emplace(chunk.front(), place.size());
        chunk.pop_front();
      }
      bench.memory.log.clear();
      bench.run(gemm.packet);
      const auto stores = bench.memory.accesses(Operation::store);
      REQUIRE(stores_per_element(gemm, stores) == std::vector<int>(std::size_t{size.m} * size.n, 1));
      const std::vector<std::uint32_t> order = workgroups_by_first_store(stores);
      CAPTURE(total, chunks);
      REQUIRE(order.size() == total);
      for (std::uint32_t i = 0; i < total; ++i) REQUIRE(place.at(order[i]) / wave == i / wave);
    }
}

TEST_CASE("the loads are each workgroup's rows of A and columns of B, once") {
  ClusterBench bench(ClusterBench::small(), false);
  for (const std::uint16_t flags : layouts)
    for (const Size& size : sizes) {
      const GemmCase gemm(bench.parameters, size.m, size.n, size.k, ElementType::fp16, flags);
      bench.memory.log.clear();
      bench.run(gemm.packet);
      REQUIRE(bench.memory.bytes_of(Operation::load, TrafficClass::gemm_read) == gemm.loaded_bytes());
      REQUIRE(bench.memory.bytes_of(Operation::load, TrafficClass::control) == T3_KERNEL_PACKET_ENTRY_BYTES);
      REQUIRE(bench.memory.bytes_of(Operation::store) == std::uint64_t{size.m} * size.n * 2);
    }
}

TEST_CASE("flags say whether the output is updated and whether it may be cached") {
  ClusterBench bench(ClusterBench::small());
  std::mt19937 random(14);
  GemmCase gemm(bench.parameters, 64, 64, 32, ElementType::fp32, flag::update | flag::uncached);
  gemm.fill(bench.memory, random, 1);
  for (std::uint32_t i = 0; i < 64 * 64; ++i) {
    const float ten = 10;
    std::memcpy(bench.memory.at(gemm.packet.out + i * sizeof ten), &ten, sizeof ten);
  }
  bench.run(gemm.packet);
  REQUIRE(gemm.result(bench.memory) == (gemm.expected().array() + 10).matrix());
  REQUIRE(bench.memory.accesses(Operation::store).empty());
  for (const LoggedAccess& update : bench.memory.accesses(Operation::update)) REQUIRE(!update.cached);
  for (const LoggedAccess& load : bench.memory.accesses(Operation::load))
    REQUIRE(load.cached == (load.traffic == TrafficClass::gemm_read));  // the operands are cached all the same
}

TEST_CASE("the time of one workgroup, by hand") {
  ComputeParameters p = ClusterBench::small();
  ClusterBench bench(p, false);
  const Picoseconds memory = bench.memory.latency;
  const auto port = [&](std::uint64_t bytes) {
    return cycle_time(static_cast<double>(bytes) / p.port_bytes_per_cycle, p.clock_GHz);
  };
  const GemmCase one(p, 32, 32, 16, ElementType::fp16);
  const Picoseconds fetch = memory, load = memory + 2 * port(32 * 16 * 2), store = 4 * port(8 * 32 * 2) + memory;
  REQUIRE(bench.run(one.packet) == fetch + p.launch_latency + load + k_tile_time(p, 16) + store);
  // Two K tiles are loaded together; the first is computed while the second passes the port, a third is asked for when
  // the first is done.
  const GemmCase three(p, 32, 32, 48, ElementType::fp16);
  const Picoseconds first_done = load + k_tile_time(p, 16);
  REQUIRE(bench.run(three.packet) == fetch + p.launch_latency + first_done + load + k_tile_time(p, 16) + store);
  // The third is short: it takes less to load and less to compute.
  const GemmCase short_last(p, 32, 32, 40, ElementType::fp16);
  const Picoseconds short_load = memory + 2 * port(32 * 8 * 2);
  REQUIRE(bench.run(short_last.packet) ==
          fetch + p.launch_latency + first_done + short_load + k_tile_time(p, 8) + store);
}

TEST_CASE("no kernel beats the matrix units, and large ones nearly reach them") {
  ComputeParameters p = ClusterBench::small();
  p.prefetch_slabs = 8;
  ClusterBench bench(p, false);
  for (const Size& size : sizes) {
    const GemmCase gemm(p, size.m, size.n, size.k, ElementType::fp16);
    const double flops = 2.0 * size.m * size.n * size.k;
    const double peak = p.matrix_flops_per_cycle * p.matrix_efficiency * p.clock_GHz * p.compute_units;
    REQUIRE(to_ns(bench.run(gemm.packet)) >= flops / peak + to_ns(p.launch_latency));
  }
  bench.memory.latency = 1'000;
  GemmCase large(p, 32 * 30, 32, 1024, ElementType::fp16);
  large.packet.out = 0x1F0000;  // behind a
  const double busy = bench.gpu().busy_ns();
  const Picoseconds time = bench.run(large.packet);
  const Picoseconds bound = 10 * 64 * k_tile_time(p, 16);
  REQUIRE(time >= bound + p.launch_latency);
  REQUIRE(time <= bound + bound / 10 + p.launch_latency);
  REQUIRE(bench.gpu().busy_ns() - busy == Approx(3 * to_ns(bound)));
}

TEST_CASE("a kernel may be kept to fewer compute units") {
  ComputeParameters p = ClusterBench::small();
  ClusterBench bench(p, false);
  GemmCase gemm(p, 32 * 6, 32, 512, ElementType::fp16);
  const Picoseconds on_all = bench.run(gemm.packet) - p.launch_latency;
  gemm.packet.header.max_compute_units = 1;
  const Picoseconds on_one = bench.run(gemm.packet) - p.launch_latency;
  REQUIRE(on_one > 2 * on_all);
  REQUIRE(on_one >= 6 * 32 * k_tile_time(p, 16));
  gemm.packet.header.max_compute_units = 100;
  REQUIRE(bench.run(gemm.packet) - p.launch_latency == on_all);
}

TEST_CASE("as many workgroups as compute units take as long as one, and the next ones share") {
  const ComputeParameters p = ClusterBench::small();
  REQUIRE(p.workgroups_per_cu > 1);
  ClusterBench bench(p, false);
  const auto time_of = [&](std::uint32_t workgroups) {
    return bench.run(GemmCase(p, 32 * workgroups, 32, 512, ElementType::fp16).packet);
  };
  const Picoseconds one = time_of(1);
  REQUIRE(time_of(p.compute_units) == one);
  REQUIRE(time_of(p.compute_units + 1) > one);
}

TEST_CASE("functional and timing-only runs take the same time and do the same accesses") {
  const ComputeParameters p = ClusterBench::small();
  ClusterUnderTest timing(p, false, 1);
  NodeMemory timing_memory("timing_memory", 1, 2, ClusterBench::memory_bytes);
  timing.cluster.memory.bind(*timing_memory.ports[0]);
  ClusterBench bench(p);
  timing.start_queue();
  GemmCase gemm(p, 70, 45, 33, ElementType::fp16);
  bench.gpu().put(bench.memory, gemm.packet);
  for (std::uint64_t t3_gemm_arguments::*operand :
       {&t3_gemm_arguments::a, &t3_gemm_arguments::b, &t3_gemm_arguments::out})
    gemm.packet.*operand = timing.here(gemm.packet.*operand);
  timing.put(timing_memory, gemm.packet);
  bench.gpu().ring();
  timing.ring();
  bench.wait(100'000'000);
  REQUIRE(bench.gpu().completed() == 1);
  REQUIRE(timing.completed() == 1);
  REQUIRE(bench.memory.log.size() == timing_memory.log.size());
  for (std::size_t i = 0; i < timing_memory.log.size(); ++i) {
    REQUIRE(bench.memory.log[i].arrival == timing_memory.log[i].arrival);
    REQUIRE(bench.memory.log[i].operation == timing_memory.log[i].operation);
  }
}

TEST_CASE("a batch is as many products, in matrices that may lie interleaved") {
  ClusterBench bench(ClusterBench::small());
  std::mt19937 random(17);
  for (const std::uint16_t flags : layouts) {
    GemmCase first(bench.parameters, 70, 45, 33, ElementType::fp16, flags);
    // Rows of three matrices side by side, as the heads of an attention layer lie.
    first.packet.a_batch = first.packet.lda, first.packet.lda *= 3;
    first.packet.b_batch = first.packet.ldb, first.packet.ldb *= 3;
    first.packet.out_batch = first.packet.ldo, first.packet.ldo *= 3;
    std::vector<GemmCase> products;
    for (std::uint32_t i = 0; i < 3; ++i) {
      products.push_back(first);
      products[i].packet.a += i * first.packet.a_batch;
      products[i].packet.b += i * first.packet.b_batch;
      products[i].packet.out += i * first.packet.out_batch;
      products[i].fill(bench.memory, random, 1);
    }
    GemmPacket batch = first.packet;
    batch.batches = 3;
    batch.header.workgroups *= 3;
    batch.first_workgroup = 4;
    bench.memory.log.clear();
    bench.run(batch);
    REQUIRE(bench.gpu().error() == Status::ok);
    for (const GemmCase& product : products) REQUIRE(product.result(bench.memory) == product.expected());
    REQUIRE(bench.memory.bytes_of(Operation::load, TrafficClass::gemm_read) == 3 * first.loaded_bytes());
    REQUIRE(bench.memory.bytes_of(Operation::store) == 3u * 70 * 45 * 2);
  }
}

TEST_CASE("a batch of one takes as long as the same product without a batch") {
  ClusterBench bench(ClusterBench::small(), false);
  GemmCase gemm(bench.parameters, 70, 45, 33, ElementType::fp16);
  const Picoseconds alone = bench.run(gemm.packet);
  gemm.packet.batches = 1;
  REQUIRE(bench.run(gemm.packet) == alone);
}

TEST_CASE("a compute unit holds as many more workgroups as tiles are smaller") {
  ComputeParameters p = ClusterBench::small();
  p.compute_units = 1;
  p.workgroups_per_cu = 1;
  ClusterBench bench(p, false);
  bench.memory.latency = 100'000'000;  // beside which everything else is little
  GemmCase gemm(p, 32, 64, 16, ElementType::fp16);
  const Picoseconds one_by_one = bench.run(gemm.packet);
  gemm.packet.tile_rows = 16;
  gemm.packet.header.workgroups = 4;
  // Two at a time: as many turns with half the tile, and with a quarter, one.
  REQUIRE(bench.run(gemm.packet) == Approx(one_by_one).epsilon(0.01));
  gemm.packet.tile_columns = 16;
  gemm.packet.header.workgroups = 8;
  REQUIRE(bench.run(gemm.packet) == Approx(one_by_one).epsilon(0.01));
  gemm.packet.m = 16;
  gemm.packet.header.workgroups = 4;
  REQUIRE(bench.run(gemm.packet) == Approx(3 * one_by_one / 5).epsilon(0.01));  // fetch, load, store of one turn
}

}  // namespace t3vp::test::gemm_test
