#include "experiment/bar_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiment/category_axis.h"
#include "experiment/gnuplot.h"
#include "experiment/picture_names.h"

namespace t3vp {
namespace {

using namespace gnuplot;

constexpr double small_difference = 0.05;  // as a share of the largest: people need the numbers to see it
constexpr std::size_t drawing = 320;       // pixels of the y axis

/// Values from the least to the most.
struct Span {
  double least = std::numeric_limits<double>::infinity(), most = -least;

  void include(double value) {
    if (!std::isfinite(value)) return;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  bool is_empty() const { return least > most; }
  /// Digits behind the point for about four significant ones.
  int decimals() const {
    const double largest = std::max(std::abs(least), std::abs(most));
    return is_empty() || largest == 0 ? 0 : std::clamp(3 - static_cast<int>(std::floor(std::log10(largest))), 0, 6);
  }
  /// Values that differ, but not by much.
  bool is_narrow() const { return least > 0 && most > least && most - least <= small_difference * most; }
};

/// Whether some bars of a case, or all bars where a case has one, are nearly as high as each other.
bool are_near(const std::vector<std::vector<double>>& cases) {
  Span all;
  for (const std::vector<double>& values : cases) {
    std::vector<double> sorted;
    for (const double value : values) {
      all.include(value);
      if (std::isfinite(value)) sorted.push_back(value);
    }
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 1; i < sorted.size(); ++i) {
      Span pair;
      pair.include(sorted[i - 1]);
      pair.include(sorted[i]);
      if (pair.is_narrow()) return true;
    }
  }
  return all.is_narrow();
}

/// The y axis of bars.
struct Height {
  double from = 0, to = 1;

  /// `above`: pixels for what is written above the highest bar.
  Height(Span values, std::optional<double> baseline, std::size_t above) {
    if (values.is_empty()) values.include(0);
    const bool is_narrow = values.is_narrow();
    if (baseline) values.include(*baseline);
    from = std::min(0.0, 1.05 * values.least);
    if (is_narrow) from = values.least - 0.25 * (values.most - values.least);
    const double share = 0.04 + static_cast<double>(above) / static_cast<double>(drawing);
    to = values.most > from ? from + (values.most - from) / (1 - share) : from + 1;
  }
  /// Readers compare lengths of bars, which begin at 0 unless they are told otherwise.
  std::string note() const { return from > 0 ? " (axis not from 0)" : ""; }
};

using Cases = std::vector<ExperimentCase>;

/// Cases that stand beside each other.
struct Row {
  std::size_t first;
  CategoryAxis axis;
};

/// Wide pictures become small on a page, so that their cases stand in several rows, each of whole groups.
struct Rows {
  std::vector<Row> rows;

  Rows(const Cases& cases, std::size_t bars, const std::vector<std::string>& texts, std::size_t least_bar_pixels) {
    constexpr std::size_t wide = 1100;
    const auto axis_of = [&](std::size_t first, std::size_t last) {
      const auto at = [&](std::size_t index) { return cases.begin() + static_cast<std::ptrdiff_t>(index); };
      return CategoryAxis(Cases(at(first), at(last)), bars, texts, least_bar_pixels);
    };
    std::vector<std::size_t> begins = CategoryAxis::groups_in(cases);
    const std::size_t count = std::min(axis_of(0, cases.size()).width() / wide + 1, begins.size());
    begins.push_back(cases.size());
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t first = begins[(begins.size() - 1) * i / count],
                        last = begins[(begins.size() - 1) * (i + 1) / count];
      rows.push_back({first, axis_of(first, last)});
    }
  }

  const Row& row_of(std::size_t case_index) const {
    return *std::find_if(rows.rbegin(), rows.rend(), [&](const Row& row) { return row.first <= case_index; });
  }
  double place(std::size_t case_index, std::size_t bar) const {
    const Row& row = row_of(case_index);
    return row.axis.place(case_index - row.first, bar);
  }
  std::size_t index_of(std::size_t case_index) const {
    return static_cast<std::size_t>(&row_of(case_index) - rows.data());
  }
  template <typename Number>
  std::size_t most(const Number& number) const {
    std::size_t result = 0;
    for (const Row& row : rows) result = std::max(result, number(row.axis));
    return result;
  }
};

/// The data of each row's bars by series, and how a series is drawn of a block of them.
struct Series {
  std::vector<std::string> legend;              ///< "with boxes title ..."
  std::vector<std::vector<std::string>> lines;  ///< by row and series
  std::vector<std::string> commands;            ///< for each series, with {} for its block
};

/// The picture: what bars and stacks have in common.
std::string drawn(const Plot& plot, const Rows& rows, const Height& y, const std::vector<std::string>& names,
                  const Series& series) {
  constexpr std::size_t left = 80;
  const std::size_t across = rows.most([](const CategoryAxis&axis) { return axis.width(); }),
                    overhang = rows.most([](const CategoryAxis&axis) { return axis.overhang(); }),
                    width = std::max(left + across + overhang, width_of_title(plot.title));
  const Legend legend(names, width - left);
  const std::size_t top = title_height + legend.height() + 10;
  std::size_t height = top;
  for (const Row& row : rows.rows) height += drawing + row.axis.room() + 10;
  const auto share = [](std::size_t part, std::size_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
  };
  std::string script = header(plot.file + ".svg", width, height) + "set multiplot\n" + title(plot.title, height);
  for (std::size_t r = 0; r < rows.rows.size(); ++r)
    for (std::size_t i = 0; i < names.size(); ++i)
      script += fmt::format("$bars{}_{} << EOD\n{}EOD\n", r, i, series.lines[r][i]);
  script += legend.drawn(series.legend, height) +
            fmt::format("set ylabel {}\nset yrange [{:.9g}:{:.9g}]\nset lmargin at screen {:.4f}\n{}",
                        text_constant(plot.unit + y.note()), y.from, y.to, share(left, width),
                        plot.baseline ? baseline(*plot.baseline) : "");
  std::size_t above = top;
  for (std::size_t r = 0; r < rows.rows.size(); ++r) {
    const CategoryAxis& axis = rows.rows[r].axis;
    const std::size_t below = height - above - drawing;
    script += fmt::format("set rmargin at screen {:.4f}\nset tmargin at screen {:.4f}\nset bmargin at screen {:.4f}\n",
                          share(left + axis.width(), width), 1 - share(above, height), share(below, height)) +
              axis.commands(below, height);
    std::string plotted;
    for (std::size_t i = 0; i < names.size(); ++i)
      plotted += (plotted.empty() ? "plot " : ", ") +
                 fmt::format(fmt::runtime(series.commands[i]), fmt::arg("block", fmt::format("$bars{}_{}", r, i)));
    script += plotted + "\nunset label\n";
    above += drawing + axis.room() + 10;
  }
  return script + "unset multiplot\n";
}

}  // namespace

