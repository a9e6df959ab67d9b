#include "experiment/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "config/configuration.h"
#include "config/input_error.h"
#include "workload/collective.h"
#include "workload/layer.h"

namespace t3vp {
namespace {

using nlohmann::json;
using Settings = std::vector<std::string>;

Settings operator+(Settings first, const Settings& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

double weight_of(const RunConfiguration& c) {
  constexpr double accesses_per_byte = 3;  // of a layer's tensors and a collective's buffers, roughly
  if (c.workload.layer)
    return accesses_per_byte * static_cast<double>(bytes_of(layer_program(*c.workload.layer, c.system.compute)));
  if (const auto& collective = c.workload.collective)
    return accesses_per_byte * c.gpus * static_cast<double>(bytes_of(*collective));
  if (const auto& e = c.workload.embedding)
    return static_cast<double>(c.gpus) * e->global_batch * e->tables_per_gpu * e->pooling *
           static_cast<double>(t3_embedding_row_bytes(&*e));
  if (const auto& g = c.workload.gemv) return c.gpus * static_cast<double>(t3_gemv_matrix_bytes(&*g));
  if (!c.workload.has_gemm()) return c.gpus;
  const double m = c.workload.gemm.m, n = c.workload.gemm.n, k = c.workload.gemm.k;
  const double gpus = c.mirror ? 1 : c.gpus;
  return gpus * ((c.phases.gemm ? m * k + k * n : 0) + 3 * m * n) * bytes_of(c.workload.gemm.element);
}

/// Limits decide whether a run ends well, so that runs under different ones are different.
std::string name_of(const RunConfiguration& configuration) {
  std::string name = configuration.config_hash;
  const json& limits = configuration.resolved.at("limits");
  const json usual = {{"firmware_s", Limits().firmware_s}, {"polls", Limits().polls}, {"errors", Limits().errors}};
  for (const auto& limit : limits.items())
    if (usual.value(limit.key(), json()) != limit.value())
      name += fmt::format("-{}={}", limit.key(), limit.value().dump());
  return name;
}

class Planner {
 public:
  explicit Planner(const Experiment& experiment) : experiment_(experiment) {}

  Plan plan() {
    for (std::size_t c = 0; c < experiment_.cases.size(); ++c)
      for (std::size_t m = 0; m < experiment_.methods.size(); ++m) add_row(c, m);
    // Afterwards: a sequential run, whichever comes first, has simulated the GEMM of the ideal methods already.
    for (const Split& split : splits_) divide(split);
    return std::move(plan_);
  }

 private:
  /// A row of an ideal method and how its configuration comes about.
  struct Split {
    std::size_t row;
    Settings settings;
    bool near_memory;
  };

  void add_row(std::size_t c, std::size_t m) {
    const Settings settings = experiment_.cases[c].settings + experiment_.methods[m].settings;
    const RunConfiguration whole = without_names(checked(settings, experiment_.cases[c], experiment_.methods[m]));
    PlannedRow row;
    row.case_index = c;
    row.method_index = m;
    row.config_hash = whole.config_hash;
    const bool all_phases = whole.phases.gemm && whole.phases.reduce_scatter && whole.phases.all_gather;
    if (is_ideal(whole.method) && all_phases && !whole.functional)
      splits_.push_back({plan_.rows.size(), settings, whole.method == Method::ideal_rs_nmc});
    else
      row.gemm = row.reduce_scatter = row.all_gather = add_run(whole);
    plan_.rows.push_back(row);
  }

  RunConfiguration checked(const Settings& settings, const ExperimentCase& one, const ExperimentMethod& method) const {
    try {
      return load_run(experiment_.base, settings);
    } catch (const InputError& error) {
      throw InputError(experiment_.file.string() + ": " + one.pointer,
                       fmt::format("with {} a run that is refused ({})", method.pointer, error.what()),
                       "settings that give a valid run");
    }
  }

  RunConfiguration load(const Settings& settings) const { return without_names(load_run(experiment_.base, settings)); }

  std::size_t add_run(const RunConfiguration& configuration) {
    const std::string name = name_of(configuration);
    const auto [place, is_new] = index_.emplace(name, plan_.runs.size());
    if (is_new)
      plan_.runs.push_back({configuration.resolved, configuration.config_hash, name, weight_of(configuration)});
    return place->second;
  }

  std::size_t add_phases(const Settings& settings, const char* method, const char* phases) {
    return add_run(load(settings + Settings{std::string("method=") + method, std::string("phases=") + phases}));
  }

  void divide(const Split& split) {
    PlannedRow& row = plan_.rows[split.row];
    // Nothing precedes the GEMM of the sequential program either, so it is the isolated GEMM.
    const auto sequential = index_.find(name_of(load(split.settings + Settings{"method=sequential"})));
    row.gemm =
        sequential != index_.end() ? sequential->second : add_phases(split.settings, "ideal-overlap", R"(["gemm"])");
    row.reduce_scatter = row.all_gather =
        add_phases(split.settings, "ideal-overlap", R"(["reduce-scatter", "all-gather"])");
    if (split.near_memory) row.reduce_scatter = add_phases(split.settings, "ideal-rs-nmc", R"(["reduce-scatter"])");
  }

  const Experiment& experiment_;
  Plan plan_;
  std::map<std::string, std::size_t> index_;  ///< of runs by name
  std::vector<Split> splits_;
};

}  // namespace

Plan make_plan(const Experiment& experiment) { return Planner(experiment).plan(); }

}  // namespace t3vp
