#include "experiment/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "experiment/case_product.h"
#include "experiment/gnuplot.h"
#include "experiment/picture_names.h"
#include "experiment/plot_axes.h"

namespace t3vp {
namespace {

using namespace gnuplot;

double share(std::size_t part, std::size_t whole) { return static_cast<double>(part) / static_cast<double>(whole); }

}  // namespace

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
      titles.push_back(joined_names(name_of(experiment, choice, {plot.x, plot.y}),
                                    label_of(experiment, experiment.quantities[q].name)));
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
