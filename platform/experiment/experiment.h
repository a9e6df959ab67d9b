// An experiment file: a table of runs, cases by methods, and what is computed from their reports.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiment/expression.h"
#include "io/json_document.h"

namespace t3vp {

struct ExperimentCase {
  std::string name;
  std::vector<std::string> tags;      ///< the names it is made of; filters choose by them
  std::vector<std::string> settings;  ///< "path=value"
  std::string pointer;                ///< where in the file
};

/// A side of the table that the cases make up.
struct ExperimentAxis {
  std::vector<std::string> names;
  std::string key;              ///< that it changes, where it is one
  std::vector<double> numbers;  ///< values of the key; empty when they are no numbers
};

struct ExperimentMethod {
  std::string name;
  std::vector<std::string> settings;  ///< the method itself among them; they come after the case's
  std::string pointer;
};

/// Computed for every case.
struct Quantity {
  std::string name;
  Expression value;
};

/// Each entry holds alternatives: a case is chosen when it has a tag of every entry.
using CaseFilter = std::vector<std::vector<std::string>>;

enum class Aggregate { geomean, mean, max, min };

struct Target {
  std::string id, text;
  std::size_t quantity = 0;
  Aggregate aggregate = Aggregate::geomean;
  CaseFilter cases;
  std::optional<double> reference;
  std::optional<double> within, within_relative, at_least, at_most;
};

/// What the points of a scatter plot have along one of its axes.
struct PlottedFigure {
  enum class Source { axis, quantity, report };
  std::string name;  ///< the axis's key, the quantity, or the report's figure
  Source source = Source::report;
  std::size_t index = 0;  ///< of the axis or the quantity
  bool higher_is_better = false;
};

struct Plot {
  enum class Kind { bars, stacks, timeline, workgroups, lines, heat_map, scatter, pareto };
  enum class Scale { categories, linear, logarithmic };
  std::string file, title, unit;
  Kind kind = Kind::bars;
  std::vector<std::size_t> quantities;
  std::vector<std::string> keys, methods;
  std::optional<double> baseline;    ///< of bars and lines: a line is drawn there
  std::vector<double> x_values;      ///< of lines: one for each quantity, which are the points of each case's line
  std::string x_label;               ///< title of the axis of these
  std::size_t x = 0, y = 0;          ///< axes of the experiment: of lines and heat maps, of heat maps
  PlottedFigure x_figure, y_figure;  ///< of scatter and Pareto plots
  std::vector<std::string> marks;    ///< of workgroups: instants that are drawn
  std::size_t cluster = 1;           ///< of workgroups: so many that follow each other are sorted by when they are done
  double divide_by = 1;
  Scale x_scale = Scale::categories, y_scale = Scale::linear;  ///< of lines, scatter and Pareto plots
};

/// The options of the command line that change an experiment.
struct ExperimentOptions {
  std::vector<std::string> settings;   ///< "path=value"
  std::optional<unsigned> replicates;  ///< in place of the file's
  std::vector<std::string> cases;      ///< names or tags of those that are run; none: all
};

struct Experiment {
  std::filesystem::path file;
  std::string name, description;
  Document base;  ///< the run file
  bool trace = false;
  bool shared_phases = false;        ///< ideal methods take equal phases from runs of other methods
  unsigned replicates = 1;           ///< of every run; all but the first have jitter
  bool names_programs = false;       ///< runs may have phases of any name
  std::vector<ExperimentAxis> axes;  ///< the cases are their product, the last axis running fastest
  std::vector<ExperimentCase> cases;
  std::vector<ExperimentMethod> methods;
  std::vector<std::string> settings;  ///< of every run, after those of its case and method
  std::vector<Quantity> quantities;
  std::map<std::string, std::string> labels;  ///< what pictures call quantities, methods, metrics and keys
  std::vector<Target> targets;
  std::vector<Plot> plots;
  std::vector<std::string> left_out;  ///< plots and targets that need cases which are not run
};

/// Loads and checks an experiment file but for its runs, which make_plan() checks. Throws InputError.
Experiment load_experiment(const std::filesystem::path& file, const ExperimentOptions& options = {});

bool chosen(const ExperimentCase& one, const CaseFilter& filter);
const char* name_of(Aggregate aggregate);

}  // namespace t3vp
