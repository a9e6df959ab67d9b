#include "experiment/unknown_figures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace t3vp {
namespace {

constexpr std::size_t most_named = 5;

/// Characters to insert, delete or replace on the way from one name to the other.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::string nearest(const std::string& name, const std::set<std::string>& names) {
  std::vector<std::pair<std::size_t, std::string>> list;
  for (const std::string& one : names) list.emplace_back(distance(name, one), one);
  std::sort(list.begin(), list.end());
  std::vector<std::string> first;
  for (std::size_t i = 0; i < std::min(list.size(), most_named); ++i) first.push_back(list[i].second);
  return fmt::format("{}", fmt::join(first, ", "));
}

struct Asked {
  std::string pointer, figure;
};

std::vector<Asked> asked_in(const Experiment& experiment) {
  std::vector<Asked> list;
  for (std::size_t q = 0; q < experiment.quantities.size(); ++q)
    for (const Expression::Reference& reference : experiment.quantities[q].value.references())
      list.push_back({fmt::format("/quantities/{}/value", q), reference.key});
  for (std::size_t p = 0; p < experiment.plots.size(); ++p) {
    const Plot& plot = experiment.plots[p];
    for (std::size_t k = 0; k < plot.keys.size(); ++k)
      list.push_back({fmt::format("/plot/{}/keys/{}", p, k), plot.keys[k]});
    for (const auto& [key, figure] : {std::pair("x", &plot.x_figure), std::pair("y", &plot.y_figure)})
      if (!figure->name.empty() && figure->source == PlottedFigure::Source::report)
        list.push_back({fmt::format("/plot/{}/{}", p, key), figure->name});
  }
  return list;
}

std::set<std::string> names_in(const Plan& plan, const Results& results) {
  std::set<std::string> names;
  for (const PlannedRow& row : plan.rows)
    if (const std::optional<Figures> figures = results.row(row))
      for (const auto& one : *figures)
        if (is_numeric_key(one.first)) names.insert(one.first);
  return names;
}

}  // namespace

std::vector<std::string> unknown_figures(const Experiment& experiment, const Plan& plan, const Results& results) {
  std::vector<Asked> unknown = asked_in(experiment);
  bool any = false;
  for (auto row = plan.rows.begin(); row != plan.rows.end() && !unknown.empty(); ++row)
    if (const std::optional<Figures> figures = results.row(*row)) {
      any = true;
      const auto known = [&](const Asked& asked) { return figures->count(asked.figure) != 0; };
      unknown.erase(std::remove_if(unknown.begin(), unknown.end(), known), unknown.end());
    }
  if (!any || unknown.empty()) return {};
  const std::set<std::string> names = names_in(plan, results);
  std::vector<std::string> lines;
  for (const Asked& asked : unknown)
    lines.push_back(fmt::format("{}: {}: found {}, expected a figure that a run of the experiment reports, such as {}",
                                experiment.file.string(), asked.pointer, asked.figure, nearest(asked.figure, names)));
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  return lines;
}

}  // namespace t3vp