std::string bars(const Plot& plot, const Experiment& experiment, const Results& results) {
  const bool has_ranges = experiment.replicates > 1;
  std::vector<std::vector<double>> values;
  std::vector<std::string> names;
  Span span;
  for (const std::size_t q : plot.quantities) names.push_back(label_of(experiment, experiment.quantities[q].name));
  for (std::size_t c = 0; c < experiment.cases.size(); ++c) {
    values.emplace_back();
    for (const std::size_t q : plot.quantities) {
      values.back().push_back(results.value_of(q, c) / plot.divide_by);
      span.include(values.back().back());
      if (const auto range = results.range_of(q, c); has_ranges && range) span.include(range->most / plot.divide_by);
    }
  }
  const bool are_printed = are_near(values);
  constexpr std::size_t upright = 40;  // pixels of a bar above which a value fits
  const Rows rows(experiment.cases, names.size(), {}, are_printed ? 17 : 14);
  const bool are_upright = rows.rows.front().axis.bar_pixels() >= upright;
  Series series;
  series.lines.assign(rows.rows.size(), std::vector<std::string>(names.size()));
  for (std::size_t c = 0; c < values.size(); ++c)
    for (std::size_t i = 0; i < names.size(); ++i)
      series.lines[rows.index_of(c)][i] +=
          fmt::format("{:.6g} {}\n", rows.place(c, i),
                      has_ranges ? numbers(results.value_of(plot.quantities[i], c),
                                           results.range_of(plot.quantities[i], c), plot.divide_by)
                                 : number(values[c][i]));
  for (std::size_t i = 0; i < names.size(); ++i) {
    series.legend.push_back(fmt::format("with boxes title {} linecolor rgb {}", text_constant(names[i]), colour(i)));
    // A bar with its error bar is one thing: gnuplot's yerrorbars blank a disc around the value.
    std::string command =
        has_ranges ? fmt::format("{{block}} using 1:2:3:4:(0.92) with boxerrorbars title {} linecolor rgb {}",
                                 text_constant(names[i]), colour(i))
                   : "{block} using 1:2:(0.92) " + series.legend.back();
    if (are_printed)
      command += fmt::format(", {{block}} using 1:{}:(sprintf('%.{}f', $2)) with labels {} font ',11' notitle",
                             has_ranges ? 4 : 2, span.decimals(),
                             are_upright ? "center offset 0,0.6" : "rotate by 90 left offset 0,0.4");
    series.commands.push_back(command);
  }
  const Height height(span, plot.baseline, !are_printed ? 0 : are_upright ? 20 : 48);
  const char* const ranges = has_ranges ? "set errorbars front linecolor rgb '#3c3c3c'\n" : "";
  return ranges + drawn(plot, rows, height, names, series);
}

std::string stacks(const Plot& plot, const Experiment& experiment, const Results& results) {
  std::vector<std::string> names, methods;
  for (const std::string& key : plot.keys) names.push_back(label_of_metric(experiment, key));
  for (const std::string& method : plot.methods)
    if (plot.methods.size() > 1) methods.push_back(label_of(experiment, method));
  const Rows rows(experiment.cases, plot.methods.size(), methods, methods.empty() ? 14 : 17);
  Series series;
  series.lines.assign(rows.rows.size(), std::vector<std::string>(names.size()));
  Span span;
  span.include(0);
  for (std::size_t c = 0; c < experiment.cases.size(); ++c)
    for (std::size_t m = 0; m < plot.methods.size(); ++m) {
      double below = 0;
      for (std::size_t i = 0; i < plot.keys.size(); ++i) {
        const double value = results.value_of(plot.keys[i], c, plot.methods[m]) / plot.divide_by;
        if (!std::isfinite(value)) continue;
        series.lines[rows.index_of(c)][i] +=
            fmt::format("{:.6g} {} {}\n", rows.place(c, m), number(below), number(below + value));
        below += value;
      }
      span.include(below);
    }
  for (std::vector<std::string>& row : series.lines)
    std::replace(row.begin(), row.end(), std::string(), std::string("? ? ?\n"));
  for (std::size_t i = 0; i < names.size(); ++i) {
    series.legend.push_back(
        fmt::format("with boxes title {} linecolor rgb {}", text_constant(names[i]), colour_of(plot.keys[i], i)));
    series.commands.push_back(
        fmt::format("{{block}} using 1:(($2+$3)/2):($1-0.44):($1+0.44):2:3 with boxxyerror notitle linecolor rgb {}",
                    colour_of(plot.keys[i], i)));
  }
  return drawn(plot, rows, Height(span, {}, 0), names, series);
}

}  // namespace t3vp
