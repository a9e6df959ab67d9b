#include "experiment/plot_axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>

#include "experiment/gnuplot.h"

namespace t3vp {

using namespace gnuplot;
using TickLabels = std::vector<std::pair<std::string, double>>;

std::string labels_of(const std::vector<std::string>& entries) {
  TickLabels labels;
  for (const std::string& entry : entries) labels.emplace_back(entry, labels.size());
  return tick_labels(labels);
}

XLabels::XLabels(const std::vector<std::string>& entries, std::size_t pixels_per_entry) {
  if (width_of(entries) + 10 <= pixels_per_entry) return;
  rotation = "rotate by 45 right";
  room = static_cast<std::size_t>(0.71 * static_cast<double>(width_of(entries))) + 30;
}

NumericRange::NumericRange(const std::vector<double>& values, bool logarithmic, double room)
    : logarithmic_(logarithmic) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  if (least > most) least = most = 1;
  least_ = least;
  most_ = most;
  const double from = along(least), to = along(most);
  const double same = logarithmic ? 0.1 : from != 0 ? 0.1 * std::abs(from) : 1;  // room around a single value
  const double around = to > from ? room * (to - from) : same;
  begin_ = from - around;
  end_ = to + around;
}

double NumericRange::along(double value) const { return logarithmic_ ? std::log10(value) : value; }

double NumericRange::share(double value) const { return (along(value) - begin_) / (end_ - begin_); }

std::string NumericRange::commands(const std::string& axis) const {
  const auto back = [&](double along) { return logarithmic_ ? std::pow(10, along) : along; };
  return fmt::format("{}set {}range [{:.9g}:{:.9g}]\n", logarithmic_ ? "set logscale " + axis + "\n" : "", axis,
                     back(begin_), back(end_));
}

std::vector<std::pair<std::string, double>> NumericRange::digit_tics(const std::vector<double>& digits) const {
  TickLabels labels;
  for (double decade = std::floor(begin_); decade <= end_; ++decade)
    for (const double digit : digits)
      if (const double tic = digit * std::pow(10, decade); along(tic) >= begin_ && along(tic) <= end_)
        labels.emplace_back(number(tic), tic);
  return labels;
}

std::string NumericRange::tics(const std::string& axis) const {
  constexpr double most_decades = 3;
  if (!logarithmic_ || end_ - begin_ > most_decades) return "";
  TickLabels labels = digit_tics({1, 2, 5});
  if (labels.size() < 3) labels = digit_tics({1, 2, 3, 4, 5, 6, 7, 8, 9});
  if (labels.size() < 2) labels = {{fmt::format("{:.4g}", least_), least_}, {fmt::format("{:.4g}", most_), most_}};
  if (least_ == most_) labels.resize(1);
  return fmt::format("set {}tics {}\n", axis, tick_labels(labels));
}

namespace {

/// Entries in the order of their numbers, or as they are.
std::vector<std::size_t> order_of(const ExperimentAxis& axis, bool numeric) {
  std::vector<std::size_t> order(axis.names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (numeric)
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return axis.numbers[a] < axis.numbers[b]; });
  return order;
}

/// A name that has its number among its words is written as the number: the axis' title says the rest.
std::vector<std::string> tick_texts(const ExperimentAxis& axis, bool numeric) {
  std::vector<std::string> texts = axis.names;
  for (std::size_t i = 0; numeric && i < texts.size(); ++i) {
    const std::string number_text = fmt::format("{}", axis.numbers[i]);
    std::istringstream words(texts[i]);
    for (std::string word; words >> word;)
      if (word == number_text) texts[i] = number_text;
  }
  return texts;
}

}  // namespace

LineAxis::LineAxis(const ExperimentAxis& axis, Plot::Scale scale, std::size_t pixels)
    : axis_(axis),
      scale_(scale),
      texts_(tick_texts(axis, is_numeric())),
      order_(order_of(axis, is_numeric())),
      range_(is_numeric() ? axis.numbers : std::vector<double>{}, scale == Plot::Scale::logarithmic) {
  const std::size_t step = std::clamp<std::size_t>(pixels / axis.names.size(), 40, 160);
  width_ = is_numeric() ? pixels : step * axis.names.size();
  double nearest = 1;  // as a share of the axis
  for (std::size_t i = 1; is_numeric() && i < order_.size(); ++i)
    nearest = std::min(nearest, range_.share(place(order_[i])) - range_.share(place(order_[i - 1])));
  labels_ = XLabels(texts_, is_numeric() ? static_cast<std::size_t>(nearest * static_cast<double>(width_)) : step);
}

double LineAxis::place(std::size_t entry) const {
  return is_numeric() ? axis_.numbers[entry] : static_cast<double>(entry);
}

std::string LineAxis::commands() const {
  if (is_numeric()) return numeric_commands();
  return fmt::format("set xrange [-0.5:{}.5]\nset xtics {} {}\n", axis_.names.size() - 1, labels_.rotation,
                     labels_of(texts_));
}

/// A label that would touch the one before is left out.
std::string LineAxis::numeric_commands() const {
  constexpr double least_distance = 16;  // pixels between labels that lie at 45 degrees
  TickLabels labels;
  for (const std::size_t entry : order_) {
    const auto distance = [&] { return range_.share(place(entry)) - range_.share(labels.back().second); };
    if (labels.empty() || distance() * static_cast<double>(width_) >= least_distance)
      labels.emplace_back(texts_[entry], place(entry));
  }
  return range_.commands("x") + fmt::format("set xtics {} {}\n", labels_.rotation, tick_labels(labels));
}

}  // namespace t3vp
