#include "experiment/plot_loader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "experiment/experiment_parts.h"
#include "report/metric_parts.h"
#include "report/report_figures.h"

namespace t3vp {
namespace {

using nlohmann::json;

Plot::Kind kind_named(const std::string& name) {
  if (name == "bars") return Plot::Kind::bars;
  if (name == "stacks") return Plot::Kind::stacks;
  if (name == "lines") return Plot::Kind::lines;
  if (name == "heat-map") return Plot::Kind::heat_map;
  if (name == "scatter") return Plot::Kind::scatter;
  if (name == "pareto") return Plot::Kind::pareto;
  return name == "workgroups" ? Plot::Kind::workgroups : Plot::Kind::timeline;
}

/// It is drawn from the timelines of runs.
bool needs_trace(Plot::Kind kind) { return kind == Plot::Kind::timeline || kind == Plot::Kind::workgroups; }

bool is_of_points(Plot::Kind kind) { return kind == Plot::Kind::scatter || kind == Plot::Kind::pareto; }

/// What plots of a kind make use of.
std::vector<std::string> keys_used_by(Plot::Kind kind) {
  switch (kind) {
    case Plot::Kind::bars:
      return {"file", "kind", "title", "unit", "divide_by", "quantities", "baseline"};
    case Plot::Kind::lines:
      return {"file",     "kind", "title",   "unit",  "divide_by", "quantities",
              "baseline", "x",    "x_scale", "scale", "x_values",  "x_label"};
    case Plot::Kind::heat_map:
      return {"file", "kind", "title", "unit", "divide_by", "quantities", "x", "y"};
    case Plot::Kind::stacks:
      return {"file", "kind", "title", "unit", "divide_by", "methods", "keys"};
    case Plot::Kind::workgroups:
      return {"file", "kind", "title", "methods", "marks", "cluster"};
    case Plot::Kind::scatter:
      return {"file", "kind", "title", "x", "y", "x_scale", "scale", "methods"};
    case Plot::Kind::pareto:
      return {"file", "kind", "title", "x", "y", "x_better", "y_better", "x_scale", "scale", "methods"};
    case Plot::Kind::timeline:
      break;
  }
  return {"file", "kind", "title", "unit", "methods"};
}

void require_used_keys(const Document& document, std::size_t index, Plot::Kind kind) {
  const json& entry = document.content.at("plot").at(index);
  const std::vector<std::string> used = keys_used_by(kind);
  for (const auto& item : entry.items())
    if (std::find(used.begin(), used.end(), item.key()) == used.end())
      document.reject(pointer_to("plot", index, item.key()), "a key that a plot of this kind does not use",
                      fmt::format("for {} one of {}", in_short(entry.at("kind")), fmt::join(used, ", ")));
}

/// The axis that a plot names under `key`.
std::size_t axis_named(const Document& document, std::size_t index, const char* key, std::size_t usual) {
  const json value = document.content.at("plot").at(index).value(key, json(usual));
  if (!value.is_number()) document.reject(pointer_to("plot", index, key), "the number of an axis of cross, from 0");
  return value.get<std::size_t>();
}

/// A heat map has the last two axes unless the plot names others, lines have the last one along x.
void read_axes(const Document& document, const Experiment& experiment, std::size_t index, Plot& plot) {
  const std::size_t axes = experiment.axes.size();
  const bool heat_map = plot.kind == Plot::Kind::heat_map;
  if (heat_map && axes < 2)
    document.reject(pointer_to("plot", index, "kind"), "another kind: a heat map needs two axes of cross");
  plot.x = axis_named(document, index, "x", axes - 1);
  if (plot.x >= axes) document.reject(pointer_to("plot", index, "x"), fmt::format("an axis of cross, below {}", axes));
  if (!heat_map) return;
  plot.y = axis_named(document, index, "y", plot.x == axes - 1 ? axes - 2 : axes - 1);
  if (plot.y >= axes || plot.y == plot.x)
    document.reject(pointer_to("plot", index, "y"), fmt::format("an axis of cross, below {} and not that of x", axes));
}

Plot::Scale scale_named(const std::string& name) {
  if (name == "categories") return Plot::Scale::categories;
  return name == "logarithmic" ? Plot::Scale::logarithmic : Plot::Scale::linear;
}

/// Rejects the document at the plot's key when a logarithmic scale has no place for one of the numbers.
void require_on_scale(const Document& document, const std::string& pointer, Plot::Scale scale,
                      const ExperimentAxis& axis) {
  for (const double number : axis.numbers)
    if (scale == Plot::Scale::logarithmic && number <= 0)
      document.reject(pointer, fmt::format("linear, as {} has the value {}", axis.key, number));
}

/// Entries that are numbers are at their true distances unless the plot says otherwise.
void read_x_scale(const Document& document, const Experiment& experiment, std::size_t index, Plot& plot) {
  const ExperimentAxis& axis = experiment.axes[plot.x];
  const bool is_numeric = !axis.numbers.empty();
  const std::string pointer = pointer_to("plot", index, "x_scale");
  plot.x_scale =
      scale_named(document.content.at("plot").at(index).value("x_scale", is_numeric ? "linear" : "categories"));
  if (plot.x_scale != Plot::Scale::categories && !is_numeric)
    document.reject(pointer, "categories, as the axis is not one key with values that are numbers");
  require_on_scale(document, pointer, plot.x_scale, axis);
}

/// Quantities that are the points of a line, with their places along x.
void read_x_values(const Document& document, std::size_t index, Plot& plot) {
  const json& entry = document.content.at("plot").at(index);
  plot.x_values = entry.at("x_values").get<std::vector<double>>();
  plot.x_label = entry.value("x_label", "");
  const auto require = [&](const char* key, bool is_right, const std::string& expected) {
    if (!is_right) document.reject(pointer_to("plot", index, key), expected);
  };
  require("x_values", plot.x_values.size() == plot.quantities.size(),
          fmt::format("{} values, one for each quantity", plot.quantities.size()));
  require("x", !entry.contains("x"), "no axis beside x_values");
  require("x_label", !plot.x_label.empty(), "the title of the x axis, with its unit");
  plot.x_scale = scale_named(entry.value("x_scale", "linear"));
  require("x_scale", plot.x_scale != Plot::Scale::categories, "linear or logarithmic beside x_values");
  for (const double value : plot.x_values)
    require("x_values", plot.x_scale == Plot::Scale::linear || value > 0, "values above 0 for a logarithmic scale");
}

/// A quantity, the key of an axis whose values are numbers, or a figure of the report.
PlottedFigure figure_named(const Document& document, const Experiment& experiment, std::size_t index,
                           const std::string& key, Plot::Scale scale) {
  const json& entry = document.content.at("plot").at(index);
  const std::string pointer = pointer_to("plot", index, key);
  const std::vector<std::string> quantities = names_in(experiment.quantities);
  const std::string expected =
      fmt::format("{}the key of an axis, or a number of the report such as time_ns.total",
                  quantities.empty() ? "" : fmt::format("a quantity ({}), ", fmt::join(quantities, ", ")));
  if (!entry.contains(key) || !entry.at(key).is_string()) document.reject(pointer, expected);
  PlottedFigure figure;
  figure.name = entry.at(key).get<std::string>();
  const auto place_of = [](const auto& list, const auto& is_it) {
    return static_cast<std::size_t>(std::find_if(list.begin(), list.end(), is_it) - list.begin());
  };
  figure.index = place_of(quantities, [&](const std::string& name) { return name == figure.name; });
  if (figure.index < quantities.size()) {
    figure.source = PlottedFigure::Source::quantity;
    return figure;
  }
  figure.index = place_of(experiment.axes, [&](const ExperimentAxis& axis) { return axis.key == figure.name; });
  if (figure.index < experiment.axes.size()) {
    const ExperimentAxis& axis = experiment.axes[figure.index];
    if (axis.numbers.empty()) document.reject(pointer, in_short(figure.name), "an axis whose values are numbers");
    require_on_scale(document, pointer_to("plot", index, key == "x" ? "x_scale" : "scale"), scale, axis);
    figure.source = PlottedFigure::Source::axis;
    return figure;
  }
  if (!is_report_figure(experiment, figure.name)) document.reject(pointer, in_short(figure.name), expected);
  return figure;
}

void read_points(const Document& document, const Experiment& experiment, std::size_t index, Plot& plot) {
  const json& entry = document.content.at("plot").at(index);
  plot.x_scale = scale_named(entry.value("x_scale", "linear"));
  if (plot.x_scale == Plot::Scale::categories)
    document.reject(pointer_to("plot", index, "x_scale"), "linear or logarithmic");
  plot.x_figure = figure_named(document, experiment, index, "x", plot.x_scale);
  plot.y_figure = figure_named(document, experiment, index, "y", plot.y_scale);
  if (entry.contains("methods") && plot.x_figure.source != PlottedFigure::Source::report &&
      plot.y_figure.source != PlottedFigure::Source::report)
    document.reject(pointer_to("plot", index, "methods"), "no methods, as neither x nor y is a number of the report");
  if (plot.kind != Plot::Kind::pareto) return;
  for (const auto& [key, figure] : {std::pair("x_better", &plot.x_figure), std::pair("y_better", &plot.y_figure)}) {
    if (!entry.contains(key))
      document.reject(pointer_to("plot", index, key), fmt::format("lower or higher: which {} is better", figure->name));
    figure->higher_is_better = entry.at(key) == "higher";
  }
}

/// The names under `key` of a plot, each once; without the key, all there are.
std::vector<std::string> names_of(const Document& document, std::size_t index, const char* key,
                                  const std::vector<std::string>& all = {}) {
  const json& entry = document.content.at("plot").at(index);
  if (!entry.contains(key)) return all;
  std::vector<std::string> names;
  for (const json& name : entry.at(key)) {
    if (std::find(names.begin(), names.end(), name) != names.end())
      document.reject(pointer_to("plot", index, key), in_short(name) + " twice", "different names");
    names.push_back(name.get<std::string>());
  }
  return names;
}

/// What is stacked is added up, so that no metric may be a part of another one.
void require_disjoint(const Document& document, std::size_t index, const std::vector<std::string>& keys) {
  for (const std::string& whole : keys)
    for (const std::string& part : keys)
      if (contains(whole, part))
        document.reject(pointer_to("plot", index, "keys"), fmt::format("{}, which contains {}", whole, part),
                        "metrics that do not contain each other, as a stack adds them up");
}

Plot plot_of(const Document& document, const Experiment& experiment, std::size_t index) {
  const json& entry = document.content.at("plot").at(index);
  Plot plot;
  plot.file = entry.at("file").get<std::string>();
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; };
  if (!std::all_of(plot.file.begin(), plot.file.end(), plain))
    document.reject(pointer_to("plot", index, "file"), "a name of letters, digits, - and _");
  for (const Plot& earlier : experiment.plots)
    if (earlier.file == plot.file)
      document.reject(pointer_to("plot", index, "file"), in_short(plot.file) + " twice", "another name");
  plot.kind = kind_named(entry.at("kind").get<std::string>());
  require_used_keys(document, index, plot.kind);
  plot.title = entry.value("title", experiment.name);
  plot.unit = entry.value("unit", "");
  plot.divide_by = entry.value("divide_by", 1.0);
  plot.y_scale = scale_named(entry.value("scale", "linear"));
  if (entry.contains("baseline")) plot.baseline = entry.at("baseline").get<double>();
  const std::vector<std::string> all =
      is_of_points(plot.kind) ? std::vector<std::string>{} : names_in(experiment.quantities);
  for (const std::string& name : names_of(document, index, "quantities", all))
    plot.quantities.push_back(index_of(document, pointer_to("plot", index, "quantities"), experiment.quantities, name));
  plot.methods = names_of(document, index, "methods", names_in(experiment.methods));
  for (const std::string& name : plot.methods)
    index_of(document, pointer_to("plot", index, "methods"), experiment.methods, name);
  plot.keys = names_of(document, index, "keys");
  for (const std::string& key : plot.keys) require_key(document, experiment, pointer_to("plot", index, "keys"), key);
  if (plot.kind == Plot::Kind::stacks && plot.keys.empty())
    document.reject(pointer_to("plot", index, "keys"), "a list of report keys to stack");
  if (plot.kind == Plot::Kind::stacks) require_disjoint(document, index, plot.keys);
  plot.marks = names_of(document, index, "marks");
  plot.cluster = entry.value("cluster", std::size_t{1});
  if (needs_trace(plot.kind) && !experiment.trace)
    document.reject(pointer_to("plot", index, "kind"), "another kind, unless trace is true");
  if (is_of_points(plot.kind)) {
    read_points(document, experiment, index, plot);
    return plot;
  }
  const bool of_quantities = plot.kind != Plot::Kind::stacks && !needs_trace(plot.kind);
  if (of_quantities && plot.quantities.empty())
    document.reject(pointer_to("plot", index, "kind"), "stacks, timeline or workgroups, unless there are quantities");
  read_axes(document, experiment, index, plot);
  if (plot.kind != Plot::Kind::lines) return plot;
  if (entry.contains("x_values")) {
    read_x_values(document, index, plot);
    return plot;
  }
  if (entry.contains("x_label")) document.reject(pointer_to("plot", index, "x_label"), "no x_label without x_values");
  read_x_scale(document, experiment, index, plot);
  return plot;
}

}  // namespace

void read_plots(const Document& document, Experiment& experiment) {
  for (std::size_t i = 0; i < document.content.value("plot", json::array()).size(); ++i)
    experiment.plots.push_back(plot_of(document, experiment, i));
}

}  // namespace t3vp
