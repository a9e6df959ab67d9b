#include "experiment/value_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace t3vp {

std::optional<ValueRange> range_of(std::vector<double> values) {
  if (values.size() < 2 || std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); }))
    return {};
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  const double median = values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  ValueRange range{values.front(), values.back(), {}};
  if (median != 0) range.spread = (range.most - range.least) / std::abs(median);
  return range;
}

std::string text_of(const ValueRange& range) {
  const std::string ends = fmt::format("{:.4g}..{:.4g}", range.least, range.most);
  return range.spread ? fmt::format("{} ({:.2g}%)", ends, 100 * *range.spread) : ends;
}

}  // namespace t3vp
