// Named figures with a unit and a description, as a block hands them to the report.
#pragma once

#include <functional>
#include <string>

namespace t3vp {

/// Every figure is of the whole run, whatever is reset; counter registers start at 0 again (run_count.h).
/// Called once per figure: name relative to the block ("row_hits"), unit ("accesses"), text, value.
using StatisticVisitor =
    std::function<void(const std::string& name, const std::string& unit, const std::string& text, double value)>;

}  // namespace t3vp
