#include "experiment/plot_loader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "experiment/experiment_parts.h"
#include "report/report_figures.h"

namespace t3vp {
namespace {

using nlohmann::json;

Plot::Kind kind_named(const std::string& name) {
  if (name == "bars") return Plot::Kind::bars;
  if (name == "stacks") return Plot::Kind::stacks;
  if (name == "lines") return Plot::Kind::lines;
  if (name == "heat-map") return Plot::Kind::heat_map;
  return name == "workgroups" ? Plot::Kind::workgroups : Plot::Kind::timeline;
}

/// It is drawn from the timelines of runs.
bool needs_trace(Plot::Kind kind) { return kind == Plot::Kind::timeline || kind == Plot::Kind::workgroups; }

/// What plots of a kind make use of.
std::vector<std::string> keys_used_by(Plot::Kind kind) {
  switch (kind) {
    case Plot::Kind::bars:
      return {"file", "kind", "title", "unit", "divide_by", "quantities"};
    case Plot::Kind::lines:
      return {"file", "kind", "title", "unit", "divide_by", "quantities", "x", "x_scale", "scale"};
    case Plot::Kind::heat_map:
      return {"file", "kind", "title", "unit", "divide_by", "quantities", "x", "y"};
    case Plot::Kind::stacks:
      return {"file", "kind", "title", "unit", "divide_by", "methods", "keys"};
    case Plot::Kind::workgroups:
      return {"file", "kind", "title", "methods", "marks", "cluster"};
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

/// A heat map has the last two axes unless the plot names others, lines have the last one along x.
void read_axes(const Document& document, const Experiment& experiment, std::size_t index, Plot& plot) {
  const json& entry = document.content.at("plot").at(index);
  const std::size_t axes = experiment.axes.size();
  const bool heat_map = plot.kind == Plot::Kind::heat_map;
  if (heat_map && axes < 2)
    document.reject(pointer_to("plot", index, "kind"), "another kind: a heat map needs two axes of cross");
  plot.x = entry.value("x", axes - 1);
  if (plot.x >= axes) document.reject(pointer_to("plot", index, "x"), fmt::format("an axis of cross, below {}", axes));
  if (!heat_map) return;
  plot.y = entry.value("y", plot.x == axes - 1 ? axes - 2 : axes - 1);
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
  for (const std::string& name : names_of(document, index, "quantities", names_in(experiment.quantities)))
    plot.quantities.push_back(index_of(document, pointer_to("plot", index, "quantities"), experiment.quantities, name));
  plot.methods = names_of(document, index, "methods", names_in(experiment.methods));
  for (const std::string& name : plot.methods)
    index_of(document, pointer_to("plot", index, "methods"), experiment.methods, name);
  plot.keys = names_of(document, index, "keys");
  for (const std::string& key : plot.keys) require_key(document, experiment, pointer_to("plot", index, "keys"), key);
  if (plot.kind == Plot::Kind::stacks && plot.keys.empty())
    document.reject(pointer_to("plot", index, "keys"), "a list of report keys to stack");
  plot.marks = names_of(document, index, "marks");
  plot.cluster = entry.value("cluster", std::size_t{1});
  if (needs_trace(plot.kind) && !experiment.trace)
    document.reject(pointer_to("plot", index, "kind"), "another kind, unless trace is true");
  const bool of_quantities = plot.kind != Plot::Kind::stacks && !needs_trace(plot.kind);
  if (of_quantities && plot.quantities.empty())
    document.reject(pointer_to("plot", index, "kind"), "stacks, timeline or workgroups, unless there are quantities");
  read_axes(document, experiment, index, plot);
  if (plot.kind == Plot::Kind::lines) read_x_scale(document, experiment, index, plot);
  return plot;
}

}  // namespace

void read_plots(const Document& document, Experiment& experiment) {
  for (std::size_t i = 0; i < document.content.value("plot", json::array()).size(); ++i)
    experiment.plots.push_back(plot_of(document, experiment, i));
}

}  // namespace t3vp
