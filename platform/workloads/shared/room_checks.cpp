#include "workloads/shared/room_checks.h"

#include <fmt/format.h>

namespace t3vp {

void require_room(const Document& run, const RunSettings& settings, const std::vector<Buffer>& buffers,
                  const char* what) {
  if (settings.built_in_program.empty()) return;
  const std::uint64_t bytes = heap_bytes(buffers);
  if (bytes > settings.system.memory.capacity_bytes)
    run.reject("/workload", fmt::format("{} of {} B", what, bytes),
               fmt::format("at most the {} B of a GPU's memory", settings.system.memory.capacity_bytes));
}

std::uint32_t required_gpus(const Document& run, const char* whose) {
  if (!run.content.contains("gpus")) run.reject("/gpus", fmt::format("an integer from 2 to 256, {}", whose));
  const auto gpus = run.content.at("gpus").get<std::uint32_t>();
  if (gpus < 2) run.reject("/gpus", "an integer from 2 to 256");
  return gpus;
}

void require_exact_operands(const Document& run, const char* why) {
  if (run.content.value("operands", "exact") != "exact")
    run.reject("/operands", fmt::format("exact, or nothing: {}", why));
}

void check_mirrored_data(const Document& run, const RunSettings& settings) {
  if (settings.functional) run.reject("/simulate", "all, or data timing-only: a mirror has no neighbours' data");
}

void check_mirrored_torus(const Document& run, const RunSettings& settings, std::uint64_t parts, const char* what) {
  check_mirrored_data(run, settings);
  if (!settings.system.topology.channels_by_distance)
    run.reject("/simulate",
               "all, or system.links.topology a torus with channels by-distance: any other mirror stands for the ring "
               "of a GEMM");
  if (parts % settings.gpus != 0)
    run.reject("/simulate", fmt::format("all, or {} that {} GPUs share equally, not {}", what, settings.gpus, parts));
}

void check_collective_registers(const Document& system, const RunSettings& settings) {
  const std::uint32_t registers = settings.system.compute.register_bytes;
  const t3_ring_parameters& ring = settings.system.kernels.ring;
  const std::uint64_t taken = t3_collective_registers(ring.block_bytes, ring.blocks_in_flight);
  if (taken * ring.workgroups_per_cu > registers && taken <= registers)
    system.reject("/kernels/ring/workgroups_per_cu",
                  fmt::format("{} workgroups of a collective, of which each takes {} bytes of registers",
                              ring.workgroups_per_cu, taken),
                  fmt::format("at most {}", registers / taken));
  if (taken > registers)
    system.reject(
        "/kernels/ring/block_bytes",
        fmt::format("blocks of which a workgroup of a collective takes {} bytes of registers, of {}", taken, registers),
        fmt::format("at most {} bytes for {} blocks in flight",
                    registers / t3_collective_registers(1, ring.blocks_in_flight), ring.blocks_in_flight));
}

void reject_separate_gpus(const Document& system, const RunSettings& settings, const char* who, const char* otherwise) {
  system.reject("/links/topology/between", "nothing",
                fmt::format("the links between nodes, over which the {} GPUs of a {} send to each other{}",
                            settings.gpus, who, otherwise));
}

std::uint32_t gpus_of_separate_node(const RunSettings& settings) {
  const Topology& topology = settings.system.topology;
  const bool apart = topology.kind == Topology::Kind::nodes && topology.between() == nullptr;
  return apart && topology.gpus_per_node < settings.gpus ? topology.gpus_per_node : 0;
}

double matrix_rate(const compute::ComputeParameters& p) {
  return p.compute_units * p.matrix_flops_per_cycle * p.matrix_efficiency * p.clock_GHz;
}

double vector_rate(const compute::ComputeParameters& p) {
  return p.compute_units * p.vector_elements_per_cycle * p.clock_GHz;
}

double load_latency_ns(const cache::CacheParameters& cache, const memory::MemoryParameters& memory) {
  const dram::Timing& t = memory.dram.timing;
  return to_ns(cache.latency) + to_ns(memory.path_latency) + (t.RCDRD + t.CL + t.BURST) / memory.dram.clock_GHz;
}

double dram_rate(const GpuParameters& gpu) { return peak_GBps(gpu.memory); }

}  // namespace t3vp
