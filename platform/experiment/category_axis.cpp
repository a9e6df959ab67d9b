#include "experiment/category_axis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "experiment/gnuplot.h"

namespace t3vp {
namespace {

constexpr std::size_t most_bar_pixels = 44, least_width = 480, most_width = 2000;
constexpr std::size_t line = 20;     // pixels of a line of text
constexpr double slope = 0.71;       // of names at 45 degrees
constexpr double between_cases = 1;  // in widths of a bar
constexpr double between_groups = 1.5;

/// The entries of all axes but the last.
std::string group_of(const ExperimentCase& one) {
  return fmt::format("{}", fmt::join(one.tags.begin(), one.tags.end() - 1, " "));
}

}  // namespace

std::vector<std::size_t> CategoryAxis::groups_in(const std::vector<ExperimentCase>& cases) {
  std::vector<std::size_t> begins;
  for (std::size_t c = 0; c < cases.size(); ++c)
    if (c == 0 || group_of(cases[c]).empty() || group_of(cases[c]) != group_of(cases[c - 1])) begins.push_back(c);
  return begins;
}

CategoryAxis::CategoryAxis(const std::vector<ExperimentCase>& cases, std::size_t bars,
                           const std::vector<std::string>& texts, std::size_t least_bar_pixels)
    : bars_(bars), bar_pixels_(least_bar_pixels), texts_(texts) {
  if (!texts.empty()) texts_height_ = gnuplot::width_of(texts) + 12;
  std::vector<Name> whole;
  for (std::size_t c = 0; c < cases.size(); ++c) {
    whole.push_back({cases[c].name, c, c});
    cases_.push_back({cases[c].tags.back(), c, c});
    const std::string group = group_of(cases[c]);
    if (group.empty()) continue;
    if (groups_.empty() || groups_.back().text != group) groups_.push_back({group, c, c});
    groups_.back().last = c;
  }
  const bool has_groups = !groups_.empty() && groups_.size() < cases.size();
  if (!has_groups) groups_.clear();
  if (!has_groups) cases_ = whole;
  put_cases(groups_);
  while (bar_pixels_ < most_bar_pixels && !(fit(cases_, bar_pixels_) && fit(groups_, bar_pixels_))) ++bar_pixels_;
  if (!fit(cases_, bar_pixels_) || !fit(groups_, bar_pixels_) || width() > most_width) {
    is_slanted_ = true;
    cases_ = whole;
    groups_.clear();
    const auto pitch = static_cast<double>(bars) + between_cases;
    bar_pixels_ = std::max(least_bar_pixels, static_cast<std::size_t>(static_cast<double>(line) / pitch));
  }
  std::vector<std::string> names;
  for (const Name& name : cases_) names.push_back(name.text);
  const auto slanted = static_cast<std::size_t>(slope * static_cast<double>(gnuplot::width_of(names))) + line;
  overhang_ = is_slanted_ ? slanted : 20;
  room_ = texts_height_ + (is_slanted_ ? slanted : line) + (groups_.empty() ? 0 : line) + 10;
}

void CategoryAxis::put_cases(const std::vector<Name>& groups) {
  double at = between_cases / 2;
  begins_.clear();
  for (std::size_t c = 0; c < cases_.size(); ++c) {
    const auto begins_group = [&](const Name& group) { return group.first == c && c != 0; };
    if (std::any_of(groups.begin(), groups.end(), begins_group)) at += between_groups;
    begins_.push_back(at);
    at += static_cast<double>(bars_) + between_cases;
  }
}

std::size_t CategoryAxis::width() const {
  return std::max(least_width, static_cast<std::size_t>(end() * static_cast<double>(bar_pixels_)));
}

std::size_t CategoryAxis::bar_pixels() const { return static_cast<std::size_t>(static_cast<double>(width()) / end()); }

double CategoryAxis::end() const { return begins_.back() + static_cast<double>(bars_) + between_cases / 2; }

double CategoryAxis::middle(const Name& name) const {
  return (begins_[name.first] + begins_[name.last] + static_cast<double>(bars_)) / 2;
}

/// Names stand beside each other with some space between them.
bool CategoryAxis::fit(const std::vector<Name>& names, std::size_t bar_pixels) const {
  const auto half = [](const Name& name) { return static_cast<double>(gnuplot::width_of({name.text})) / 2 + 5; };
  for (std::size_t i = 1; i < names.size(); ++i)
    if (half(names[i - 1]) + half(names[i]) >
        (middle(names[i]) - middle(names[i - 1])) * static_cast<double>(bar_pixels))
      return false;
  return true;
}

std::string CategoryAxis::commands(std::size_t above_edge, std::size_t height) const {
  std::string text = fmt::format("unset xtics\nset xrange [0:{:.6g}]\n", end());
  const auto at = [&](std::size_t below_axis) {
    return (static_cast<double>(above_edge) - static_cast<double>(below_axis)) / static_cast<double>(height);
  };
  for (std::size_t c = 0; c < begins_.size() && !texts_.empty(); ++c)
    for (std::size_t bar = 0; bar < bars_; ++bar)
      text += gnuplot::label(texts_[bar], place(c, bar), at(6), "rotate by 90 right");
  for (const Name& name : cases_)
    text += gnuplot::label(name.text, middle(name), at(texts_height_ + line / 2 + 2),
                           is_slanted_ ? "rotate by -45 left" : "center");
  for (const Name& group : groups_)
    text += gnuplot::label(group.text, middle(group), at(texts_height_ + line + line / 2 + 4), "center");
  return text;
}

}  // namespace t3vp
