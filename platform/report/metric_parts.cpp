#include "report/metric_parts.h"

#include <algorithm>
#include <vector>

#include "report/metric_key.h"
#include "report/phases.h"
#include "workloads/registry.h"

namespace t3vp {
namespace {

using Names = std::vector<std::string>;

/// Times below `time_ns` that contain this one at once.
Names around_time(const std::string& time) {
  if (time == phases::exposed_communication) return {phases::total};
  if (begins_with(time, phases::exposed))
    return {time.substr(std::string(phases::exposed).size()), phases::exposed_communication};
  const std::vector<Phase> known = phases::described(time);
  if (known.empty()) return {phases::total};  // a phase of somebody's own program
  Names names;
  for (const Phase& phase : known)
    if (*phase.within != '\0') names.emplace_back(phase.within);
  return names;
}

/// The metrics that contain this one at once.
Names around(const std::string& metric) {
  const std::string times = "time_ns.", payload = ".payload_bytes";
  if (begins_with(metric, "parts_ns.") || (begins_with(metric, "operations.") && ends_with(metric, ".time_ns")))
    return {times + phases::total};
  if (begins_with(metric, "links.") && ends_with(metric, payload))
    return {metric.substr(0, metric.size() - payload.size()) + ".wire_bytes"};
  if (!begins_with(metric, times)) return {};
  Names names = around_time(metric.substr(times.size()));
  for (std::string& name : names) name.insert(0, times);
  return names;
}

}  // namespace

std::vector<Phase> phases::described(const std::string& key) {
  std::vector<Phase> list;
  const auto take = [&](const auto& phases) {
    std::copy_if(std::begin(phases), std::end(phases), std::back_inserter(list),
                 [&](const Phase& phase) { return phase.key == key; });
  };
  take(of_runs);
  take(of_collectives);
  for (const WorkloadKind* kind : workload_kinds()) take(kind->phases);
  return list;
}

bool contains(const std::string& whole, const std::string& part) {
  const Names names = around(part);
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return name == whole || contains(whole, name); });
}

}  // namespace t3vp
