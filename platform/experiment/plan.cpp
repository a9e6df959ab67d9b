#include "experiment/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <map>
#include <optional>

#include "config/configuration.h"
#include "io/input_error.h"

namespace t3vp {
namespace {

using nlohmann::json;
using Settings = std::vector<std::string>;

Settings operator+(Settings first, const Settings& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// Limits decide whether a run ends well, so that runs under different ones are different.
std::string name_of(const RunConfiguration& configuration) {
  std::string name = configuration.config_hash;
  const json& limits = configuration.resolved.at("limits");
  const json usual = {{"firmware_s", Limits().firmware_s},
                      {"polls", Limits().polls},
                      {"errors", Limits().errors},
                      {"rank_s", Limits().rank_s}};
  for (const auto& limit : limits.items())
    if (usual.value(limit.key(), json()) != limit.value())
      name += fmt::format("-{}={}", limit.key(), limit.value().dump());
  return name;
}

class Planner {
 public:
  /// Without `refused`, a wrong run is an exception.
  explicit Planner(const Experiment& experiment, std::vector<std::string>* refused = nullptr)
      : experiment_(experiment), refused_(refused) {}

  Plan plan() {
    for (std::size_t c = 0; c < experiment_.cases.size(); ++c)
      for (std::size_t m = 0; m < experiment_.methods.size(); ++m) add_row_or_refusal(c, m);
    // Afterwards: a run of another method, whichever comes first, may have simulated a part already.
    for (const Split& split : splits_) divide(split);
    return std::move(plan_);
  }

 private:
  /// A row whose parts are runs of their own.
  struct Split {
    std::size_t row;
    Settings settings;
    IsolatedRuns runs;
  };

  void add_row_or_refusal(std::size_t c, std::size_t m) {
    try {
      add_row(c, m);
    } catch (const InputError& error) {
      if (refused_ == nullptr) throw;
      refused_->push_back(error.what());
      plan_.rows.push_back({c, m, "", no_run, no_run, no_run});
    }
  }

  void add_row(std::size_t c, std::size_t m) {
    const Settings of_row = experiment_.cases[c].settings + experiment_.methods[m].settings;
    const Settings settings = of_row + experiment_.settings;
    const RunConfiguration whole = without_names(checked(of_row, experiment_.cases[c], experiment_.methods[m]));
    PlannedRow row;
    row.case_index = c;
    row.method_index = m;
    row.config_hash = whole.config_hash;
    const auto runs = experiment_.shared_phases ? whole.workload->isolated_runs(whole) : std::nullopt;
    if (runs)
      splits_.push_back({plan_.rows.size(), settings, *runs});
    else
      row.gemm = row.reduce_scatter = row.all_gather = add_run(whole);
    plan_.rows.push_back(row);
  }

  RunConfiguration checked(const Settings& of_row, const ExperimentCase& one, const ExperimentMethod& method) const {
    try {
      return load_run(experiment_.base, of_row + experiment_.settings);
    } catch (const InputError& error) {
      const bool is_product = one.pointer.rfind("/cross", 0) == 0;
      const std::string of_case = experiment_.file.string() + ": " + (is_product ? "/cross" : one.pointer);
      // Settings of cases and methods reach the run as options do: what is wrong there is not --set's.
      const bool is_of_options = !experiment_.settings.empty() && is_valid(of_row);
      const std::string what =
          is_of_options ? error.what() : boost::algorithm::replace_all_copy(std::string(error.what()), " (--set)", "");
      const std::string why = fmt::format("{}{} a run that is refused ({})", method.pointer,
                                          is_product ? " (case " + one.name + ")" : "", what);
      const char* const expected = "settings that give a valid run";
      if (is_of_options) throw InputError("--set", fmt::format("with {} and {}", of_case, why), expected);
      throw InputError(of_case, "with " + why, expected);
    }
  }

  bool is_valid(const Settings& settings) const {
    try {
      load_run(experiment_.base, settings);
      return true;
    } catch (const InputError&) {
      return false;
    }
  }

  RunConfiguration load(const Settings& settings) const { return without_names(load_run(experiment_.base, settings)); }

  std::size_t add_run(const RunConfiguration& configuration) {
    const std::string name = name_of(configuration);
    const auto [place, is_new] = index_.emplace(name, plan_.runs.size());
    if (is_new)
      plan_.runs.push_back(
          {configuration.resolved, configuration.config_hash, name, configuration.workload->weight(configuration)});
    return place->second;
  }

  void divide(const Split& split) {
    PlannedRow& row = plan_.rows[split.row];
    const auto with = [&](const Settings& more) { return load(split.settings + more); };
    const auto other = index_.find(name_of(with(split.runs.gemm_of_other_method)));
    row.gemm = other != index_.end() ? other->second : add_run(with(split.runs.gemm));
    row.all_gather = add_run(with(split.runs.all_gather));
    row.reduce_scatter = add_run(with(split.runs.reduce_scatter));
  }

  const Experiment& experiment_;
  std::vector<std::string>* refused_;
  Plan plan_;
  std::map<std::string, std::size_t> index_;  ///< of runs by name
  std::vector<Split> splits_;
};

}  // namespace

Plan make_plan(const Experiment& experiment) { return Planner(experiment).plan(); }

Plan make_plan(const Experiment& experiment, std::vector<std::string>& refused) {
  return Planner(experiment, &refused).plan();
}

}  // namespace t3vp
