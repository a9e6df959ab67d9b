#include "report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "config/checks.h"
#include "io/fingerprint.h"
#include "io/json_document.h"
#include "io/printable.h"
#include "io/schema_check.h"
#include "protocol/traffic_classes.h"
#include "report/exposed_times.h"
#include "report/warnings.h"

namespace t3vp {
namespace {

using nlohmann::ordered_json;

/// Every report has the known phases, null when the run has left them out.
ordered_json times_json(const RunConfiguration& c, const RunTimes& t) {
  ordered_json times = {{"total", t.total}};
  for (const Phase& known : phases::of_collectives) times[known.key] = nullptr;
  for (const auto& [name, ns] : t.phases) times[name] = ns;
  const bool has_own_program = c.built_in_program.empty();
  if (t.total > 0 && !has_own_program && c.workload != nullptr && c.workload->separates_communication(c.method))
    for (const auto& [name, ns] : exposed_times(t, c.workload->runs_apart(c.method))) times[name] = ns;
  times["setup"] = t.setup;
  times["zeroing"] = t.zeroing;
  return times;
}

ordered_json bytes_json(const std::vector<DramBytes>& gpus, TrafficClass traffic) {
  std::uint64_t sum = 0;
  for (const DramBytes& gpu : gpus) sum += gpu[index_of(traffic)];
  const std::uint64_t count = std::max<std::uint64_t>(gpus.size(), 1);
  if (sum % count == 0) return sum / count;
  return static_cast<double>(sum) / static_cast<double>(count);
}

/// Every report has the known classes, and those of other kernels that have moved anything.
ordered_json class_bytes_json(const std::vector<DramBytes>& gpus) {
  ordered_json bytes = ordered_json::object();
  for (const TrafficClass traffic : traffic_class_values) bytes[name_of(traffic)] = bytes_json(gpus, traffic);
  for (const TrafficClass traffic : traffic_classes())
    if (ordered_json others = bytes_json(gpus, traffic); others != 0)
      bytes[name_of_traffic(traffic)] = std::move(others);
  return bytes;
}

/// How far the first GPU's end is before the last one's, as a share of the whole.
ordered_json ends_json(const std::vector<double>& ends) {
  const auto [first, last] = std::minmax_element(ends.begin(), ends.end());
  return {{"gpu_ns", ends}, {"skew", *last > 0 ? (*last - *first) / *last : 0}};
}

/// A GPU's number, or "switch0".
ordered_json json_of(const interconnect::LinkEnd& end) {
  if (end.is_switch) return fmt::format("switch{}", end.number);
  return end.number;
}

ordered_json links_json(const std::vector<LinkFigures>& links) {
  ordered_json list = ordered_json::array();
  for (const LinkFigures& l : links) {
    list.push_back({{"from", json_of(l.from)},
                    {"to", json_of(l.to)},
                    {"payload_bytes", l.payload_bytes},
                    {"wire_bytes", l.wire_bytes},
                    {"packets", l.packets},
                    {"utilization", l.utilization},
                    {"queueing_ns", l.queueing_ns},
                    {"credit_stall_ns", l.credit_stall_ns}});
    if (l.latency_ns) list.back()["latency_ns"] = *l.latency_ns;
  }
  return list;
}

ordered_json bounded_by_json(const std::vector<BoundingParts>& phases) {
  ordered_json all = ordered_json::object();
  for (const BoundingParts& phase : phases)
    for (std::size_t part = 0; part < part_count; ++part) all[phase.phase][part_names[part]] = phase.ns[part];
  return all;
}

ordered_json operations_json(const std::vector<OperationFigures>& operations) {
  ordered_json list = ordered_json::array();
  for (const OperationFigures& o : operations)
    list.push_back({{"name", o.name},
                    {"part", o.part},
                    {"time_ns", o.time_ns},
                    {"read_bytes", o.read_bytes},
                    {"write_bytes", o.write_bytes}});
  return list;
}

ordered_json parts_json(const std::vector<OperationFigures>& operations) {
  ordered_json parts = ordered_json::object();
  for (const OperationFigures& o : operations) parts[o.part] = parts.value(o.part, 0.0) + o.time_ns;
  return parts;
}

ordered_json functional_json(const FunctionalCheck& f) {
  ordered_json functional = {{"checked", f.checked},
                             {"elements", f.elements},
                             {"mismatches", f.mismatches},
                             {"max_abs_error", f.max_abs_error}};
  if (f.first)
    functional["first_mismatch"] = {{"gpu", f.first->gpu},     {"tensor", f.first->tensor},
                                    {"row", f.first->row},     {"column", f.first->column},
                                    {"found", f.first->found}, {"expected", f.first->expected}};
  return functional;
}

ordered_json faults_json(const std::vector<FaultOutcome>& faults) {
  ordered_json list = ordered_json::array();
  for (const FaultOutcome& f : faults) {
    list.push_back({{"name", f.name}, {"struck", f.struck}, {"text", f.text}});
    if (!f.recovery.empty()) list.back()["recovery"] = f.recovery;
  }
  return list;
}

ordered_json statistics_json(const std::vector<Statistic>& statistics) {
  ordered_json list = ordered_json::array();
  for (const Statistic& s : statistics)
    list.push_back({{"name", s.name}, {"unit", s.unit}, {"text", s.text}, {"value", s.value}});
  return list;
}

ordered_json host_json(const HostFigures& h) {
  const double rate = h.wall_s > 0 ? static_cast<double>(h.dram_accesses) / h.wall_s : 0;
  ordered_json host = {{"wall_s", h.wall_s},
                       {"peak_rss_MiB", h.peak_rss_MiB},
                       {"dram_accesses_per_s", rate},
                       {"events", h.events},
                       {"program", simulation_fingerprint()}};
  if (h.ranks.empty()) return host;
  host["windows"] = h.windows;
  for (const RankFigures& rank : h.ranks)
    host["ranks"].push_back(
        {{"computing_s", rank.computing_s}, {"waiting_s", rank.waiting_s}, {"sent_MB", rank.sent_MB}});
  return host;
}

/// Two figures of the same time may differ in the last bits.
bool beats(double total, double bound) { return total < bound * (1 - 1e-9); }

std::string mismatch_line(const FunctionalCheck& f) {
  std::string line = fmt::format("{} of {} output elements are wrong, by up to {}", f.mismatches, f.elements,
                                 in_words(f.max_abs_error));
  if (f.first)
    line +=
        fmt::format("; the first: GPU {}, {}, row {}, column {}: found {}, expected {}", f.first->gpu, f.first->tensor,
                    f.first->row, f.first->column, in_words(f.first->found), in_words(f.first->expected));
  return line;
}

/// Programs have written parts of them.
std::vector<std::string> printable_lines(std::vector<std::string> lines) {
  for (std::string& line : lines) line = printable(line);
  return lines;
}

/// Returns the failures of the run itself.
std::vector<std::string> symptoms(const RunResult& r) {
  std::vector<std::string> list = r.diagnosis;
  if (r.functional.mismatches != 0) list.push_back(mismatch_line(r.functional));
  if (!r.diagnosis.empty()) return list;  // the times of a run that broke off say nothing
  const std::pair<const char*, double> bounds[] = {{"compute", r.bounds.compute_ns},
                                                   {"quantized compute", r.bounds.compute_quantized_ns},
                                                   {"link", r.bounds.link_ns},
                                                   {"dram", r.bounds.dram_ns}};
  for (const auto& [name, bound] : bounds)
    if (beats(r.time_ns.total, bound))
      list.push_back(fmt::format("the total of {} ns beats the {} bound of {} ns", r.time_ns.total, name, bound));
  return list;
}

/// A program of the user's own does what it likes.
ordered_json algorithms_json(const RunConfiguration& c) {
  ordered_json algorithms = ordered_json::object();
  if (c.workload == nullptr || c.built_in_program.empty()) return algorithms;
  for (const CollectiveUse& use : c.workload->collective_uses(c)) algorithms[use.collective] = use.how;
  return algorithms;
}

}  // namespace

std::string in_words(double value) {
  if (std::isnan(value)) return "not a number";
  if (std::isinf(value)) return value < 0 ? "minus infinite" : "infinite";
  return fmt::format("{}", value);
}

std::string text_of(const FaultOutcome& fault) {
  const std::string text =
      fmt::format("fault {} {}: {}", fault.name, fault.struck ? "struck" : "did not strike", fault.text);
  return fault.recovery.empty() ? text : fmt::format("{}; recovered: {}", text, fault.recovery);
}

std::vector<std::string> failures(const RunResult& r) {
  std::vector<std::string> list = symptoms(r);
  const bool unnoticed = list.empty();
  for (const FaultOutcome& fault : r.faults)
    if (!unnoticed || fault.recovery.empty())
      list.push_back(text_of(fault) + (fault.struck && unnoticed ? "; no check noticed it" : ""));
  return printable_lines(std::move(list));
}

ordered_json report_json(const RunConfiguration& c, const RunResult& r) {
  const TrackerFigures& t = r.tracker;
  ordered_json report = {{"version", T3VP_VERSION},
                         {"config_hash", c.config_hash},
                         {"seed", c.seed},
                         {"method", c.method},
                         {"arbitration", c.arbitration},
                         {"system", c.system.name},
                         {"gpus", c.gpus},
                         {"data", c.functional ? "functional" : "timing-only"},
                         {"simulate", c.mirror ? "mirror" : "all"},
                         {"workload", ordered_json(c.resolved.value("workload", nlohmann::json::object()))},
                         {"time_ns", times_json(c, r.time_ns)},
                         {"dram_bytes", class_bytes_json(r.dram_bytes)},
                         {"links", links_json(r.links)},
                         {"tracker",
                          {{"triggers", t.triggers},
                           {"peak_entries", t.peak_entries},
                           {"spills", t.spills},
                           {"trigger_wait_ns", t.trigger_wait_ns},
                           {"size_bytes", t.size_bytes}}},
                         {"bounds",
                          {{"compute_ns", r.bounds.compute_ns},
                           {"compute_quantized_ns", r.bounds.compute_quantized_ns},
                           {"link_ns", r.bounds.link_ns},
                           {"dram_ns", r.bounds.dram_ns}}},
                         {"bounded_by", bounded_by_json(r.bounded_by)},
                         {"functional", functional_json(r.functional)},
                         {"faults", faults_json(r.faults)},
                         {"statistics", statistics_json(r.statistics)}};
  if (c.resolved.contains("collectives")) report["collectives"] = ordered_json(c.resolved.at("collectives"));
  if (const ordered_json algorithms = algorithms_json(c); !algorithms.empty()) report["algorithms"] = algorithms;
  if (c.workload != nullptr && c.workload->runs_apart(c.method)) report["isolated_phases"] = true;
  if (c.system.memory.model == memory::Model::loosely_timed)
    report["approximate"] = {
        "system.memory.model: times of row, column and refresh commands, and of the queue's entries"};
  if (c.resolved.contains("program")) report["program"] = name_of(c.software);
  if (c.resolved.contains("arguments")) report["arguments"] = ordered_json(c.resolved.at("arguments"));
  if (!r.time_ns.ends.empty()) report["ends"] = ends_json(r.time_ns.ends);
  if (!r.operations.empty()) {
    report["parts_ns"] = parts_json(r.operations);
    report["operations"] = operations_json(r.operations);
  }
  if (const std::string checks = checks_left_out(c.resolved, c.functional); !checks.empty())
    report["checks_left_out"] = checks;
  if (const auto list = failures(r); !list.empty()) report["diagnosis"] = list;
  if (r.stopped) {
    report["stopped"]["simulated_ns"] = r.stopped->simulated_ns;
    report["stopped"]["work_done"] = r.stopped->work_done ? ordered_json(*r.stopped->work_done) : ordered_json();
  }
  if (!r.error_log.empty()) report["error_log"] = printable_lines(r.error_log);
  set_warnings(report);
  report["host"] = host_json(r.host);
  return report;
}

nlohmann::json read_report(const std::filesystem::path& file) {
  const Document report = read_document(file, "report");
  check_schema(report, "report");
  return report.content;
}

}  // namespace t3vp
