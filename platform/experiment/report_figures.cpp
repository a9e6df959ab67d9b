#include "platform/experiment/report_figures.h"

#include <algorithm>
#include <cmath>

#include "platform/report.h"

namespace t3vp {
namespace {

using nlohmann::json;

const std::string statistics = "statistics.", operations = "operations.", parts = "parts_ns.";

void flatten(const json& value, const std::string& name, Figures& figures) {
  if (value.is_array()) return;
  if (!value.is_object()) {
    figures[name] = value;
    return;
  }
  for (const auto& member : value.items()) flatten(member.value(), name + "." + member.key(), figures);
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
  for (const auto& member : report.items())
    if (member.key() != "host" && member.key() != "method") flatten(member.value(), member.key(), figures);
  for (const json& statistic : report.at("statistics")) {
    const std::string name = statistic.at("name").get<std::string>();
    if (name.rfind("gpu0.", 0) == 0) figures[statistics + name] = statistic.at("value");
  }
  for (const json& operation : report.value("operations", json::array())) {
    const std::string name = operations + operation.at("name").get<std::string>() + ".";
    for (const char* key : {"time_ns", "read_bytes", "write_bytes"}) figures[name + key] = operation.at(key);
  }
  return figures;
}

Figures combined_figures(const json& gemm, const json& reduce_scatter, const json& all_gather) {
  Figures figures;
  for (const char* key : {"version", "seed", "arbitration", "system", "gpus", "data", "simulate", "workload"})
    flatten(all_gather.at(key), key, figures);
  take_time(gemm, "gemm", figures);
  take_time(reduce_scatter, "reduce_scatter", figures);
  take_time(all_gather, "all_gather", figures);
  // A sequential run's GEMM leaves output in the cache for the kernels after it: its writes are not the isolated ones.
  if (gemm.at("method") != "sequential") take_traffic(gemm, "gemm", figures);
  take_traffic(reduce_scatter, "rs", figures);
  take_traffic(all_gather, "ag", figures);
  const auto time = [&](const char* phase) { return as_number(figures.at(std::string("time_ns.") + phase)); };
  figures["time_ns.total"] = std::max(time("gemm"), time("reduce_scatter")) + time("all_gather");
  return figures;
}

double figure(const Figures& figures, const std::string& key) {
  const auto found = figures.find(key);
  return found == figures.end() ? std::nan("") : as_number(found->second);
}

bool is_numeric_key(const std::string& key) {
  for (const std::string& start : {statistics + "gpu0.", operations, parts})  // named by the models and layers
    if (key.rfind(start, 0) == 0) return true;
  static const Figures known = [] {
    RunConfiguration configuration;
    configuration.resolved = {{"workload", {{"gemm", {{"m", 1}, {"n", 1}, {"k", 1}}}, {"tokens", 1}}}};
    return figures_of(report_json(configuration, RunResult{}));
  }();
  const auto found = known.find(key);
  return found != known.end() && !found->second.is_string() && !found->second.is_boolean();
}

}  // namespace t3vp
