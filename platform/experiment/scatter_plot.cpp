#include "experiment/scatter_plot.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/gnuplot.h"
#include "experiment/picture_names.h"
#include "experiment/plot_axes.h"
#include "experiment/point_names.h"
#include "experiment/scatter_points.h"

namespace t3vp {
namespace {

using namespace gnuplot;
using Points = std::vector<ScatterPoint>;

/// Coordinates with their ranges, x first.
std::string block(const std::string& name, const Points& points) {
  std::string text = name + " << EOD\n";
  for (const ScatterPoint& point : points)
    text += numbers(point.x.value, point.x.range, 1) + " " + numbers(point.y.value, point.y.range, 1) + "\n";
  return text + "EOD\n";
}

/// The data blocks, what is drawn of them, and the legend.
struct Drawn {
  std::string data, ranges, points;
  std::vector<std::string> legend;

  void add(const std::string& command) { points += (points.empty() ? "" : ", ") + command; }

  /// Error bars come first: gnuplot blanks a disc around the value of each.
  [[nodiscard]] std::string commands() const { return "plot " + ranges + points; }

  /// The points of a method, or all of them when they are not of methods.
  void add_points(const Points& its, const std::string& method, bool with_ranges, std::size_t index) {
    const std::string name = fmt::format("$points{}", index), look = fmt::format("linecolor rgb {}", colour(index));
    data += block(name, its);
    if (with_ranges)
      ranges += fmt::format("{} using 1:4:2:3:5:6 with xyerrorbars notitle {} pointtype 0, ", name, look);
    add(fmt::format("{} using 1:4 with points title {} {} pointtype {}", name, text_constant(method), look,
                    5 + 2 * (index % 5)));
    if (!method.empty()) legend.push_back(method);
  }

  /// The best y that an x allows changes where a point of the front is reached.
  void add_front(const Points& front, bool higher_x_is_better) {
    data += block("$front", front);
    add(fmt::format("$front using 1:4 with {} title \"Pareto front\" linecolor rgb '#3c3c3c' dashtype 2",
                    higher_x_is_better ? "fsteps" : "steps"));
    add("$front using 1:4 with points notitle linecolor rgb '#3c3c3c' pointtype 6 pointsize 2");
    legend.emplace_back("Pareto front");
  }
};

Drawn drawn(const Plot& plot, const Points& points, const Points& front, bool with_ranges) {
  Drawn result;
  std::size_t index = 0;
  std::vector<std::string> methods = plot.methods;
  if (points.front().method.empty()) methods = {""};
  for (const std::string& method : methods) {
    Points its;
    std::copy_if(points.begin(), points.end(), std::back_inserter(its),
                 [&](const ScatterPoint& point) { return point.method == method; });
    if (!its.empty()) result.add_points(its, method, with_ranges, index++);
  }
  if (plot.kind == Plot::Kind::pareto) result.add_front(front, plot.x_figure.higher_is_better);
  return result;
}

NumericRange range(const Points& points, Coordinate ScatterPoint::*coordinate, Plot::Scale scale) {
  std::vector<double> values;
  for (const ScatterPoint& point : points) {
    const Coordinate& one = point.*coordinate;
    values.push_back(one.value);
    if (one.range) values.insert(values.end(), {one.range->least, one.range->most});
  }
  return {values, scale == Plot::Scale::logarithmic, 0.1};
}

}  // namespace

std::string scatter_plot(const Plot& plot, const Experiment& experiment, const Results& results) {
  constexpr std::size_t drawing = 520, tall = 380, left = 110, above = 40, below = 60;
  const Points points = points_of(plot, experiment, results);
  const Points front = plot.kind == Plot::Kind::pareto ? front_of(plot, points) : Points{};
  const Drawn series = drawn(plot, points, front, experiment.replicates > 1);
  const NumericRange x = range(points, &ScatterPoint::x, plot.x_scale),
                     y = range(points, &ScatterPoint::y, plot.y_scale);
  const std::size_t right = width_of(series.legend) + 70,
                    width = std::max(left + drawing + right, width_of({plot.title}) + left),
                    height = above + tall + below;
  const double across = static_cast<double>(width - left - right), up = tall;
  std::vector<NamedPoint> names;
  for (const Points* list : {&front, &points})  // those of the front have precedence
    for (const ScatterPoint& point : *list) {
      const NamedPoint named{across * x.share(point.x.value), up * y.share(point.y.value),
                             experiment.cases[point.case_index].name};
      const auto is_same = [&](const NamedPoint& other) {
        return other.x == named.x && other.y == named.y && other.name == named.name;
      };
      if (std::none_of(names.begin(), names.end(), is_same)) names.push_back(named);
    }
  const auto share = [](std::size_t part, std::size_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
  };
  return header(plot.file + ".svg", width, height) +
         fmt::format(
             "set title {}\nset xlabel {}\nset ylabel {}\nset key outside right top\nset grid xtics\n"
             "set lmargin at screen {:.4f}\nset rmargin at screen {:.4f}\n"
             "set tmargin at screen {:.4f}\nset bmargin at screen {:.4f}\n",
             text_constant(plot.title), text_constant(title_of(experiment, plot.x_figure)),
             text_constant(title_of(experiment, plot.y_figure)), share(left, width), 1 - share(right, width),
             1 - share(above, height), share(below, height)) +
         x.commands("x") + x.tics("x") + y.commands("y") + y.tics("y") + point_names(names, across, up) + series.data +
         series.commands() + "\n";
}

}  // namespace t3vp
