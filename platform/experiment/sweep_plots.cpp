#include "experiment/sweep_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "experiment/gnuplot.h"
#include "experiment/plot_axes.h"

namespace t3vp {
namespace {

using namespace gnuplot;
using Choice = std::vector<std::size_t>;  ///< an entry of each axis

/// Cases are the axes' product, the last axis running fastest.
std::size_t case_of(const Experiment& experiment, const Choice& choice) {
  std::size_t index = 0;
  for (std::size_t axis = 0; axis < choice.size(); ++axis)
    index = index * experiment.axes[axis].names.size() + choice[axis];
  return index;
}

/// Every choice on the axes that are not in `fixed`, with entry 0 on those that are.
std::vector<Choice> choices(const Experiment& experiment, const std::vector<std::size_t>& fixed) {
  std::vector<Choice> list{Choice(experiment.axes.size(), 0)};
  for (std::size_t axis = 0; axis < experiment.axes.size(); ++axis) {
    if (std::count(fixed.begin(), fixed.end(), axis) != 0) continue;
    std::vector<Choice> longer;
    for (const Choice& choice : list)
      for (std::size_t entry = 0; entry < experiment.axes[axis].names.size(); ++entry) {
        longer.push_back(choice);
        longer.back()[axis] = entry;
      }
    list = std::move(longer);
  }
  return list;
}

/// "entry of the first axis, entry of the second" without the fixed axes.
std::string name_of(const Experiment& experiment, const Choice& choice, const std::vector<std::size_t>& fixed) {
  std::string name;
  for (std::size_t axis = 0; axis < choice.size(); ++axis)
    if (std::count(fixed.begin(), fixed.end(), axis) == 0)
      name += (name.empty() ? "" : ", ") + experiment.axes[axis].names[choice[axis]];
  return name;
}

std::string joined(const std::string& first, const std::string& second) {
  return first.empty() ? second : second.empty() ? first : first + ": " + second;
}

double share(std::size_t part, std::size_t whole) { return static_cast<double>(part) / static_cast<double>(whole); }

}  // namespace

std::string line_plot(const Plot& plot, const Experiment& experiment, const Results& results) {
  const LineAxis axis(experiment.axes[plot.x], plot.x_scale);
  std::vector<std::string> names;
  std::vector<double> values;
  std::string data, drawn;
  for (Choice choice : choices(experiment, {plot.x}))
    for (const std::size_t q : plot.quantities) {
      const std::string line = fmt::format("$line{}", names.size()), quantity = experiment.quantities[q].name,
                        choice_name = name_of(experiment, choice, {plot.x});
      names.push_back(choice_name.empty() || plot.quantities.size() > 1 ? joined(choice_name, quantity) : choice_name);
      drawn += fmt::format("{}{} using 1:2 with linespoints title {} linecolor rgb {} pointtype {} dashtype {}",
                           drawn.empty() ? "plot " : ", ", line, text_constant(names.back()), colour(names.size() - 1),
                           4 + names.size() % 10, 1 + (names.size() - 1) / colours_count % 5);
      if (experiment.replicates > 1)
        drawn += fmt::format(", {} using 1:2:3:4 with yerrorbars notitle linecolor rgb {} pointtype 0", line,
                             colour(names.size() - 1));
      data += line + " << EOD\n";
      for (const std::size_t entry : axis.order()) {
        choice[plot.x] = entry;
        const std::size_t c = case_of(experiment, choice);
        values.push_back(results.value_of(q, c) / plot.divide_by);
        data += fmt::format("{:.9g} {}\n", axis.place(entry),
                            experiment.replicates > 1
                                ? numbers(results.value_of(q, c), results.range_of(q, c), plot.divide_by)
                                : number(values.back()));
      }
      data += "EOD\n";
      choice[plot.x] = 0;
    }
  const NumericRange y(values, plot.y_scale == Plot::Scale::logarithmic);
  const std::size_t legend = width_of(names) + 70, left = 80,
                    width = std::max(left + axis.width() + legend, width_of({plot.title}) + left),
                    height = std::max<std::size_t>(320, 18 * names.size()) + 40 + axis.room();
  return header(plot.file + ".svg", width, height) +
         fmt::format(
             "set title {}\nset ylabel {}\nset key outside right top\nset grid xtics\n"
             "set lmargin at screen {:.4f}\nset rmargin at screen {:.4f}\nset bmargin at screen {:.4f}\n{}{}",
             text_constant(plot.title), text_constant(plot.unit), share(left, width), 1 - share(legend, width),
             share(axis.room(), height), axis.commands(),
             plot.y_scale == Plot::Scale::logarithmic ? y.commands("y") + y.tics("y")
                                                      : "set offsets 0, 0, graph 0.05, graph 0.05\n") +
         data + drawn + "\n";
}

namespace {

/// Values of a quantity, from the least to the most.
struct Range {
  double least = std::numeric_limits<double>::infinity(), most = -least;

