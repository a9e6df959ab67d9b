#include "experiment/line_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiment/case_product.h"
#include "experiment/gnuplot.h"
#include "experiment/picture_names.h"
#include "experiment/plot_axes.h"

namespace t3vp {
namespace {

using namespace gnuplot;

struct Point {
  double x, value;
  std::optional<ValueRange> range;
};

struct Line {
  std::string panel, name;
  std::vector<Point> points;
};

/// Lines have their panels' order, and the same names in each of them.
struct Panels {
  std::vector<std::string> titles, names;

  explicit Panels(const std::vector<Line>& lines) {
    for (const Line& line : lines) {
      add(titles, line.panel);
      add(names, line.name);
    }
  }
  static void add(std::vector<std::string>& list, const std::string& text) {
    if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
  }
  std::size_t columns() const { return titles.size() == 4 ? 2 : std::min<std::size_t>(3, titles.size()); }
  std::size_t rows() const { return (titles.size() + columns() - 1) / columns(); }
  std::size_t index_of(const Line& line) const {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), line.name) - names.begin());
  }
};

/// What the axes that are not along x say of a line: of which panel it is, and its name there.
std::pair<std::string, std::string> names_of(const Plot& plot, const Experiment& experiment, const Choice& choice,
                                             const std::string& quantity, bool in_panels) {
  constexpr std::size_t none = static_cast<std::size_t>(-1);
  const std::string all = name_of(experiment, choice, {plot.x});
  if (!in_panels) return {"", all.empty() || plot.quantities.size() > 1 ? joined_names(all, quantity) : all};
  if (plot.quantities.size() > 1) return {all, quantity};
  std::size_t last = none;
  std::vector<std::size_t> fixed{plot.x}, others{plot.x};
  for (std::size_t axis = 0; axis < experiment.axes.size(); ++axis)
    if (axis != plot.x) last = axis;
  fixed.push_back(last);
  for (std::size_t axis = 0; axis < experiment.axes.size(); ++axis)
    if (axis != last) others.push_back(axis);
  return {name_of(experiment, choice, fixed), name_of(experiment, choice, others)};
}

std::vector<Line> lines_of(const Plot& plot, const Experiment& experiment, const Results& results,
                           const LineAxis& axis) {
  constexpr std::size_t most_in_a_panel = 6;
  const auto point = [&](double x, std::size_t q, std::size_t c) {
    return Point{x, results.value_of(q, c), results.range_of(q, c)};
  };
  std::vector<Line> lines;
  if (!plot.x_values.empty()) {
    for (std::size_t c = 0; c < experiment.cases.size(); ++c) {
      lines.push_back({"", experiment.cases[c].name, {}});
      for (const std::size_t i : axis.order())
        lines.back().points.push_back(point(plot.x_values[i], plot.quantities[i], c));
    }
    return lines;
  }
  const std::vector<Choice> all = choices(experiment, {plot.x});
  const bool in_panels = all.size() * plot.quantities.size() > most_in_a_panel;
  for (Choice choice : all)
    for (const std::size_t q : plot.quantities) {
      const auto [panel, name] =
          names_of(plot, experiment, choice, label_of(experiment, experiment.quantities[q].name), in_panels);
      lines.push_back({panel, name, {}});
      for (const std::size_t entry : axis.order()) {
        choice[plot.x] = entry;
        lines.back().points.push_back(point(axis.place(entry), q, case_of(experiment, choice)));
      }
      choice[plot.x] = 0;
    }
  return lines;
}

/// A block of data for each line.
std::string data_of(const std::vector<Line>& lines, double divide_by, bool has_ranges) {
  std::string data;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    data += fmt::format("$line{} << EOD\n", i);
    for (const Point& p : lines[i].points)
      data += fmt::format("{:.9g} {}\n", p.x,
                          has_ranges ? numbers(p.value, p.range, divide_by) : number(p.value / divide_by));
    data += "EOD\n";
  }
  return data;
}

/// How the line of this name is drawn, in the legend and in every panel.
std::string look(const std::string& name, std::size_t index) {
  return fmt::format("with linespoints title {} linecolor rgb {} linewidth 1.5 pointtype {} dashtype {}",
                     text_constant(name), colour(index), 4 + (index + 1) % 10, 1 + index / colours_count % 5);
}

