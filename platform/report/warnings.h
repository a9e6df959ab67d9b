// What a reader of a report should know before he trusts its total: physics that surprises, with the metric that shows
// it. docs/guides/running.md explains each under "Warnings".
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace t3vp {

struct Warning {
  std::string metric;  ///< a figure of the report, such as tracker.spills
  std::string text;    ///< what it says and what to change
};

/// Of a report, with its replicates if it has any. A run that failed has none: its diagnosis says more.
std::vector<Warning> warnings_of(const nlohmann::ordered_json& report);

/// Puts them into the report as `warnings`, or takes away what is there when there are none.
void set_warnings(nlohmann::ordered_json& report);

}  // namespace t3vp
