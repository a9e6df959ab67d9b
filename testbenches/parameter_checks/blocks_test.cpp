#include <catch2/catch.hpp>

#include "cache/cache_ranges.h"
#include "compute/compute_ranges.h"
#include "dma/dma_ranges.h"
#include "dram/channel.h"
#include "dram/command_bus_ranges.h"
#include "dram/dram_ranges.h"
#include "dram/geometry_ranges.h"
#include "dram/timing_ranges.h"
#include "guests/native_hal.h"
#include "interconnect/link.h"
#include "interconnect/links_ranges.h"
#include "kernels/kernels.h"
#include "memory/memory_ranges.h"
#include "memory/tracker_ranges.h"
#include "nic/nic_ranges.h"
#include "nic/wire_ranges.h"
#include "node/node.h"
#include "output_map/output_map_ranges.h"
#include "parameter_checks/every_value.h"
#include "parameter_checks/gpu_work.h"
#include "processor/core_ranges.h"
#include "processor/processor_ranges.h"
#include "registers/kernel_parameter_ranges.h"
#include "system/topology.h"

namespace t3vp {
namespace {

/// Two GPUs with NICs, which compute and communicate for a while. Returns how many of their programs have ended well.
unsigned simulate(const std::function<void(NodeParameters&)>& change) {
  GpuParameters gpu;
  gpu.memory.channels = 4;
  gpu.memory.capacity_bytes = std::uint64_t{64} << 20;
  gpu.compute.compute_units = 4;
  gpu.nic.emplace();
  NodeParameters node;
  node.gpus = {gpu, gpu};
  change(node);
  node.fabric = lay_out({node.gpus[0].links, {}}, 2);
  Node built("node", node, t3_kernels, nullptr);
  unsigned well = 0;
  const processor::CommandProcessor::Program program = native_program(gpu_work, ProgramRun{});
  for (const auto& one : built.gpus())
    if (!node.gpus[0].processor.on_core)
      one->native().run([&](processor::CommandProcessor& processor) {
        const Status status = program(processor);
        if (status == Status::ok) ++well;
        return status;
      });
  sc_core::sc_start(2, sc_core::SC_MS);
  return well;
}

template <typename P, typename Set>
std::function<void(const P&)> in_gpus(Set set) {
  return [set](const P& parameters) {
    simulate([&](NodeParameters& node) {
      for (GpuParameters& gpu : node.gpus) set(gpu, parameters);
    });
  };
}

/// Assigns a base of the structure.
template <typename Base, typename Whole>
void assign(Whole& whole, const Base& base) {
  static_cast<Base&>(whole) = base;
}

}  // namespace

TEST_CASE("GPUs work with the parameters that they are given here") {
  const ChildEnd end = run_in_child([] {
    if (simulate([](NodeParameters&) {}) != 2) throw std::runtime_error("not all programs have ended well");
  });
  INFO(end.text);
  CHECK(end.right());
}

TEST_CASE("each value of each parameter of the cache is refused or works") {
  using P = cache::CacheParameters;
  try_every_value<P>("cache/cache.parameters.json", in_gpus<P>([](GpuParameters& gpu, const P& p) { gpu.cache = p; }));
}

TEST_CASE("each value of each parameter of the compute units is refused or works") {
  using P = compute::ComputeFileParameters;
  try_every_value<P>("compute/compute.parameters.json",
                     in_gpus<P>([](GpuParameters& gpu, const P& p) { assign(gpu.compute, p); }));
}

TEST_CASE("each value of each parameter of the kernels is refused or works") {
  using P = t3_kernel_parameters;
  try_every_value<P>("kernels", in_gpus<P>([](GpuParameters& gpu, const P& p) { gpu.kernels = p; }));
}

TEST_CASE("each value of each parameter of the DMA engine is refused or works") {
  using P = dma::DmaParameters;
  try_every_value<P>("dma/dma.parameters.json", in_gpus<P>([](GpuParameters& gpu, const P& p) { gpu.dma = p; }));
}

TEST_CASE("each value of each parameter of the output map is refused or works") {
  using P = output_map::OutputMapParameters;
  try_every_value<P>("output_map/output_map.parameters.json",
                     in_gpus<P>([](GpuParameters& gpu, const P& p) { gpu.output_map = p; }));
}

TEST_CASE("each value of each parameter of the memory controller is refused or works") {
  using P = memory::MemoryFileParameters;
  try_every_value<P>("memory/memory.parameters.json",
                     in_gpus<P>([](GpuParameters& gpu, const P& p) { assign(gpu.memory, p); }));
}

TEST_CASE("each value of each parameter of the Tracker is refused or works") {
  using P = memory::TrackerParameters;
  try_every_value<P>("memory/tracker.parameters.json",
                     in_gpus<P>([](GpuParameters& gpu, const P& p) { gpu.tracker = p; }));
}

TEST_CASE("each value of each parameter of the DRAM is refused or works") {
  using Dram = dram::DramParameters;
  try_every_value<Dram>("dram/dram.parameters.json",
                        in_gpus<Dram>([](GpuParameters& gpu, const Dram& p) { assign(gpu.memory.dram, p); }));
  using Bus = dram::CommandBusParameters;
  try_every_value<Bus>("dram/command_bus.parameters.json",
                       in_gpus<Bus>([](GpuParameters& gpu, const Bus& p) { assign(gpu.memory.dram, p); }));
  using Geometry = dram::Geometry;
  try_every_value<Geometry>(
      "dram/geometry.parameters.json",
      in_gpus<Geometry>([](GpuParameters& gpu, const Geometry& p) { gpu.memory.dram.geometry = p; }));
  using Timing = dram::Timing;
  try_every_value<Timing>("dram/timing.parameters.json",
                          in_gpus<Timing>([](GpuParameters& gpu, const Timing& p) { gpu.memory.dram.timing = p; }));
}

TEST_CASE("each value of each parameter of a DRAM channel alone is refused or works") {
  const auto with = [](const auto& set) {
    dram::MemorySpec spec;
    set(spec);
    dram::Channel channel(spec);
  };
  try_every_value<dram::Geometry>("dram/geometry.parameters.json", [&](const dram::Geometry& p) {
    with([&](dram::MemorySpec& spec) { spec.geometry = p; });
  });
  try_every_value<dram::Timing>("dram/timing.parameters.json", [&](const dram::Timing& p) {
    with([&](dram::MemorySpec& spec) { spec.timing = p, spec.refresh = true; });
  });
}

TEST_CASE("each value of each parameter of the links is refused or works") {
  using P = interconnect::LinkFileParameters;
  try_every_value<P>("interconnect/links.parameters.json",
                     in_gpus<P>([](GpuParameters& gpu, const P& p) { assign(gpu.links, p); }));
  try_every_value<P>("interconnect/links.parameters.json", [](const P& p) {
    interconnect::LinkParameters parameters;
    assign(parameters, p);
    interconnect::Link link("link", parameters, 0, 1, nullptr);
  });
}

TEST_CASE("each value of each parameter of NIC and wire is refused or works") {
  using P = nic::NicFileParameters;
  try_every_value<P>("nic/nic.parameters.json",
                     in_gpus<P>([](GpuParameters& gpu, const P& p) { assign(*gpu.nic, p); }));
  using Wire = nic::WireFileParameters;
  try_every_value<Wire>("nic/wire.parameters.json",
                        [](const Wire& p) { simulate([&](NodeParameters& node) { assign(node.wire, p); }); });
}

TEST_CASE("each value of each parameter of the processor is refused or works") {
  using P = processor::ProcessorFileParameters;
  try_every_value<P>("processor/processor.parameters.json",
                     in_gpus<P>([](GpuParameters& gpu, const P& p) { assign(gpu.processor, p); }));
  using Core = processor::CoreFileParameters;
  try_every_value<Core>("processor/core.parameters.json", in_gpus<Core>([](GpuParameters& gpu, const Core& p) {
                          assign(gpu.processor.core, p);
                          gpu.processor.on_core = true;
                        }));
}

}  // namespace t3vp
