#include "experiment/correlation_plots.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/gnuplot.h"
#include "experiment/plot_axes.h"
#include "io/output_file.h"

namespace t3vp {
namespace {

using namespace gnuplot;
namespace fs = std::filesystem;

constexpr double band = 0.1;  // of the measured value

/// The values of a file with the same unit that are there.
struct Correlation {
  std::string name, file, unit;
  std::vector<const Prediction*> points;

  std::vector<std::string> quantities() const {
    std::vector<std::string> found;
    for (const Prediction* point : points)
      if (std::find(found.begin(), found.end(), point->measurement->quantity) == found.end())
        found.push_back(point->measurement->quantity);
    return found;
  }
};

std::string stem_of(const std::string& file) { return fs::path(file).stem().string(); }

std::string rates_of(const std::string& stem) { return stem + "-rates"; }

std::string name_of(const Measurement& value) {
  return value.unit == "GB/s" ? rates_of(stem_of(value.file)) : stem_of(value.file);
}

std::vector<Correlation> correlations_of(const std::vector<Prediction>& predictions) {
  std::vector<Correlation> all;
  for (const Prediction& one : predictions) {
    if (!one.has_ratio()) continue;
    const std::string name = name_of(*one.measurement);
    auto found = std::find_if(all.begin(), all.end(), [&](const Correlation& other) { return other.name == name; });
    if (found == all.end()) found = all.insert(all.end(), {name, one.measurement->file, one.measurement->unit, {}});
    found->points.push_back(&one);
  }
  return all;
}

std::string points_of(const Correlation& correlation, const std::string& quantity, const std::string& block) {
  std::string text = block + " << EOD\n";
  for (const Prediction* point : correlation.points)
    if (point->measurement->quantity == quantity)
      text += number(point->measurement->measured) + " " + number(point->simulated) + "\n";
  return text + "EOD\n";
}

std::string script_of(const Correlation& correlation) {
  constexpr std::size_t side = 420, left = 90, above = 40, below = 60;
  const std::vector<std::string> quantities = correlation.quantities();
  const std::size_t right = width_of(quantities) + 110, width = left + side + right, height = above + side + below;
  std::vector<double> values;
  for (const Prediction* point : correlation.points)
    for (const double value : {point->measurement->measured, point->simulated}) values.push_back(value);
  const NumericRange range(values, true, 0.1);
  std::string data, plots = fmt::format(
                        "x * {} with lines notitle linecolor rgb '#9aa5b1' dashtype 2, "
                        "x * {} with lines title \"{:.0f}% off\" linecolor rgb '#9aa5b1' dashtype 2, "
                        "x with lines title \"equal\" linecolor rgb '#3c3c3c'",
                        1 + band, 1 - band, 100 * band);
  for (std::size_t i = 0; i < quantities.size(); ++i) {
    const std::string block = fmt::format("$points{}", i);
    data += points_of(correlation, quantities[i], block);
    plots += fmt::format(", {} using 1:2 with points title {} linecolor rgb {} pointtype {}", block,
                         text_constant(quantities[i]), colour(i), 5 + 2 * (i % 5));
  }
  const auto share = [](std::size_t part, std::size_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
  };
  return header(correlation.name + ".svg", width, height) +
         fmt::format(
             "set title {}\nset xlabel {}\nset ylabel {}\nset key outside right top\nset grid xtics\n"
             "set lmargin at screen {:.4f}\nset rmargin at screen {:.4f}\n"
             "set tmargin at screen {:.4f}\nset bmargin at screen {:.4f}\n",
             text_constant(correlation.file), text_constant("measured, " + correlation.unit),
             text_constant("simulated, " + correlation.unit), share(left, width), 1 - share(right, width),
             1 - share(above, height), share(below, height)) +
         range.commands("x") + range.tics("x") + range.commands("y") + range.tics("y") + data + "plot " + plots + "\n";
}

}  // namespace

std::vector<std::string> correlation_names() {
  std::vector<std::string> names;
  for (const std::string& file : simulated_files())
    for (const std::string& name : {stem_of(file), rates_of(stem_of(file))}) names.push_back(name);
  return names;
}

Pictures draw_correlations(const std::vector<Prediction>& predictions, const fs::path& folder) {
  Pictures pictures;
  for (const Correlation& one : correlations_of(predictions)) {
    write_text(folder / (one.name + ".gnuplot"), script_of(one));
    const Drawing drawing = draw(folder, one.name);
    if (drawing.missing)
      pictures.gnuplot_missing = true;
    else if (drawing.failure.empty())
      pictures.files.push_back(one.name + ".svg");
    else
      pictures.failures.push_back(fmt::format("{}: no picture: {}", one.file, drawing.failure));
  }
  return pictures;
}

}  // namespace t3vp
