#include "run/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "protocol/traffic_classes.h"
#include "workload/embedding.h"
#include "workload/layer.h"
#include "workload/link_bound.h"
#include "workload/tile_choice.h"

namespace t3vp {
namespace {

/// Time that the GPU spent in a phase which spent most, in ns; none if no GPU has finished it.
std::optional<double> longest(const Node& node, const std::string& phase) {
  std::optional<double> result;
  for (const auto& gpu : node.gpus())
    for (const processor::Processor::PhaseTime& time : gpu->processor.phases())
      if (time.phase == phase && time.ended != 0) result = std::max(result.value_or(0), to_ns(time.spent));
  return result;
}

/// The time from the first GPU's begin to the last GPU's end, in ns.
double span_of(const Node& node, const std::string& phase) {
  Picoseconds begin = never, end = 0;
  for (const auto& gpu : node.gpus())
    for (const processor::Processor::PhaseTime& time : gpu->processor.phases())
      if (time.phase == phase && time.ended != 0) {
        begin = std::min(begin, time.first);
        end = std::max(end, time.last);
      }
  return end > begin ? to_ns(end - begin) : 0;
}

/// The parts of the total that programs have marked, in the order in which they first began on any GPU.
std::vector<std::string> phases_of(const Node& node) {
  std::vector<std::pair<Picoseconds, std::string>> begun;
  for (const auto& gpu : node.gpus())
    for (const processor::Processor::PhaseTime& time : gpu->processor.phases())
      if (phases::is_part_of_total(time.phase)) begun.emplace_back(time.first, time.phase);
  std::stable_sort(begun.begin(), begun.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (const auto& [at, name] : begun)
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

/// When each GPU has ended the phase, from its first begin on any of them, in ns.
std::vector<double> ends_of(const Node& node, const std::string& phase) {
  std::vector<Picoseconds> ends;
  Picoseconds begin = never;
  for (const auto& gpu : node.gpus())
    for (const processor::Processor::PhaseTime& time : gpu->processor.phases())
      if (time.phase == phase && time.ended != 0) {
        begin = std::min(begin, time.first);
        ends.push_back(time.last);
      }
  std::vector<double> result;
  for (const Picoseconds end : ends) result.push_back(to_ns(end - begin));
  return result;
}

RunTimes times_of(const RunConfiguration& configuration, const Node& node) {
  RunTimes times;
  times.setup = span_of(node, phases::setup);
  times.zeroing = longest(node, phases::zeroing).value_or(0);
  for (const std::string& phase : phases_of(node))
    if (const auto time = longest(node, phase)) times.phases.emplace_back(phase, *time);
  times.total = is_ideal(configuration.method)
                    ? std::max(times.of(phases::gemm), times.of(phases::reduce_scatter)) + times.of(phases::all_gather)
                    : span_of(node, phases::total);
  if (is_of_kernels(configuration.method)) times.ends = ends_of(node, phases::total);
  return times;
}

/// What the program handed over at its end, outside the measured time, is not among it.
DramBytes dram_bytes_of(const Gpu& gpu) {
  DramBytes bytes = gpu.memory.dram_bytes();
  const cache::LastLevelCache::Flush& flush = gpu.cache.last_flush();
  for (const processor::Processor::PhaseTime& time : gpu.processor.phases())
    for (std::size_t c = 0; time.phase == phases::hand_over && time.begin <= flush.time && c < bytes.size(); ++c)
      bytes[c] -= flush.bytes[c];
  return bytes;
}

/// Tensor data that a GPU's DRAM has moved in a phase.
double tensor_bytes(const TrafficMeter& meter, std::size_t gpu, const std::string& phase) {
  const DramBytes bytes = meter.of(gpu, phase).dram;
  double sum = 0;
  for (const TrafficClass traffic : traffic_classes())
    if (traffic != TrafficClass::setup && traffic != TrafficClass::control)
      sum += static_cast<double>(bytes[index_of(traffic)]);
  return sum;
}

/// Tensor data that a GPU's DRAM had to move within the total time.
double bytes_in_total(const RunConfiguration& configuration, const TrafficMeter& meter, std::size_t gpu) {
  const auto bytes = [&](const char* phase) { return tensor_bytes(meter, gpu, phase); };
  if (!is_ideal(configuration.method)) return bytes(phases::total);
  // An ideal overlap counts the longer of two isolated phases.
  return std::max(bytes(phases::gemm), bytes(phases::reduce_scatter)) + bytes(phases::all_gather);
}

std::vector<std::string> measured_phases(const RunConfiguration& configuration) {
  if (is_ideal(configuration.method)) return {phases::gemm, phases::reduce_scatter, phases::all_gather};
  return {phases::total};
}

std::vector<LinkFigures> links_of(const RunConfiguration& configuration, const Node& node, const TrafficMeter& meter,
                                  double total_ns) {
  std::vector<LinkFigures> list;
  std::vector<std::size_t> seen(node.gpus().size());  // of each GPU's links
  const std::vector<LinkPlacement> placements = fabric_of(configuration).links;
  for (const auto& link : node.links()) {
    LinkFigures figures{link->from(), link->to(), placements[list.size()].parameters.bandwidth_GBps};
    const std::size_t index = seen[link->gpu()]++;
    std::uint64_t stores = 0;
    double waited_ns = 0;
    for (const std::string& phase : measured_phases(configuration)) {
      const interconnect::LinkTraffic traffic = meter.of(link->gpu(), phase).links[index];
      figures.payload_bytes += traffic.payload_bytes;
      figures.wire_bytes += traffic.wire_bytes;
      figures.packets += traffic.packets;
      stores += traffic.stores;
      waited_ns += to_ns(traffic.waited);
      figures.credit_stall_ns += to_ns(traffic.stalled);
    }
    figures.queueing_ns = stores == 0 ? 0 : waited_ns / static_cast<double>(stores);
    figures.utilization = static_cast<double>(figures.wire_bytes) / figures.bandwidth_GBps / total_ns;
    list.push_back(figures);
  }
  return list;
}

double matrix_flops(const RunConfiguration& configuration) {
  const GemmShape& gemm = configuration.workload.gemm;
  if (!configuration.workload.layer) return configuration.phases.gemm ? 2.0 * gemm.m * gemm.n * gemm.k : 0;
  double flops = 0;
  for (const LayerOperation& o : layer_program(*configuration.workload.layer, configuration.system.compute).operations)
    flops += flops_of(o.kernel);
  return flops;
}

double matrix_rate(const compute::ComputeParameters& p) {
  return p.compute_units * p.matrix_flops_per_cycle * p.matrix_efficiency * p.clock_GHz;
}

/// Kernels of a layer run one after the other. Attention's blocks are no tiles of one matrix product.
double quantized_compute_ns(const RunConfiguration& configuration, const compute::ComputeParameters& compute) {
  const GemmShape& gemm = configuration.workload.gemm;
  if (!configuration.workload.layer) {
    if (!configuration.phases.gemm || !configuration.workload.has_gemm()) return 0;
    return to_ns(quantized_compute_time(compute, gemm.tile, gemm.m, gemm.n, gemm.k, 1));
  }
  double ns = 0;
  for (const LayerOperation& operation : layer_program(*configuration.workload.layer, compute).operations) {
    const t3_layer_operation& o = operation.kernel;
    if (o.kernel == T3_LAYER_GEMM)
      ns += to_ns(quantized_compute_time(compute, {o.tiling.rows, o.tiling.columns}, o.out.matrix.rows,
                                         o.out.matrix.columns, depth_of(o), o.batch.matrices));
    else
      ns += flops_of(o) / matrix_rate(compute);
  }
  return ns;
}

/// Every GPU has a vector of results, of which all want the sum.
t3_collective all_reduce_of(const t3_gemv& g) { return {T3_ALL_REDUCE, T3_DIRECT, g.element, g.rows, 0, 0, {}, {}}; }

/// What each GPU sends to each owner of tokens, without what pads rows.
double least_link_ns(const t3_experts& experts, const Fabric& fabric) {
  const auto gpus = static_cast<std::uint32_t>(fabric.gpus.size());
  std::vector<std::uint64_t> chunks;
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu)
    chunks.push_back(std::uint64_t{t3_experts_tokens(&experts, gpu, gpus)} * experts.hidden *
                     t3_element_bytes(experts.element));
  return least_link_ns(T3_ALL_TO_ALL, chunks, fabric);
}

/// What each GPU sends to each owner of samples.
double least_link_ns(const t3_embedding& embedding, const Fabric& fabric) {
  const auto gpus = static_cast<std::uint32_t>(fabric.gpus.size());
  std::vector<std::uint64_t> chunks;
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu)
    chunks.push_back(t3_embedding_samples(&embedding, gpu, gpus) * t3_embedding_sample_bytes(&embedding));
  return least_link_ns(T3_ALL_TO_ALL, chunks, fabric);
}

/// What each GPU sends by its NIC to owners of samples in other nodes, and receives from there.
double least_wire_ns(const RunConfiguration& configuration) {
  const t3_embedding& e = *configuration.workload.embedding;
  const std::uint32_t gpus = configuration.gpus, node = e.gpus_per_node;
  std::uint64_t most = 0;  // samples that cross an end of the wire in one direction
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
    std::uint64_t sent = 0;
    for (std::uint32_t owner = 0; owner < gpus; ++owner)
      sent += owner / node == gpu / node ? 0 : t3_embedding_samples(&e, owner, gpus);
    most = std::max({most, sent, std::uint64_t{gpus - node} * t3_embedding_samples(&e, gpu, gpus)});
  }
  return static_cast<double>(most * t3_embedding_sample_bytes(&e)) / configuration.system.wire.GBps;
}

/// The sums that each GPU has in the end.
std::vector<std::uint64_t> owned_bytes(const RunConfiguration& configuration) {
  const Workload& workload = configuration.workload;
  const std::vector<std::uint64_t> chunks = chunk_elements(output_grid(configuration), configuration.gpus);
  std::vector<std::uint64_t> owned;
  for (std::uint32_t gpu = 0; gpu < configuration.gpus; ++gpu)
    owned.push_back(chunks[chunk_of(configuration, gpu)] * bytes_of(workload.gemm.element));
  return owned;
}

/// Of a reduce-scatter by NICs: one addend at least of each sum of a node has to come in by its NICs, and one of each
/// sum of the others to go out.
double least_wire_ns(const std::vector<std::uint64_t>& owned, const RunConfiguration& configuration) {
  const std::uint32_t node = configuration.workload.gpus_per_node;
  const std::uint64_t all = std::accumulate(owned.begin(), owned.end(), std::uint64_t{0});
  std::uint64_t most = 0;
  for (auto first = owned.begin(); first != owned.end(); first += node) {
    const std::uint64_t inside = std::accumulate(first, first + node, std::uint64_t{0});
    most = std::max({most, inside, all - inside});
  }
  return static_cast<double>(most) / node / configuration.system.wire.GBps;
}

/// What links need for the collective that the workload is, or that is fused with its GEMM: one that ends with an
/// all-gather is an all-reduce.
double least_link_ns(const RunConfiguration& configuration) {
  const Workload& workload = configuration.workload;
  if (workload.collective) return least_link_ns(*workload.collective, whole_fabric_of(configuration));
  if (const auto& e = workload.experts) return least_link_ns(*e, whole_fabric_of(configuration));
  if (const auto& g = workload.gemv) return least_link_ns(all_reduce_of(*g), whole_fabric_of(configuration));
  if (workload.dlrm) return 2 * least_link_ns(*workload.embedding, whole_fabric_of(configuration));  // there and back
  if (const auto& e = workload.embedding)
    return e->gpus_per_node != 0 ? least_wire_ns(configuration) : least_link_ns(*e, whole_fabric_of(configuration));
  if (workload.by_nic) return least_wire_ns(owned_bytes(configuration), configuration);
  if (workload.fused == T3_FUSED_RING_REDUCE_SCATTER) return 0;  // one way alone, whose links have carried more
  const std::vector<std::uint64_t> chunks = owned_bytes(configuration);
  if (workload.fused == T3_FUSED_HIERARCHICAL_REDUCE_SCATTER)
    return least_link_ns(T3_REDUCE_SCATTER, chunks, fabric_of(configuration));
  const t3_collective_op op = workload.fused == T3_FUSED_ALL_TO_ALL ? T3_ALL_TO_ALL : T3_ALL_REDUCE;
  return least_link_ns(op, chunks, whole_fabric_of(configuration));
}

/// Rows that are added on the vector lanes, and what has to be read for it, whatever the run has read. Additions know
/// no tiles, so that nothing is quantized.
void raise_by_pooling(const PoolingNeed& need, const GpuParameters& gpu, Bounds& bounds) {
  const compute::ComputeParameters& p = gpu.compute;
  const double rate = p.compute_units * p.vector_elements_per_cycle * p.clock_GHz;
  bounds.compute_ns = std::max(bounds.compute_ns, static_cast<double>(need.additions) / rate);
  bounds.compute_quantized_ns = bounds.compute_ns;
  bounds.dram_ns = std::max(bounds.dram_ns, static_cast<double>(need.read_bytes) / peak_GBps(gpu.memory));
}

/// Each layer's product, and those for the gradients of its weights and of its input.
void raise_by_perceptrons(const t3_dlrm& d, std::uint32_t samples, const GpuParameters& gpu, Bounds& bounds) {
  const double flops = 3.0 * 2 * samples * d.width * d.width * t3_dlrm_layers(&d);
  bounds.compute_ns = std::max(bounds.compute_ns, flops / matrix_rate(gpu.compute));
  bounds.compute_quantized_ns = std::max(bounds.compute_quantized_ns, bounds.compute_ns);
}

/// Each element of a matrix is read, whatever the run has read, and multiplied on the vector lanes.
void raise_by_gemv(const t3_gemv& g, const GpuParameters& gpu, Bounds& bounds) {
  const compute::ComputeParameters& p = gpu.compute;
  const double rate = p.compute_units * p.vector_elements_per_cycle * p.clock_GHz;
  bounds.compute_ns = std::max(bounds.compute_ns, double{1} * g.rows * g.columns / rate);
  bounds.compute_quantized_ns = bounds.compute_ns;
  bounds.dram_ns = std::max(bounds.dram_ns, static_cast<double>(t3_gemv_matrix_bytes(&g)) / peak_GBps(gpu.memory));
}

Bounds bounds_of(const RunConfiguration& configuration, const Node& node, const TrafficMeter& meter,
                 const RunResult& result) {
  const SystemConfiguration& system = configuration.system;
  Bounds bounds;
  for (const LinkFigures& link : result.links)
    bounds.link_ns = std::max(bounds.link_ns, static_cast<double>(link.wire_bytes) / link.bandwidth_GBps);
  bounds.link_ns = std::max(bounds.link_ns, least_link_ns(configuration));
  const double flops = matrix_flops(configuration);
  for (std::size_t g = 0; g < node.gpus().size(); ++g) {
    const GpuParameters& gpu = parameters_of(system, node.gpus()[g]->processor.gpu());
    bounds.compute_ns = std::max(bounds.compute_ns, flops / matrix_rate(gpu.compute));
    bounds.compute_quantized_ns =
        std::max(bounds.compute_quantized_ns, quantized_compute_ns(configuration, gpu.compute));
    bounds.dram_ns = std::max(bounds.dram_ns, bytes_in_total(configuration, meter, g) / peak_GBps(gpu.memory));
    if (configuration.workload.embedding)
      raise_by_pooling(pooling_need(*configuration.workload.embedding, static_cast<std::uint32_t>(g)), gpu, bounds);
    if (const auto& dlrm = configuration.workload.dlrm) {
      const auto number = static_cast<std::uint32_t>(g);
      raise_by_perceptrons(*dlrm, t3_embedding_samples(&*configuration.workload.embedding, number, configuration.gpus),
                           gpu, bounds);
    }
    if (const auto& gemv = configuration.workload.gemv) raise_by_gemv(*gemv, gpu, bounds);
  }
  return bounds;
}

}  // namespace

