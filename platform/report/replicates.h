// Runs of one configuration whose times are changed at random by a little: how much of a result is chance.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

namespace t3vp {

/// Of each time that all reports have: values in the order of the reports, median, least, most and spread, which is
/// (most - least) / median. Of an even number of values the median is the mean of the middle two.
nlohmann::ordered_json times_of_replicates(const std::vector<nlohmann::ordered_json>& reports);

/// Changes a report to what it would be with at most so many replicates: one has none of them.
void keep_replicates(nlohmann::json& report, unsigned count);

/// Settings, traffic and times of a report, the times as this replicate had them; 0 is the report's own run.
nlohmann::json report_of_replicate(const nlohmann::json& report, std::size_t replicate);

}  // namespace t3vp
