#include "experiment/case_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "io/input_error.h"

namespace t3vp {
namespace {

bool is_called(const ExperimentCase& one, const std::string& name) {
  return one.name == name || std::find(one.tags.begin(), one.tags.end(), name) != one.tags.end();
}

/// The first tags of the cases, each once.
std::vector<std::string> some_names(const Experiment& experiment) {
  constexpr std::size_t most = 5;
  std::vector<std::string> names;
  for (const ExperimentCase& one : experiment.cases)
    for (const std::string& tag : one.tags)
      if (names.size() < most && std::find(names.begin(), names.end(), tag) == names.end()) names.push_back(tag);
  return names;
}

bool needs_axes(const Plot& plot) { return plot.kind == Plot::Kind::lines || plot.kind == Plot::Kind::heat_map; }

}  // namespace

void choose_cases(Experiment& experiment, const std::vector<std::string>& names) {
  if (names.empty()) return;
  for (const std::string& name : names)
    if (std::none_of(experiment.cases.begin(), experiment.cases.end(),
                     [&](const ExperimentCase& one) { return is_called(one, name); }))
      throw InputError(
          "--case", name,
          fmt::format("the name of a case or of an entry, such as {}", fmt::join(some_names(experiment), ", ")));
  const auto is_kept = [&](const ExperimentCase& one) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return is_called(one, name); });
  };
  const auto end = std::stable_partition(experiment.cases.begin(), experiment.cases.end(), is_kept);
  const std::vector<ExperimentCase> gone(end, experiment.cases.end());
  experiment.cases.erase(end, experiment.cases.end());
  if (gone.empty()) return;
  const auto leave_out = [&](auto& list, const auto& is_hit, const auto& name) {
    for (const auto& one : list)
      if (is_hit(one)) experiment.left_out.push_back(name(one));
    list.erase(std::remove_if(list.begin(), list.end(), is_hit), list.end());
  };
  leave_out(experiment.plots, needs_axes, [](const Plot& plot) { return "plot " + plot.file; });
  leave_out(
      experiment.targets,
      [&](const Target& target) {
        return std::any_of(gone.begin(), gone.end(),
                           [&](const ExperimentCase& one) { return chosen(one, target.cases); });
      },
      [](const Target& target) { return "target " + target.id; });
}

}  // namespace t3vp
