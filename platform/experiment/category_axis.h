// The x axis of bars: a case's bars stand beside each other, and below them what they have in common is said once.
#pragma once

#include <string>
#include <vector>

#include "experiment/experiment.h"

namespace t3vp {

/// Below the axis are the bars' own texts, if any, then a name for each case. Where cases are a product, that is the
/// entry of the last axis, and the other entries are the name of a group of cases. Names that do not fit side by side
/// lie at 45 degrees and are those of whole cases. Places are in widths of a bar, from 0.
class CategoryAxis {
 public:
  /// A case has so many bars. `texts` has one for each, or is empty when the legend tells them apart.
  CategoryAxis(const std::vector<ExperimentCase>& cases, std::size_t bars, const std::vector<std::string>& texts,
               std::size_t least_bar_pixels);

  /// The first case of each group; without groups, every case.
  static std::vector<std::size_t> groups_in(const std::vector<ExperimentCase>& cases);

  /// The middle of a bar.
  double place(std::size_t case_index, std::size_t bar) const {
    return begins_[case_index] + static_cast<double>(bar) + 0.5;
  }
  /// Pixels of a bar with the gap behind it.
  std::size_t bar_pixels() const;
  /// Pixels along the axis.
  std::size_t width() const;
  /// Pixels below the axis for what is written there.
  std::size_t room() const { return room_; }
  /// Pixels to the right of the axis where the last name ends.
  std::size_t overhang() const { return overhang_; }
  /// Range and texts, with the axis so many pixels above the lower edge of a picture of this height.
  std::string commands(std::size_t above_edge, std::size_t height) const;

 private:
  struct Name {
    std::string text;
    std::size_t first, last;  ///< cases that have it
  };

  void put_cases(const std::vector<Name>& groups);
  double middle(const Name& name) const;
  double end() const;
  bool fit(const std::vector<Name>& names, std::size_t bar_pixels) const;

  std::size_t bars_, bar_pixels_;
  std::vector<std::string> texts_;
  std::vector<double> begins_;  ///< of each case
  std::vector<Name> cases_, groups_;
  bool is_slanted_ = false;
  std::size_t texts_height_ = 0, room_ = 0, overhang_ = 0;
};

}  // namespace t3vp