std::vector<std::string> entries(const Panels& panels) {
  std::vector<std::string> list;
  for (std::size_t i = 0; i < panels.names.size(); ++i) list.push_back(look(panels.names[i], i));
  return list;
}

/// Error bars come first: gnuplot blanks a disc around the value of each.
std::string drawn(const std::vector<Line>& lines, const std::string& panel, const Panels& panels, bool has_ranges) {
  std::string ranges, values;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].panel != panel) continue;
    const std::size_t index = panels.index_of(lines[i]);
    if (has_ranges)
      ranges +=
          fmt::format("$line{} using 1:2:3:4 with yerrorbars notitle linecolor rgb {} pointtype 0, ", i, colour(index));
    values += fmt::format("{}$line{} using 1:2 {}", values.empty() ? "" : ", ", i, look(lines[i].name, index));
  }
  return "plot " + ranges + values + "\n";
}

NumericRange range_of(const std::vector<Line>& lines, const Plot& plot) {
  std::vector<double> values;
  for (const Line& line : lines)
    for (const Point& p : line.points) {
      values.push_back(p.value / plot.divide_by);
      if (p.range) values.insert(values.end(), {p.range->least / plot.divide_by, p.range->most / plot.divide_by});
    }
  if (plot.baseline) values.push_back(*plot.baseline);
  return {values, plot.y_scale == Plot::Scale::logarithmic};
}

ExperimentAxis axis_of(const Plot& plot, const Experiment& experiment) {
  if (plot.x_values.empty()) return experiment.axes[plot.x];
  ExperimentAxis axis;
  axis.numbers = plot.x_values;
  for (const double value : plot.x_values) axis.names.push_back(number(value));
  return axis;
}

}  // namespace

std::string line_plot(const Plot& plot, const Experiment& experiment, const Results& results) {
  constexpr std::size_t left = 80, between = 56, right = 30, panel_title = 32;
  const bool has_ranges = experiment.replicates > 1;
  const ExperimentAxis x = axis_of(plot, experiment);
  const std::string x_title = plot.x_values.empty() ? title_of(experiment, x) : plot.x_label;
  const std::vector<Line> lines = lines_of(plot, experiment, results, LineAxis(x, plot.x_scale, 480));
  const Panels panels(lines);
  const bool is_one = panels.titles.size() == 1;
  const LineAxis axis(x, plot.x_scale, is_one ? 480 : 290);
  const std::size_t drawing = is_one ? 310 : 220, step = axis.width() + between, x_room = x_title.empty() ? 0 : 24,
                    width = std::max(left + panels.columns() * step - between + right, width_of_title(plot.title));
  const Legend legend(panels.names, width - left);
  const std::size_t top = title_height + legend.height() + 6, row = (is_one ? 4 : panel_title) + drawing + axis.room(),
                    height = top + row * panels.rows() + x_room;
  const auto share = [](std::size_t part, std::size_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
  };
  const NumericRange y = range_of(lines, plot);
  std::string script =
      header(plot.file + ".svg", width, height) + data_of(lines, plot.divide_by, has_ranges) + "set multiplot\n" +
      title(plot.title, height) +
      (x_title.empty() ? ""
                       : fmt::format("set label {} at screen {:.4f}, screen {:.4f} center\n", text_constant(x_title),
                                     0.5 * (1 + share(left - right, width)), share(14, height))) +
      legend.drawn(entries(panels), height) + "set grid xtics\n" + axis.commands() + y.commands("y") + y.tics("y") +
      (plot.baseline ? baseline(*plot.baseline) : "");
  for (std::size_t p = 0; p < panels.titles.size(); ++p) {
    const std::size_t from = left + step * (p % panels.columns()),
                      above = top + row * (p / panels.columns() + 1) - drawing - axis.room();
    script += fmt::format(
        "set lmargin at screen {:.4f}\nset rmargin at screen {:.4f}\nset tmargin at screen {:.4f}\n"
        "set bmargin at screen {:.4f}\nset title {}\nset ylabel {}\n",
        share(from, width), share(from + axis.width(), width), 1 - share(above, height),
        1 - share(above + drawing, height), text_constant(panels.titles[p]),
        text_constant(p % panels.columns() == 0 ? plot.unit : ""));
    script += drawn(lines, panels.titles[p], panels, has_ranges);
  }
  return script + "unset multiplot\n";
}

}  // namespace t3vp
