#include "platform/experiment/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "platform/experiment/child_runs.h"
#include "platform/experiment/traffic_timeline.h"
#include "platform/report.h"

namespace t3vp {
namespace {

namespace fs = std::filesystem;

/// A string of gnuplot's in double quotes.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result += c == '"' || c == '\\' || c == '`' ? ' ' : c;
  return result + "\"";
}

std::string number_or_missing(double value) { return std::isnan(value) ? "?" : fmt::format("{:.6g}", value); }

std::string header(const Plot& plot, std::size_t width, std::size_t height) {
  return fmt::format(
      "set terminal svg noenhanced size {},{} font \"sans-serif,12\" background \"white\"\n"
      "set output {}\nset title {}\nset ylabel {}\n"
      "set datafile missing \"?\"\nset border 3\nset tics nomirror\nset grid ytics linecolor rgb \"#dddddd\"\n"
      "set style fill solid 0.9 noborder\nset key outside below\nset yrange [0:*]\n",
      width, height, quoted(plot.file + ".svg"), quoted(plot.title), quoted(plot.unit));
}

std::string colour(std::size_t index) {
  constexpr const char* colours[] = {"#4878a8", "#d9822b", "#7d5ba6", "#5a9367",
                                     "#9aa5b1", "#b8504b", "#c9b458", "#3c3c3c"};
  return colours[index % std::size(colours)];
}

std::size_t width_for(std::size_t bars) { return std::clamp<std::size_t>(300 + 14 * bars, 700, 2400); }

std::string bars(const Plot& plot, const Experiment& experiment, const Results& results) {
  std::string data = "$data << EOD\n", drawn;
  for (std::size_t c = 0; c < experiment.cases.size(); ++c) {
    data += quoted(experiment.cases[c].name);
    for (const std::size_t q : plot.quantities)
      data += " " + number_or_missing(results.value_of(experiment.quantities[q], c) / plot.divide_by);
    data += "\n";
  }
  for (std::size_t i = 0; i < plot.quantities.size(); ++i)
    drawn += fmt::format("{}$data using {}:xtic(1) title {} linecolor rgb \"{}\"", i == 0 ? "plot " : ", ", i + 2,
                         quoted(experiment.quantities[plot.quantities[i]].name), colour(i));
  return header(plot, width_for(experiment.cases.size() * (plot.quantities.size() + 1)), 480) +
         "set style data histograms\nset style histogram clustered gap 1\nset xtics rotate by -35\n" + data + "EOD\n" +
         drawn + "\n";
}

std::string stacks(const Plot& plot, const Experiment& experiment, const Results& results) {
  std::string data = "$data << EOD\n", drawn;
  for (std::size_t c = 0; c < experiment.cases.size(); ++c) {
    for (const std::string& method : plot.methods) {
      data += quoted(experiment.cases[c].name + ", " + method);
      for (const std::string& key : plot.keys)
        data += " " + number_or_missing(results.value_of(key, c, method) / plot.divide_by);
      data += "\n";
    }
    data += "\"\"" + std::string(2 * plot.keys.size(), ' ') + "\n";
  }
  for (std::size_t i = 0; i < plot.keys.size(); ++i)
    drawn += fmt::format("{}$data using {}:xtic(1) title {} linecolor rgb \"{}\"", i == 0 ? "plot " : ", ", i + 2,
                         quoted(plot.keys[i]), colour(i));
  return header(plot, width_for(experiment.cases.size() * (plot.methods.size() + 1)), 560) +
         "set style data histograms\nset style histogram rowstacked\nset boxwidth 0.8\nset xtics rotate by -60\n" +
         data + "EOD\n" + drawn + "\n";
}

/// One panel for each case and method, on common axes.
std::string timelines(const Plot& plot, const Experiment& experiment, const Results& results, const Plan& plan) {
  std::string panels;
  std::size_t count = 0;
  double longest = 0;
  for (const PlannedRow& row : plan.rows) {
    const std::string& method = experiment.methods[row.method_index].name;
    const fs::path trace = results.folder_of(row.gemm) / "trace.json";
    if (std::count(plot.methods.begin(), plot.methods.end(), method) == 0 || !results.row(row) || !row.is_whole())
      continue;
    const TrafficTimeline timeline = read_traffic(trace, figure(*results.row(row), "time_ns.setup"));
    longest = std::max(longest, timeline.end_us());
    panels += "set title " + quoted(experiment.cases[row.case_index].name + ", " + method) + "\n" +
              timeline.panel(fmt::format("$panel{}", count++), colour);
  }
  if (count == 0) return "";
  return header(plot, 1000, 260 * count) + fmt::format("set xlabel \"us\"\nset xrange [0:{:.0f}]\n", longest) +
         fmt::format("set key outside right\nset multiplot layout {},1\n", count) + panels + "unset multiplot\n";
}

std::string script_of(const Plot& plot, const Experiment& experiment, const Results& results, const Plan& plan) {
  switch (plot.kind) {
    case Plot::Kind::bars:
      return bars(plot, experiment, results);
    case Plot::Kind::stacks:
      return stacks(plot, experiment, results);
    case Plot::Kind::timeline:
      break;
  }
  return timelines(plot, experiment, results, plan);
}

}  // namespace

Pictures draw_plots(const Experiment& experiment, const Results& results, const Plan& plan, const fs::path& folder) {
  constexpr int no_such_program = 127;
  Pictures pictures;
  for (const Plot& plot : experiment.plots) {
    const std::string script = script_of(plot, experiment, results, plan);
    if (script.empty()) continue;
    write_text(folder / (plot.file + ".gnuplot"), script);
    const fs::path log = folder / (plot.file + ".log");
    const int code = run_program({"gnuplot", plot.file + ".gnuplot"}, folder, log);
    if (code == 0)
      pictures.files.push_back(plot.file + ".svg");
    else if (code == no_such_program)
      pictures.gnuplot_missing = true;
    else
      pictures.failed.push_back(log);
  }
  return pictures;
}

}  // namespace t3vp
