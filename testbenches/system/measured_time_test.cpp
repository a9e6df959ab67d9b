// What is measured when GPUs begin and end at different times, and hardware that is faster than its parameters.
#include <catch2/catch.hpp>
#include <numeric>

#include "guests/native_hal.h"
#include "kernels/kernels.h"
#include "protocol/address_map.h"
#include "registers/signals.h"
#include "run/figures.h"
#include "run/node_parameters.h"
#include "system/platform_run.h"
#include "t3/programs.h"
#include "t3/workloads/gemm.h"
#include "workloads/gemm_arguments.h"

namespace t3vp::test::measured_time_test {

namespace {

RunConfiguration small_ring(std::uint32_t gpus, const Settings& more = {}) {
  return configuration_of(Settings{on_small_system(), "gpus=" + std::to_string(gpus), "method=t3", "data=timing-only"} +
                          gemm(256, 256, 256) + more);
}

/// What figures say of `hardware` when they take it for `configuration`.
RunResult measured(const RunConfiguration& configuration, const RunConfiguration& hardware,
                   const processor::CommandProcessor::Program& program) {
  Node node("node", node_parameters(hardware), t3_kernels, nullptr);
  const TrafficMeter meter(node);
  for (const auto& gpu : node.gpus()) gpu->native().run(program);
  sc_core::sc_start();
  RunResult result;
  gather_figures(configuration, node, meter, result);
  return result;
}

/// A posted write to the previous GPU's signals: eight bytes on each link of the way.
void send_packet(processor::CommandProcessor& processor, std::uint32_t gpus) {
  const std::uint64_t peer = (processor.gpu() + gpus - 1) % gpus;
  const std::uint64_t signals = address_map::block_base(address_map::Block::signals);
  REQUIRE(processor.write64(address_map::on_gpu(peer, signals + registers::Signals::add_offset), 1) == Status::ok);
}

processor::CommandProcessor::Program fused(const RunConfiguration& configuration) {
  const compute::ComputeParameters& compute = configuration.system.compute;
  t3_gemm_workload w{};
  w.m = w.n = w.k = 256;
  w.element = T3_FP16;
  w.tile_rows = compute.tile_rows;
  w.tile_columns = compute.tile_columns;
  w.wavefronts = compute.wavefronts;
  w.updates = 2;
  w.block_tiles = 1;
  w.zero_output = true;
  ProgramRun run;
  run.workload = packed(w);
  return native_program(t3_run_fused, run);
}

/// Runs the hardware of small-4 and takes it for one with `setting`, which is slower.
void require_beaten(const char* setting, const std::vector<std::string>& bounds) {
  const RunConfiguration hardware = small_ring(2), configuration = small_ring(2, {setting});
  const RunResult result = measured(configuration, hardware, fused(hardware));
  const std::vector<std::string> reasons = failures(result);
  REQUIRE(reasons.size() == bounds.size());
  for (std::size_t i = 0; i < bounds.size(); ++i)
    REQUIRE_THAT(reasons[i], Catch::Contains("beats the " + bounds[i] + " bound"));
}

}  // namespace

TEST_CASE("the total is from the first GPU's begin to the last GPU's end, a phase the longest of a GPU") {
  const RunConfiguration configuration = small_ring(3);
  const RunResult result = measured(configuration, configuration, [](processor::CommandProcessor& processor) {
    const std::uint64_t begin[] = {100, 300, 200}, end[] = {1100, 900, 1500};
    const std::uint16_t gpu = processor.gpu();
    processor.wait_ns(begin[gpu]);
    processor.begin("total");
    processor.begin("gemm");
    processor.wait_ns(end[gpu] - begin[gpu]);
    processor.end("gemm");
    processor.end("total");
    return Status::ok;
  });
  REQUIRE(result.time_ns.total == 1400);
  REQUIRE(result.time_ns.phases == std::vector<std::pair<std::string, double>>{{"gemm", 1300.0}});
}

TEST_CASE("a link's figures are the packets that begin and end within the total, whichever GPU sends them") {
  // 8 us for a packet. GPU 0 begins at 20 us and ends at 100 us, GPU 1 begins at 40 us and ends at 60 us.
  const RunConfiguration configuration = small_ring(2, {"system.links.bandwidth_GBps=0.001"});
  const RunResult result = measured(configuration, configuration, [](processor::CommandProcessor& processor) {
    const bool first = processor.gpu() == 0;
    const auto until = [&](std::uint64_t ns) { processor.wait_ns(ns - now() / 1000); };
    until(5'000);
    send_packet(processor, 2);  // before the total
    until(15'000);
    if (first) send_packet(processor, 2);  // in flight as it begins
    until(first ? 20'000 : 40'000);
    if (!first) {
      until(41'000);
      send_packet(processor, 2);  // on GPU 1's link within both GPUs' times
    }
    processor.begin("total");
    until(first ? 50'000 : 60'000);
    if (first) send_packet(processor, 2);
    if (!first) processor.end("total");
    until(70'000);
    send_packet(processor, 2);  // after GPU 1's end, before the last one's
    until(95'000);
    if (first) send_packet(processor, 2);  // still in flight as it ends
    until(100'000);
    if (first) processor.end("total");
    until(150'000);
    send_packet(processor, 2);  // after it
    return Status::ok;
  });
  REQUIRE(result.time_ns.total == Approx(80'000).margin(200));
  REQUIRE(result.links.size() == 2);
  CHECK(result.links[0].packets == 2);
  CHECK(result.links[1].packets == 2);
  for (const LinkFigures& link : result.links) {
    CHECK(link.wire_bytes == 16);
    CHECK(link.payload_bytes == 0);
    CHECK(link.utilization == 16 / 0.001 / result.time_ns.total);
  }
  CHECK(result.bounds.link_ns == 16'000);
}

TEST_CASE("what a link forwards for others counts in their phase when its own GPU has ended") {
  const RunConfiguration configuration =
      small_ring(4, {R"(system.links.topology={"kind": "torus", "dimensions": [2, 2]})"});
  Node node("node", node_parameters(configuration), t3_kernels, nullptr);
  const TrafficMeter meter(node);
  for (const auto& gpu : node.gpus())
    gpu->native().run([](processor::CommandProcessor& processor) {
      processor.begin("gemm");
      if (processor.gpu() == 2) {
        processor.wait_ns(20'000);
        send_packet(processor, 4);  // to GPU 1, which is no neighbour
        processor.wait_ns(20'000);
      }
      processor.end("gemm");
      return Status::ok;
    });
  sc_core::sc_start();
  std::vector<std::uint16_t> senders;
  const TrafficMeter::Links links = meter.links("gemm");
  for (std::size_t l = 0; l < links.size(); ++l)
    for (std::uint64_t packet = 0; packet < links[l].packets; ++packet)
      senders.push_back(node.links()[l]->from().number);
  REQUIRE(senders.size() == 2);
  CHECK(std::count(senders.begin(), senders.end(), 2) == 1);
}

TEST_CASE("what DRAM has moved in a phase leaves out the accesses that wait in its queues as the phase ends") {
  const RunConfiguration configuration = small_ring(2, {"memory.clock_GHz=0.05"});
  Node node("node", node_parameters(configuration), t3_kernels, nullptr);
  const TrafficMeter meter(node);
  for (const auto& gpu : node.gpus()) gpu->native().run(fused(configuration));
  const memory::MemoryController& memory = node.gpus()[0]->memory;
  struct {
    std::uint64_t entered, moved;
  } begin{}, end{};
  node.gpus()[0]->processor.on_phase([&](const std::string& phase, bool begins) {
    if (phase != "gemm") return;
    const DramBytes entered = memory.dram_bytes();
    (begins ? begin : end) = {std::accumulate(entered.begin(), entered.end(), std::uint64_t{0}),
                              memory.dram_accesses() * configuration.system.memory.dram.geometry.access_bytes};
  });
  sc_core::sc_start();
  const DramBytes bytes = meter.dram(0, "gemm");
  REQUIRE(end.entered > end.moved);
  REQUIRE(std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}) == end.moved - begin.entered);
}

// One simulation in a process, so a test case each.
TEST_CASE("compute units that are faster than their parameters beat the compute bound, and the run fails") {
  require_beaten("system.compute.matrix_efficiency=0.01", {"compute", "quantized compute"});
}

TEST_CASE("links that are faster than their parameters beat the link bound, and the run fails") {
  require_beaten("system.links.bandwidth_GBps=0.1", {"link"});
}

TEST_CASE("memory that is faster than its parameters beats the DRAM bound, and the run fails") {
  require_beaten("memory.clock_GHz=0.01", {"dram"});
}

}  // namespace t3vp::test::measured_time_test
