// The statistics of the compute units, in their units.
#include <map>

#include "data_path/register_values.h"
#include "gemm_case.h"

namespace t3vp::test::statistics_test {

using namespace compute;

namespace {

struct Statistic {
  std::string unit;
  double value = 0;
};

std::map<std::string, Statistic> statistics_of(const ComputeCluster& cluster) {
  std::map<std::string, Statistic> all;
  cluster.visit_statistics([&](const std::string& name, const std::string& unit, auto&, double value) {
    all[name] = {unit, value};
  });
  return all;
}

}  // namespace

// A GEMM of 96 x 32 x 16 in tiles of 32 x 32 has 3 workgroups of one slab of 16. A slab is 2 x 32 x 32 x 16 = 32768
// floating-point operations, at 1024 x 0.75 a cycle of 1 / 1.4 ns: 42.667 cycles, 30.476 ns. The three compute units
// work side by side, and each of the two kernels takes 3 x 30.476 ns of their time.
TEST_CASE("busy is the computing time of all compute units in nanoseconds") {
  constexpr double k_tile_ns = 30.476;
  ClusterBench bench(ClusterBench::small(), false);
  REQUIRE(bench.parameters.clock_GHz == 1.4);
  REQUIRE(bench.parameters.matrix_flops_per_cycle == 1024);
  REQUIRE(bench.parameters.matrix_efficiency == 0.75);
  const GemmPacket packet = GemmCase(bench.parameters, 96, 32, 16, ElementType::fp16).packet;
  for (unsigned kernels = 1; kernels <= 2; ++kernels) {
    const Picoseconds time = bench.run(packet);
    auto all = statistics_of(bench.gpu().cluster);
    CHECK(all.at("busy").unit == "ns");
    CHECK(all.at("busy").value == Approx(kernels * 3 * k_tile_ns).epsilon(1e-9));
    CHECK(all.at("busy").value <= kernels * bench.parameters.compute_units * to_ns(time));
    CHECK(all.at("workgroups").unit == "workgroups");
    CHECK(all.at("workgroups").value == kernels * 3);
  }
}

TEST_CASE("after a reset every register of the kernel queues is that of a new GPU") {
  ClusterBench bench(ClusterBench::small(), false);
  ClusterUnderTest& gpu = bench.gpu();
  const auto registers_of = [&] { return register_values(gpu.cluster.registers.description(), gpu.registers); };
  gpu.cluster.registers.reset();
  const auto fresh = registers_of();
  gpu.start_queue();
  GemmPacket packet = GemmCase(bench.parameters, 96, 32, 16, ElementType::fp16).packet, refused = packet;
  refused.k = 0;
  gpu.registers.set("priority", 1, 1);
  for (const GemmPacket& next : {packet, refused, packet}) bench.run(next);
  const auto driven = registers_of();
  for (const char* name : {"base 0", "entries 0", "completed 0", "status 0", "interrupt 0", "failed_packet 0",
                           "completion 1", "completion 2", "refused 0"}) {
    CAPTURE(name);
    CHECK(driven.at(name) != fresh.at(name));
  }
  gpu.cluster.registers.reset();
  bench.wait(1'000'000);
  for (const auto& [name, value] : registers_of()) {
    CAPTURE(name);
    CHECK(value == fresh.at(name));
  }
  CHECK_FALSE(gpu.interrupt.read());
  CHECK_FALSE(gpu.kernel_active.read());
}

}  // namespace t3vp::test::statistics_test
