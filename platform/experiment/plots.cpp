#include "experiment/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiment/bar_plots.h"
#include "experiment/gnuplot.h"
#include "experiment/heat_map.h"
#include "experiment/line_plot.h"
#include "experiment/picture_names.h"
#include "experiment/scatter_plot.h"
#include "experiment/scatter_points.h"
#include "experiment/traffic_timeline.h"
#include "experiment/workgroup_timeline.h"
#include "io/output_file.h"

namespace t3vp {
namespace {

namespace fs = std::filesystem;
using namespace gnuplot;

/// What `read` finds in the trace of each row of the plot's methods that is a run, with the row's name.
template <typename Timeline>
std::vector<std::pair<std::string, Timeline>> panels_of(const Plot& plot, const Experiment& experiment,
                                                        const Results& results, const Plan& plan,
                                                        Timeline (*read)(const fs::path& trace, double setup_ns)) {
  std::vector<std::pair<std::string, Timeline>> panels;
  for (const PlannedRow& row : plan.rows) {
    const std::string& method = experiment.methods[row.method_index].name;
    if (std::count(plot.methods.begin(), plot.methods.end(), method) == 0 || !results.row(row) || !row.is_whole())
      continue;
    panels.emplace_back(experiment.cases[row.case_index].name + ", " + method,
                        read(results.folder_of(row.gemm) / "trace.json", figure(*results.row(row), "time_ns.setup")));
  }
  return panels;
}

/// One panel for each case and method, each as long as it took.
std::string workgroups(const Plot& plot, const Experiment& experiment, const Results& results, const Plan& plan) {
  auto panels = panels_of(plot, experiment, results, plan, read_workgroups);
  panels.erase(std::remove_if(panels.begin(), panels.end(), [](const auto& p) { return p.second.parts.empty(); }),
               panels.end());
  if (panels.empty()) return "";
  constexpr std::size_t around = 120, row = 12;
  std::size_t most = 0;
  for (const auto& panel : panels) most = std::max(most, panel.second.workgroups);
  std::string script = header(plot.file + ".svg", 1000, (around + row * most) * panels.size()) +
                       fmt::format(
                           "unset grid\nset xlabel 'time (us)'\nset ylabel 'workgroup'\n"
                           "set key outside bottom center horizontal\nset multiplot layout {},1\n",
                           panels.size());
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const WorkgroupTimeline& timeline = panels[i].second;
    script += fmt::format("set title {}\nset xrange [0:{:.6g}]\nset yrange [{}.5:-0.5]\n",
                          text_constant(panels[i].first), timeline.end_us(), timeline.workgroups - 1) +
              timeline.panel(fmt::format("$panel{}", i), plot.marks, plot.cluster);
  }
  return script + "unset multiplot\n";
}

/// One panel for each case and method, on common axes, every class in its colour.
std::string timelines(const Plot& plot, const Experiment& experiment, const Results& results, const Plan& plan) {
  const auto panels = panels_of(plot, experiment, results, plan, read_traffic);
  if (panels.empty()) return "";
  TrafficScale scale;
  for (const auto& panel : panels) scale.include(panel.second);
  std::string script = header(plot.file + ".svg", 1000, 260 * panels.size()) +
                       fmt::format(
                           "set xlabel 'time (us)'\nset ylabel {}\nset xrange [0:{:.6g}]\nset yrange [0:{:.6g}]\n"
                           "set key outside right\nset multiplot layout {},1\n",
                           text_constant(plot.unit), scale.end_us, scale.GBps, panels.size());
  for (std::size_t i = 0; i < panels.size(); ++i)
    script += "set title " + text_constant(panels[i].first) + "\n" +
              panels[i].second.panel(fmt::format("$panel{}", i), scale.classes);
  return script + "unset multiplot\n";
}

std::string script_of(const Plot& plot, const Experiment& experiment, const Results& results, const Plan& plan) {
  switch (plot.kind) {
    case Plot::Kind::bars:
      return bars(plot, experiment, results);
    case Plot::Kind::stacks:
      return stacks(plot, experiment, results);
    case Plot::Kind::lines:
      return line_plot(plot, experiment, results);
    case Plot::Kind::heat_map:
      return heat_map(plot, experiment, results);
    case Plot::Kind::scatter:
    case Plot::Kind::pareto:
      return scatter_plot(plot, experiment, results);
    case Plot::Kind::workgroups:
      return workgroups(plot, experiment, results, plan);
    case Plot::Kind::timeline:
      break;
  }
  return timelines(plot, experiment, results, plan);
}

std::string off_scale(const std::string& name, double value, const ExperimentCase& one) {
  return fmt::format("{} is {:.4g} in case {}, and a logarithmic axis needs values above 0", name, value, one.name);
}

/// Why lines or points cannot be drawn; empty when they can.
std::string fault_of_values(const Plot& plot, const Experiment& experiment, const Results& results) {
  const bool is_log_y = plot.y_scale == Plot::Scale::logarithmic, is_log_x = plot.x_scale == Plot::Scale::logarithmic;
  if (plot.kind == Plot::Kind::lines && is_log_y)
    for (const std::size_t q : plot.quantities)
      for (std::size_t c = 0; c < experiment.cases.size(); ++c)
        if (results.value_of(q, c) <= 0)
          return off_scale(experiment.quantities[q].name, results.value_of(q, c), experiment.cases[c]);
  if (plot.kind != Plot::Kind::scatter && plot.kind != Plot::Kind::pareto) return "";
  const std::vector<ScatterPoint> points = points_of(plot, experiment, results);
  for (const ScatterPoint& point : points) {
    if (is_log_x && point.x.value <= 0)
      return off_scale(plot.x_figure.name, point.x.value, experiment.cases[point.case_index]);
    if (is_log_y && point.y.value <= 0)
      return off_scale(plot.y_figure.name, point.y.value, experiment.cases[point.case_index]);
  }
  return points.empty() ? fmt::format("no case has both {} and {}", plot.x_figure.name, plot.y_figure.name) : "";
}

/// The first of a plot's quantities without a value in any case, though no run failed: its columns would be empty.
std::string empty_quantity(const Plot& plot, const Experiment& experiment, const Results& results) {
  if (!results.failures().empty()) return "";
  for (const std::size_t q : plot.quantities) {
    bool is_empty = true;
    for (std::size_t c = 0; c < experiment.cases.size(); ++c) is_empty = is_empty && std::isnan(results.value_of(q, c));
    if (is_empty) return experiment.quantities[q].name;
  }
  return "";
}

}  // namespace

