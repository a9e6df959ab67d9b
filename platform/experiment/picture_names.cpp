#include "experiment/picture_names.h"

#include "io/described_keys.h"
#include "report/metric_names.h"

namespace t3vp {
namespace {

/// "links bandwidth (GB/s)" of system.links.bandwidth_GBps.
std::string title_of_key(const std::string& key) {
  const auto last = key.rfind('.'), before = last == 0 || last == std::string::npos ? last : key.rfind('.', last - 1);
  const std::string words = words_of_key(before == std::string::npos ? key : key.substr(before + 1));
  std::string unit = unit_of_key(key);
  for (const DescribedKey& described : described_keys())
    if (unit.empty() && key == described.path) unit = described.unit;
  return unit.empty() ? words : words + " (" + unit + ")";
}

}  // namespace

std::string label_of(const Experiment& experiment, const std::string& name) {
  const auto found = experiment.labels.find(name);
  return found == experiment.labels.end() ? name : found->second;
}

std::string label_of_metric(const Experiment& experiment, const std::string& key) {
  return experiment.labels.count(key) != 0 ? label_of(experiment, key) : name_of_metric(key);
}

std::string title_of(const Experiment& experiment, const PlottedFigure& figure) {
  if (figure.source == PlottedFigure::Source::quantity || experiment.labels.count(figure.name) != 0)
    return label_of(experiment, figure.name);
  return figure.source == PlottedFigure::Source::axis ? title_of_key(figure.name) : title_of_metric(figure.name);
}

std::string title_of(const Experiment& experiment, const ExperimentAxis& axis) {
  if (axis.key.empty() || experiment.labels.count(axis.key) != 0) return label_of(experiment, axis.key);
  return title_of_key(axis.key);
}

}  // namespace t3vp
