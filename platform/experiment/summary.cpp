#include "experiment/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "experiment/scatter_points.h"

namespace t3vp {
namespace {

using Lines = std::vector<std::vector<std::string>>;

std::string in_short(double value) { return std::isnan(value) ? "" : fmt::format("{:.4g}", value); }

/// Three significant digits, those behind the point too when they are zeros.
std::string three_digits(double value) {
  if (std::isnan(value)) return "";
  return std::abs(value) < 999.5 ? fmt::format("{:#.3g}", value) : fmt::format("{:.0f}", value);
}

/// Text as Markdown shows it: a bar would end a table's cell, and what looks like a tag would vanish.
std::string plain(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '<') {
      escaped += "&lt;";
      continue;
    }
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string table(Lines lines) {
  for (auto& line : lines)
    for (std::string& cell : line) cell = plain(cell);
  std::vector<std::size_t> widths(lines.front().size(), 3);
  for (const auto& line : lines)
    for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], line[c].size());
  std::string text;
  for (const auto& line : lines) {
    for (std::size_t c = 0; c < line.size(); ++c) text += fmt::format("| {:<{}} ", line[c], widths[c]);
    text += "|\n";
    if (&line != &lines.front()) continue;
    for (const std::size_t width : widths) text += fmt::format("|{:-<{}}", "", width + 2);
    text += "|\n";
  }
  return text;
}

/// A value and, with replicates, how far it varies.
std::string with_range(const std::string& value, const std::optional<ValueRange>& range) {
  return range ? value + ", " + text_of(*range) : value;
}

/// There is none where a value is not positive.
std::string geomean(const std::vector<double>& column) {
  if (std::any_of(column.begin(), column.end(), [](double value) { return value <= 0; })) return "-";
  return in_short(aggregate(Aggregate::geomean, column));
}

std::string quantities_table(const Experiment& experiment, const Results& results) {
  Lines lines{{"case"}};
  std::vector<std::vector<double>> columns(experiment.quantities.size());
  for (const Quantity& quantity : experiment.quantities) lines.front().push_back(quantity.name);
  for (std::size_t c = 0; c < experiment.cases.size(); ++c) {
    lines.push_back({experiment.cases[c].name});
    for (std::size_t q = 0; q < columns.size(); ++q) {
      columns[q].push_back(results.value_of(q, c));
      lines.back().push_back(with_range(in_short(columns[q].back()), results.range_of(q, c)));
    }
  }
  if (experiment.cases.size() > 1) {
    lines.push_back({"geomean"});
    for (std::size_t q = 0; q < columns.size(); ++q)
      lines.back().push_back(with_range(geomean(columns[q]), results.range_of_geomean(q)));
  }
  return table(lines);
}

/// Which algorithms the collectives of each method use, for a reader of the comparisons.
std::string algorithms_table(const Experiment& experiment, const Results& results) {
  Lines lines{{"method", "collectives"}};
  for (const ExperimentMethod& method : experiment.methods) {
    std::set<std::string> uses;
    for (std::size_t c = 0; c < experiment.cases.size(); ++c) uses.insert(results.algorithms(c, method.name));
    uses.erase("");
    if (uses.size() == 1) lines.push_back({method.name, *uses.begin()});
    if (uses.size() > 1) lines.push_back({method.name, "by case: columns algorithms.* of results.csv"});
  }
  return lines.size() == 1 ? "" : "\n## Collective algorithms\n\n" + table(lines);
}

std::string comparison_table(std::vector<Comparison> comparisons) {
  std::stable_partition(comparisons.begin(), comparisons.end(),
                        [](const Comparison& c) { return c.verdict == "missed"; });
  Lines lines{{"target", "paper", "ours", "difference", "tolerance", "verdict"}};
  for (const Comparison& c : comparisons)
    lines.push_back({c.text, c.reference, three_digits(c.ours),
                     c.difference ? fmt::format("{:+.3g}", *c.difference) : "", c.tolerance, c.verdict});
  return table(lines);
}

std::string front_table(const Plot& plot, const Experiment& experiment, const Results& results) {
  Lines lines{{"case", "method", plot.x_figure.name, plot.y_figure.name}};
  for (const ScatterPoint& point : front_of(plot, points_of(plot, experiment, results)))
    lines.push_back({experiment.cases[point.case_index].name, point.method,
                     with_range(in_short(point.x.value), point.x.range),
                     with_range(in_short(point.y.value), point.y.range)});
  return fmt::format("\n## Pareto front: {}\n\n{}", plain(plot.title), table(lines));
}

/// Points of a picture that have no value are named, so that a reader does not miss them.
std::string missing_points(const Plot& plot, const Experiment& experiment, const Results& results) {
  std::vector<std::string> names;
  for (const ScatterPoint& point : points_without_value(plot, experiment, results))
    names.push_back(experiment.cases[point.case_index].name + (point.method.empty() ? "" : ", " + point.method));
  if (names.empty()) return "";
  return fmt::format("\nNot drawn in {}, for want of a value: {}.\n", plain(plot.file),
                     plain(fmt::format("{}", fmt::join(names, "; "))));
}

std::string failure_list(const Results& results) {
  std::string text = "\n## Failed runs\n\n";
  for (const auto& failure : results.failures())
    text += fmt::format("- {}: {} ({})\n", plain(failure.second.rows), plain(failure.second.reason),
                        failure.second.log.string());
  return text;
}

}  // namespace

std::string summary(const Experiment& experiment, const Results& results, const std::vector<std::string>& pictures) {
  std::string text = fmt::format("# {}\n\n", plain(experiment.name));
  if (!experiment.description.empty()) text += plain(experiment.description) + "\n\n";
  for (const std::string& setting : experiment.settings) text += plain("Set for every run: " + setting) + "\n\n";
  for (const std::string& part : experiment.left_out)
    text += plain("Left out: " + part + ", which needs cases that are not run") + "\n\n";
  if (experiment.replicates > 1)
    text += fmt::format(
        "Each run has {} replicates. Beside a value are the least and the most of them, and the spread over the "
        "median.\n\n",
        experiment.replicates);
  if (!experiment.quantities.empty()) text += quantities_table(experiment, results);
  if (!experiment.targets.empty()) text += "\n## Against the reference\n\n" + comparison_table(results.comparisons());
  text += algorithms_table(experiment, results);
  for (const Plot& plot : experiment.plots)
    if (plot.kind == Plot::Kind::pareto) text += front_table(plot, experiment, results);
  for (const Plot& plot : experiment.plots)
    if (plot.kind == Plot::Kind::pareto || plot.kind == Plot::Kind::scatter)
      text += missing_points(plot, experiment, results);
  if (!results.failures().empty()) text += failure_list(results);
  for (const std::string& picture : pictures) text += fmt::format("\n![{}]({})\n", picture, picture);
  return text;
}

}  // namespace t3vp