Pictures draw_plots(const Experiment& experiment, const Results& results, const Plan& plan, const fs::path& folder) {
  Pictures pictures;
  for (const Plot& plot : experiment.plots) {
    std::string fault = fault_of_values(plot, experiment, results);
    const std::string script = fault.empty() ? script_of(plot, experiment, results, plan) : "";
    if (script.empty()) {
      if (fault.empty()) fault = "no row of its methods is one run with a timeline";
      pictures.failures.push_back(fmt::format("{}: /plot/{}: no picture: {}", experiment.file.string(),
                                              &plot - experiment.plots.data(), fault));
      continue;
    }
    if (const std::string quantity = empty_quantity(plot, experiment, results); !quantity.empty())
      pictures.failures.push_back(fmt::format("{}: /plot/{}: quantity {} has no value in any case",
                                              experiment.file.string(), &plot - experiment.plots.data(), quantity));
    const fs::path file = folder / (plot.file + ".gnuplot");
    write_text(file, script);
    const Drawing drawing = draw(folder, plot.file);
    if (drawing.missing)
      pictures.gnuplot_missing = true;
    else if (drawing.failure.empty())
      pictures.files.push_back(plot.file + ".svg");
    else
      pictures.failures.push_back(fmt::format("{}: no picture: {}", file.string(), drawing.failure));
  }
  return pictures;
}

}  // namespace t3vp
