#include "workloads/collective/algorithm_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "workloads/collective/collective_oracle.h"
#include "workloads/collective/step_traffic.h"
#include "workloads/collective_arguments.h"
#include "workloads/collective_operations.h"

namespace t3vp {
namespace {

bool goes_by(t3_collective_op op, t3_collective_algorithm algorithm) {
  const auto& algorithms = collective_operations.at(op).algorithms;
  return std::find(algorithms.begin(), algorithms.end(), algorithm) != algorithms.end();
}

/// "reduce-scatter, all-gather and all-reduce"
std::string operations_by(t3_collective_algorithm algorithm) {
  std::vector<std::string_view> names;
  for (const CollectiveOperationDescription& operation : collective_operations)
    if (goes_by(operation.op, algorithm)) names.push_back(operation.name);
  std::string text{names.front()};
  for (std::size_t i = 1; i < names.size(); ++i)
    text += fmt::format("{}{}", i + 1 == names.size() ? " and " : ", ", names[i]);
  return text;
}

t3_collective collective_of(t3_collective_op op, t3_collective_algorithm algorithm, t3_element element,
                            std::uint64_t elements, const Topology& topology) {
  t3_collective c{};
  c.op = op;
  c.algorithm = algorithm;
  c.element = element;
  c.elements = elements;
  set_places(c, topology);
  return c;
}

}  // namespace

std::optional<t3_collective_algorithm> algorithm_named(const std::string& word) {
  if (word == "auto") return {};
  return value_of(word, collective_algorithm_words);
}

void set_places(t3_collective& c, const Topology& topology) {
  if (c.algorithm == T3_HIERARCHICAL) c.gpus_per_node = topology.gpus_per_node;
  if (c.algorithm == T3_TORUS_RINGS) std::copy(topology.dimensions.begin(), topology.dimensions.end(), c.dimensions);
  if (c.algorithm == T3_DIRECT && topology.channels_by_distance && !topology.dimensions.empty())
    c.gpus_per_row = topology.dimensions[0];
}

std::string unfit(t3_collective_op op, t3_collective_algorithm algorithm, const RunSettings& settings) {
  const Topology& topology = settings.system.topology;
  if (algorithm == T3_HIERARCHICAL && topology.kind != Topology::Kind::nodes)
    return "hierarchical needs links of kind nodes";
  if (algorithm == T3_IN_NETWORK && !(topology.kind == Topology::Kind::switched && topology.reduces))
    return "in-network needs a switch with reduction true";
  if (!goes_by(op, algorithm))
    return fmt::format("{} is for {}, not {}", name_of(algorithm), operations_by(algorithm), name_of(op));
  if (algorithm == T3_TORUS_RINGS && topology.dimensions.empty()) return "torus-rings needs links of kind torus";
  return {};
}

double estimated_ns(const t3_collective& collective, const RunSettings& settings) {
  return StepTraffic(settings).time_of(collective);
}

t3_collective_algorithm best_algorithm(const std::vector<t3_collective_op>& ops, t3_element element,
                                       std::uint64_t elements, const RunSettings& settings,
                                       const std::function<bool(t3_collective_algorithm)>& may_be) {
  StepTraffic traffic(settings);
  double least = std::numeric_limits<double>::infinity();
  t3_collective_algorithm best = collective_operations.at(ops.front()).algorithms.front();
  for (const t3_collective_algorithm algorithm : collective_operations.at(ops.front()).algorithms) {
    if (std::any_of(ops.begin(), ops.end(), [&](auto op) { return !unfit(op, algorithm, settings).empty(); })) continue;
    if (!may_be(algorithm)) continue;
    double time = 0;
    for (const t3_collective_op op : ops)
      time += traffic.time_of(collective_of(op, algorithm, element, elements, settings.system.topology));
    if (time >= least) continue;
    least = time;
    best = algorithm;
  }
  return best;
}

}  // namespace t3vp
