// Axes of pictures: labels side by side, or numbers at their true distances.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiment/experiment.h"

namespace t3vp {

/// Labels at 0, 1, 2 and so on, as gnuplot takes them.
std::string labels_of(const std::vector<std::string>& entries);

/// Labels stand side by side when they fit, else they lie at 45 degrees.
struct XLabels {
  std::string rotation = "norotate";
  std::size_t room = 50;  ///< pixels that the labels need below the axis

  XLabels() = default;
  XLabels(const std::vector<std::string>& entries, std::size_t pixels_per_entry);
};

/// A stretch of the number line with some room around the values, which are all above 0 if it is logarithmic.
class NumericRange {
 public:
  NumericRange(const std::vector<double>& values, bool logarithmic, double room = 0.05);

  /// How far along the axis the value is: 0 at its low end, 1 at its high end.
  double share(double value) const;
  /// Commands that give axis "x" or "y" this range and scale.
  std::string commands(const std::string& axis) const;
  /// Tics of a logarithmic axis of up to three decades: at 1, 2, 5, 10 and so on, at all digits where these are few, or
  /// else at the ends of the values.
  /// Other axes have gnuplot's own, and the text is empty.
  std::string tics(const std::string& axis) const;

 private:
  double along(double value) const;
  /// Tics of a logarithmic axis at these digits of each decade.
  std::vector<std::pair<std::string, double>> digit_tics(const std::vector<double>& digits) const;

  bool logarithmic_;
  double least_ = 0, most_ = 1;  ///< of the values
  double begin_ = 0, end_ = 1;   ///< of the axis, along its scale
};

/// The x axis of lines: a place for each entry, or each entry at its number.
class LineAxis {
 public:
  /// It is as long as `pixels` when it is of numbers, and has to be kept no longer than `axis`.
  LineAxis(const ExperimentAxis& axis, Plot::Scale scale, std::size_t pixels);

  double place(std::size_t entry) const;
  /// The entries as they follow each other along the axis.
  const std::vector<std::size_t>& order() const { return order_; }
  /// Pixels along the axis.
  std::size_t width() const { return width_; }
  /// Pixels below the axis for the labels of its entries.
  std::size_t room() const { return labels_.room; }
  /// Range, scale and tics.
  std::string commands() const;

 private:
  bool is_numeric() const { return scale_ != Plot::Scale::categories; }
  std::string numeric_commands() const;

  const ExperimentAxis& axis_;
  Plot::Scale scale_;
  std::vector<std::string> texts_;  ///< of the entries
  std::vector<std::size_t> order_;
  NumericRange range_;
  std::size_t width_;
  XLabels labels_;
};

}  // namespace t3vp