  void include(double value) {
    if (!std::isfinite(value)) return;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  /// The colours' scale, which has a length.
  std::string scale() const {
    const double begin = std::isfinite(least) ? least : 0, end = most > begin ? most : begin + 1;
    return fmt::format("set cbrange [{0:.6g}:{1:.6g}]\nset cbtics ({0:.6g}, {1:.6g})\n", begin, end);
  }
};

}  // namespace

std::string heat_map(const Plot& plot, const Experiment& experiment, const Results& results) {
  const std::vector<std::string>&columns = experiment.axes[plot.x].names, &rows = experiment.axes[plot.y].names;
  std::vector<std::string> titles;
  std::vector<Range> ranges;
  std::string data;
  for (const std::size_t q : plot.quantities) {
    ranges.emplace_back();
    for (Choice choice : choices(experiment, {plot.x, plot.y})) {
      data += fmt::format("$panel{} << EOD\n", titles.size());
      titles.push_back(joined(name_of(experiment, choice, {plot.x, plot.y}), experiment.quantities[q].name));
      for (choice[plot.y] = 0; choice[plot.y] < rows.size(); ++choice[plot.y])
        for (choice[plot.x] = 0; choice[plot.x] < columns.size(); ++choice[plot.x]) {
          const double value = results.value_of(q, case_of(experiment, choice)) / plot.divide_by;
          data += fmt::format("{} {} {}\n", choice[plot.x], choice[plot.y], number(value));
          ranges.back().include(value);
        }
      data += "EOD\n";
    }
  }
  const std::size_t panels_per_quantity = titles.size() / ranges.size();

  const std::size_t step = std::clamp<std::size_t>(480 / columns.size(), 50, 120), row_height = 30, above = 50;
  const XLabels labels(columns, step);
  const std::size_t left = width_of(rows) + 40, scale = 110,
                    width = std::max(left + step * columns.size() + scale, width_of({plot.title}) + left),
                    panel = above + row_height * rows.size() + labels.room, height = above + panel * titles.size();
  std::string script =
      header(plot.file + ".svg", width, height) + data +
      fmt::format(
          "unset grid\nunset border\nset style fill solid 1 noborder\nset tics scale 0\n"
          "set palette defined (0 '#f2f2ee', 1 '#6f9bc8')\nset format cb '%.3g'\nset cblabel {}\n"
          "set xrange [-0.5:{}.5]\nset yrange [{}.5:-0.5]\nset xtics {} {}\nset ytics {}\n"
          "set lmargin at screen {:.4f}\nset rmargin at screen {:.4f}\nset multiplot title {}\n",
          text_constant(plot.unit), columns.size() - 1, rows.size() - 1, labels.rotation, labels_of(columns),
          labels_of(rows), share(left, width), 1 - share(scale, width), text_constant(plot.title));
  for (std::size_t p = 0; p < titles.size(); ++p) {
    const std::size_t top = above + panel * p + above;
    script += ranges[p / panels_per_quantity].scale();
    script += fmt::format(
        "set tmargin at screen {:.4f}\nset bmargin at screen {:.4f}\nset title {}\n"
        "plot $panel{} using 1:2:($1-0.5):($1+0.5):($2-0.5):($2+0.5):3 with boxxyerror linecolor palette "
        "notitle, $panel{} using 1:2:(sprintf('%.3g', $3)) with labels notitle\n",
        1 - share(top, height), 1 - share(top + row_height * rows.size(), height), text_constant(titles[p]), p, p);
  }
  return script + "unset multiplot\n";
}

}  // namespace t3vp
