#include "experiment/scatter_points.h"

#include <algorithm>
#include <cmath>

namespace t3vp {
namespace {

/// A case's first tag is its entry on the first axis, and so on.
double number_on(const ExperimentAxis& axis, const std::string& tag) {
  const auto found = std::find(axis.names.begin(), axis.names.end(), tag);
  return axis.numbers[static_cast<std::size_t>(found - axis.names.begin())];
}

Coordinate coordinate(const PlottedFigure& figure, const Experiment& experiment, const Results& results,
                      std::size_t case_index, const std::string& method) {
  switch (figure.source) {
    case PlottedFigure::Source::axis:
      return {number_on(experiment.axes[figure.index], experiment.cases[case_index].tags[figure.index]), {}};
    case PlottedFigure::Source::quantity:
      return {results.value_of(figure.index, case_index), results.range_of(figure.index, case_index)};
    case PlottedFigure::Source::report:
      break;
  }
  return {results.value_of(figure.name, case_index, method), results.range_of(figure.name, case_index, method)};
}

bool has_values(const ScatterPoint& point) { return std::isfinite(point.x.value) && std::isfinite(point.y.value); }

std::vector<ScatterPoint> all_points_of(const Plot& plot, const Experiment& experiment, const Results& results) {
  const bool by_method =
      plot.x_figure.source == PlottedFigure::Source::report || plot.y_figure.source == PlottedFigure::Source::report;
  std::vector<ScatterPoint> points;
  for (const std::string& method : by_method ? plot.methods : std::vector<std::string>{""})
    for (std::size_t c = 0; c < experiment.cases.size(); ++c) {
      points.push_back({c, method, coordinate(plot.x_figure, experiment, results, c, method),
                        coordinate(plot.y_figure, experiment, results, c, method)});
    }
  return points;
}

}  // namespace

std::vector<ScatterPoint> points_of(const Plot& plot, const Experiment& experiment, const Results& results) {
  std::vector<ScatterPoint> points = all_points_of(plot, experiment, results);
  points.erase(std::remove_if(points.begin(), points.end(), [](const auto& point) { return !has_values(point); }),
               points.end());
  return points;
}

std::vector<ScatterPoint> points_without_value(const Plot& plot, const Experiment& experiment, const Results& results) {
  std::vector<ScatterPoint> points = all_points_of(plot, experiment, results);
  points.erase(std::remove_if(points.begin(), points.end(), has_values), points.end());
  return points;
}

std::vector<ScatterPoint> front_of(const Plot& plot, std::vector<ScatterPoint> points) {
  const auto better = [](const PlottedFigure& figure, const Coordinate& a, const Coordinate& b) {
    return figure.higher_is_better ? a.value > b.value : a.value < b.value;
  };
  std::stable_sort(points.begin(), points.end(), [&](const ScatterPoint& a, const ScatterPoint& b) {
    return a.x.value != b.x.value ? better(plot.x_figure, a.x, b.x) : better(plot.y_figure, a.y, b.y);
  });
  std::vector<ScatterPoint> front;  // from the best x on: what follows has to be better in y
  for (const ScatterPoint& point : points)
    if (front.empty() || better(plot.y_figure, point.y, front.back().y) ||
        (point.x.value == front.back().x.value && point.y.value == front.back().y.value))
      front.push_back(point);
  if (plot.x_figure.higher_is_better) std::reverse(front.begin(), front.end());
  return front;
}

}  // namespace t3vp
