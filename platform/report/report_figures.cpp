#include "report/report_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include "report/exposed_times.h"
#include "report/report.h"
#include "report/statistic_names.h"
#include "workloads/registry.h"

namespace t3vp {
namespace {

using nlohmann::json;

void flatten(const json& value, const std::string& name, Figures& figures) {
  if (!value.is_structured()) {
    figures[name] = value;
    return;
  }
  std::size_t index = 0;
  for (const auto& member : value.items())
    flatten(member.value(), name + "." + (value.is_array() ? std::to_string(index++) : member.key()), figures);
}

std::string name_of_end(const json& end) { return end.is_string() ? end.get<std::string>() : end.dump(); }

void take_link(const json& link, const std::string& name, Figures& figures) {
  for (const auto& member : link.items())
    if (member.key() != "from" && member.key() != "to") figures["links." + name + "." + member.key()] = member.value();
}

void take_operations(const json& operations, Figures& figures) {
  for (const json& operation : operations)
    for (const char* key : {"time_ns", "read_bytes", "write_bytes"})
      figures["operations." + operation.at("name").get<std::string>() + "." + key] = operation.at(key);
}

void take_time(const json& report, const std::string& phase, Figures& figures) {
  figures["time_ns." + phase] = report.at("time_ns").at(phase);
}

void take_traffic(const json& report, const char* traffic, Figures& figures) {
  for (const char* direction : {"_read", "_write"}) {
    const std::string key = std::string(traffic) + direction;
    figures["dram_bytes." + key] = report.at("dram_bytes").at(key);
  }
}

double as_number(const json& value) { return value.is_number() ? value.get<double>() : std::nan(""); }

}  // namespace

Figures figures_of(const json& report) {
  Figures figures;
  for (const auto& member : report.items()) {
    if (member.key() == "host" || member.key() == "warnings") continue;
    if (member.key() == "links")
      for (const json& link : member.value())
        take_link(link, name_of_end(link.at("from")) + "_to_" + name_of_end(link.at("to")), figures);
    else if (member.key() == "operations")
      take_operations(member.value(), figures);
    else if (member.key() == "statistics")
      for (const json& statistic : member.value())
        figures[statistic.at("name").get<std::string>()] = statistic.at("value");
    else
      flatten(member.value(), member.key(), figures);
  }
  return figures;
}

Figures row_figures(const json& report) {
  Figures figures = figures_of(report);
  figures.erase("method");  // a column of the row already
  for (const json& statistic : report.at("statistics"))
    if (const auto name = statistic.at("name").get<std::string>(); !is_statistic_of(name, statistics_of_gpu(0)))
      figures.erase(name);
  const json& links = report.at("links");
  const auto less = [](const json& a, const json& b) { return a.at("wire_bytes") < b.at("wire_bytes"); };
  if (!links.empty()) take_link(*std::max_element(links.begin(), links.end(), less), "busiest", figures);
  return figures;
}

Figures combined_figures(const json& gemm, const json& reduce_scatter, const json& all_gather) {
  Figures figures;
  for (const char* key : {"version", "seed", "arbitration", "system", "gpus", "data", "simulate", "workload"})
    flatten(all_gather.at(key), key, figures);
  take_time(gemm, "gemm", figures);
  take_time(reduce_scatter, "reduce_scatter", figures);
  take_time(all_gather, "all_gather", figures);
  take_time(reduce_scatter, "zeroing", figures);
  // The GEMM of another run leaves output in the cache, for the kernels after it or for good: its writes are not the
  // isolated ones.
  take_traffic(reduce_scatter, "rs", figures);
  take_traffic(all_gather, "ag", figures);
  // That of the collective kernel: it is in the run with the all-gather, behind a reduce-scatter that has it, too.
  if (all_gather.at("dram_bytes").contains("collective_read")) take_traffic(all_gather, "collective", figures);
  const auto time = [&](const char* phase) { return as_number(figures.at(std::string("time_ns.") + phase)); };
  figures["time_ns.total"] = std::max(time("gemm"), time("reduce_scatter")) + time("all_gather");
  return figures;
}

double figure(const Figures& figures, const std::string& key) {
  const auto found = figures.find(key);
  return found == figures.end() ? std::nan("") : as_number(found->second);
}

bool is_numeric_key(const std::string& key) {
  // The pattern of metrics whose names depend on models, layers and the number of GPUs.
  static const std::regex named(
      R"(gpu0\..+|ends\.gpu_ns\.[0-9]+|operations\..+|parts_ns\..+|)"
      R"(replicates\.time_ns\.\w+\.(median|least|most|spread)|links\.(switch)?[0-9]+_to_(switch)?[0-9]+\.\w+)");
  if (std::regex_match(key, named)) return true;
  static const Figures known = [] {
    RunConfiguration configuration;
    nlohmann::json& workload = configuration.resolved["workload"] = nlohmann::json::object();
    RunResult result;
    for (const WorkloadKind* kind : workload_kinds()) {
      workload.update(kind->numbers);
      for (const Phase& phase : kind->phases) result.time_ns.phases.emplace_back(phase.key, 0);
    }
    for (const Phase& phase : phases::of_collectives) result.time_ns.phases.emplace_back(phase.key, 0);
    for (const auto& exposed : exposed_times(result.time_ns, false)) result.time_ns.phases.push_back(exposed);
    result.time_ns.ends = {0};
    result.links.resize(1);
    return row_figures(report_json(configuration, result));
  }();
  const auto found = known.find(key);
  return found != known.end() && !found->second.is_string() && !found->second.is_boolean();
}

}  // namespace t3vp