void gather_figures(const RunConfiguration& configuration, const Node& node, const TrafficMeter& meter,
                    RunResult& result) {
  result.time_ns = times_of(configuration, node);
  for (const auto& gpu : node.gpus()) {
    result.dram_bytes.push_back(dram_bytes_of(*gpu));
    result.host.dram_accesses += gpu->memory.dram_accesses();
    TrackerFigures& figures = result.tracker;
    gpu->memory.tracker.visit_statistics(
        [&](const std::string& name, const std::string&, const std::string&, double value) {
          const auto raise = [value](std::uint64_t& figure) {
            figure = std::max(figure, static_cast<std::uint64_t>(value));
          };
          if (name == "triggers") raise(figures.triggers);
          if (name == "peak_entries") raise(figures.peak_entries);
          if (name == "spills") raise(figures.spills);
        });
    figures.size_bytes = gpu->memory.tracker.size_bytes();
    gpu->visit_statistics([&](const std::string& name, const std::string& unit, const std::string& text, double value) {
      result.statistics.push_back({fmt::format("gpu{}.{}", gpu->processor.gpu(), name), unit, text, value});
    });
  }
  // A run that broke off has no total.
  const double total = result.time_ns.total > 0 ? result.time_ns.total : std::max(to_ns(now()), 1.0);
  result.links = links_of(configuration, node, meter, total);
  result.bounds = bounds_of(configuration, node, meter, result);
}

}  // namespace t3vp
