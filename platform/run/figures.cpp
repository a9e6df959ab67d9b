#include "run/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "protocol/traffic_classes.h"
#include "report/statistic_names.h"

namespace t3vp {
namespace {

using PhaseTime = PhaseTable::PhaseTime;

/// Time that the GPU spent in a phase which spent most, in ns; none if no GPU has finished it.
std::optional<double> longest(const PhaseTable& table, const std::string& phase) {
  std::optional<double> result;
  for (const PhaseTime* time : table.finished(phase)) result = std::max(result.value_or(0), to_ns(time->spent));
  return result;
}

std::array<double, part_count> in_ns(const TimeParts& parts) {
  std::array<double, part_count> ns{};
  std::transform(parts.begin(), parts.end(), ns.begin(), to_ns);
  return ns;
}

/// The parts of longest().
BoundingParts parts_of_longest(const PhaseTable& table, const std::string& phase) {
  const PhaseTime* longest = nullptr;
  for (const PhaseTime* time : table.finished(phase))
    if (longest == nullptr || time->spent > longest->spent) longest = time;
  return {phase, longest == nullptr ? std::array<double, part_count>{} : in_ns(longest->parts)};
}

/// The time from the first GPU's begin to the last GPU's end, in ns.
double span_of(const PhaseTable& table, const std::string& phase) {
  Picoseconds begin = never, end = 0;
  for (const PhaseTime* time : table.finished(phase)) {
    begin = std::min(begin, time->first);
    end = std::max(end, time->last);
  }
  return end > begin ? to_ns(end - begin) : 0;
}

/// The parts of the total that programs have marked, in the order in which they first began on any GPU.
std::vector<std::string> phases_of(const PhaseTable& table) {
  std::vector<std::pair<Picoseconds, std::string>> begun;
  for (std::size_t gpu = 0; gpu < table.gpus(); ++gpu)
    for (const PhaseTime& time : table.of(gpu))
      if (phases::is_part_of_total(time.phase)) begun.emplace_back(time.first, time.phase);
  std::stable_sort(begun.begin(), begun.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (const auto& [at, name] : begun)
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

/// Returns the end of the phase on each GPU, from its first begin on any of them, in ns.
std::vector<double> ends_of(const PhaseTable& table, const std::string& phase) {
  const std::vector<const PhaseTime*> times = table.finished(phase);
  Picoseconds begin = never;
  for (const PhaseTime* time : times) begin = std::min(begin, time->first);
  std::vector<double> result;
  for (const PhaseTime* time : times) result.push_back(to_ns(time->last - begin));
  return result;
}

RunTimes times_of(const RunConfiguration& configuration, const PhaseTable& table) {
  RunTimes times;
  times.setup = span_of(table, phases::setup);
  times.zeroing = longest(table, phases::zeroing).value_or(0);
  for (const std::string& phase : phases_of(table))
    if (const auto time = longest(table, phase)) times.phases.emplace_back(phase, *time);
  times.total = configuration.workload->runs_apart(configuration.method)
                    ? std::max(times.of(phases::gemm), times.of(phases::reduce_scatter)) + times.of(phases::all_gather)
                    : span_of(table, phases::total);
  if (configuration.workload->reports_ends()) times.ends = ends_of(table, phases::total);
  return times;
}

/// The total of isolated phases has their parts.
BoundingParts parts_of_total(const RunConfiguration& configuration, const PhaseTable& table, const RunTimes& times) {
  if (!configuration.workload->runs_apart(configuration.method)) return {phases::total, in_ns(table.parts_of_total())};
  const bool gemm_is_longer = times.of(phases::gemm) >= times.of(phases::reduce_scatter);
  BoundingParts total = parts_of_longest(table, gemm_is_longer ? phases::gemm : phases::reduce_scatter);
  const BoundingParts gather = parts_of_longest(table, phases::all_gather);
  for (std::size_t part = 0; part < part_count; ++part) total.ns[part] += gather.ns[part];
  total.phase = phases::total;
  return total;
}

std::vector<BoundingParts> bounded_by(const RunConfiguration& configuration, const PhaseTable& table,
                                      const RunTimes& times) {
  std::vector<BoundingParts> all{parts_of_total(configuration, table, times)};
  for (const auto& [phase, ns] : times.phases) all.push_back(parts_of_longest(table, phase));
  return all;
}

/// Returns the traffic without that of the program's end, outside the measured time.
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
  const DramBytes bytes = meter.dram(gpu, phase);
  double sum = 0;
  for (const TrafficClass traffic : traffic_classes())
    if (traffic != TrafficClass::setup && traffic != TrafficClass::control)
      sum += static_cast<double>(bytes[index_of(traffic)]);
  return sum;
}

/// Tensor data that a GPU's DRAM had to move within the total time.
double bytes_in_total(const RunConfiguration& configuration, const TrafficMeter& meter, std::size_t gpu) {
  const auto bytes = [&](const char* phase) { return tensor_bytes(meter, gpu, phase); };
  if (!configuration.workload->runs_apart(configuration.method)) return bytes(phases::total);
  // An ideal overlap counts the longer of two isolated phases.
  return std::max(bytes(phases::gemm), bytes(phases::reduce_scatter)) + bytes(phases::all_gather);
}

std::vector<std::string> measured_phases(const RunConfiguration& configuration) {
  if (configuration.workload->runs_apart(configuration.method))
    return {phases::gemm, phases::reduce_scatter, phases::all_gather};
  return {phases::total};
}

std::vector<LinkFigures> links_of(const RunConfiguration& configuration, const Node& node, const TrafficMeter& meter,
                                  double total_ns) {
  std::vector<TrafficMeter::Links> traffic;
  for (const std::string& phase : measured_phases(configuration)) traffic.push_back(meter.links(phase));
  std::vector<LinkFigures> list;
  const std::vector<LinkPlacement> placements = fabric_of(configuration).links;
  for (const auto& link : node.links()) {
    const std::size_t index = list.size();
    LinkFigures figures{link->from(), link->to(), placements[index].parameters.bandwidth_GBps};
    std::uint64_t stores = 0;
    double waited_ns = 0;
    for (const TrafficMeter::Links& of_phase : traffic) {
      figures.payload_bytes += of_phase[index].payload_bytes;
      figures.wire_bytes += of_phase[index].wire_bytes;
      figures.packets += of_phase[index].packets;
      stores += of_phase[index].stores;
      waited_ns += to_ns(of_phase[index].waited);
      figures.credit_stall_ns += to_ns(of_phase[index].stalled);
    }
    figures.queueing_ns = stores == 0 ? 0 : waited_ns / static_cast<double>(stores);
    const double sent_ns = static_cast<double>(figures.wire_bytes) / figures.bandwidth_GBps;
    if (configuration.has_details && stores != 0)
      figures.latency_ns =
          figures.queueing_ns + sent_ns / static_cast<double>(stores) + to_ns(placements[index].parameters.latency);
    figures.utilization = static_cast<double>(figures.wire_bytes) / figures.bandwidth_GBps / total_ns;
    list.push_back(figures);
  }
  return list;
}

GpuFigures figures_of(const RunConfiguration& configuration, const Gpu& gpu, const TrafficMeter& meter) {
  GpuFigures figures;
  const std::size_t number = gpu.processor.gpu();
  figures.dram_bytes = dram_bytes_of(gpu);
  figures.bytes_in_total = bytes_in_total(configuration, meter, number);
  figures.dram_accesses = gpu.memory.dram_accesses();
  const memory::Tracker& tracker = gpu.memory.tracker;
  figures.tracker = {tracker.triggers(), tracker.peak_entries(), tracker.spills(), tracker.size_bytes(),
                     tracker.trigger_wait_ns()};
  const StatisticVisitor add = [&](const std::string& name, const std::string& unit, const std::string& text,
                                   double value) {
    figures.statistics.push_back({statistics_of_gpu(gpu.processor.gpu()) + name, unit, text, value});
  };
  gpu.visit_statistics(add);
  if (configuration.has_details) gpu.visit_details(add);
  return figures;
}

Bounds bounds_of(const RunConfiguration& configuration, const NodeFigures& node) {
  Bounds bounds;
  for (const LinkFigures& link : node.links)
    bounds.link_ns = std::max(bounds.link_ns, static_cast<double>(link.wire_bytes) / link.bandwidth_GBps);
  bounds.link_ns = std::max(bounds.link_ns, configuration.workload->least_link_ns(configuration));
  LowerBounds needs;
  for (std::uint32_t g = 0; g < node.gpus.size(); ++g) {
    const GpuParameters& gpu = parameters_of(configuration.system, g);
    needs.raise(configuration.workload->lower_bounds(configuration, g, gpu));
    needs.dram_ns = std::max(needs.dram_ns, node.gpus[g].bytes_in_total / peak_GBps(gpu.memory));
  }
  bounds.compute_ns = needs.compute_ns;
  bounds.compute_quantized_ns = needs.compute_quantized_ns;
  bounds.dram_ns = needs.dram_ns;
  return bounds;
}

void raise(TrackerFigures& figures, const TrackerFigures& tracker) {
  figures.triggers = std::max(figures.triggers, tracker.triggers);
  figures.peak_entries = std::max(figures.peak_entries, tracker.peak_entries);
  figures.spills = std::max(figures.spills, tracker.spills);
  figures.trigger_wait_ns = std::max(figures.trigger_wait_ns, tracker.trigger_wait_ns);
  figures.size_bytes = tracker.size_bytes;
}

}  // namespace

NodeFigures figures_of(const RunConfiguration& configuration, const Node& node, const PhaseTable& phases,
                       const TrafficMeter& meter) {
  NodeFigures figures;
  for (const auto& gpu : node.gpus()) figures.gpus.push_back(figures_of(configuration, *gpu, meter));
  // A run that broke off has no total.
  const double total = times_of(configuration, phases).total;
  figures.links = links_of(configuration, node, meter, total > 0 ? total : std::max(to_ns(now()), 1.0));
  return figures;
}

void set_figures(const RunConfiguration& configuration, const PhaseTable& phases, const NodeFigures& node,
                 RunResult& result) {
  result.time_ns = times_of(configuration, phases);
  result.bounded_by = bounded_by(configuration, phases, result.time_ns);
  for (const GpuFigures& gpu : node.gpus) {
    result.dram_bytes.push_back(gpu.dram_bytes);
    result.host.dram_accesses += gpu.dram_accesses;
    raise(result.tracker, gpu.tracker);
    result.statistics.insert(result.statistics.end(), gpu.statistics.begin(), gpu.statistics.end());
  }
  for (const WorkStatistic& s : configuration.workload->statistics(configuration))
    result.statistics.push_back({s.name, s.unit, s.text, s.value});
  result.links = node.links;
  result.bounds = bounds_of(configuration, node);
}

void gather_figures(const RunConfiguration& configuration, const Node& node, const TrafficMeter& meter,
                    RunResult& result) {
  const PhaseTable phases(node);
  set_figures(configuration, phases, figures_of(configuration, node, phases, meter), result);
}

}  // namespace t3vp
