// What pictures call quantities, methods, metrics and axes: the experiment's labels, and words where it has none.
#pragma once

#include <string>

#include "experiment/experiment.h"

namespace t3vp {

/// The label of a quantity or method; its name where it has none.
std::string label_of(const Experiment& experiment, const std::string& name);
/// The label of a report's metric in a legend; without one, its name for people.
std::string label_of_metric(const Experiment& experiment, const std::string& key);
/// The title of an axis along which the report's metric, a quantity or a key of the run changes, with its unit.
std::string title_of(const Experiment& experiment, const PlottedFigure& figure);
/// The same of an axis of cross; empty when it is a list of cases.
std::string title_of(const Experiment& experiment, const ExperimentAxis& axis);

}  // namespace t3vp
