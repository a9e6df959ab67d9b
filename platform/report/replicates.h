// Runs of one configuration whose times are changed at random by a little: how much of a result is chance.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

namespace t3vp {

/// Of each time that all reports have: values in the order of the reports, median, least, most and spread, which is
/// (most - least) / median. Of an even number of values the median is the mean of the middle two.
nlohmann::ordered_json times_of_replicates(const std::vector<nlohmann::ordered_json>& reports);

}  // namespace t3vp
