// How far values of one quantity are apart.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace t3vp {

struct ValueRange {
  double least = 0, most = 0;
  std::optional<double> spread;  ///< (most - least) over the median's amount; none when the median is 0
};

/// None of fewer than two values, or where one is NaN.
std::optional<ValueRange> range_of(std::vector<double> values);

/// "1.12..1.15 (2.1%)".
std::string text_of(const ValueRange& range);

}  // namespace t3vp
