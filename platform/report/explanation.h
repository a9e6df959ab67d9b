// Explains what bounded a run, from its report, in ten lines for a terminal.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace t3vp {

/// A part of the critical path of a report's total, and what removing it could gain.
struct ExplainedPart {
  std::string name;    ///< as in `bounded_by`
  double ns = 0;       ///< on the critical path
  double gain_ns = 0;  ///< upper limit of what the total loses when the part is removed
  std::string limit;   ///< what limits the gain: "rest of the path", or a lower bound such as "DRAM bound"
};

/// Whether the report says what bounded it: its run has ended, and had a total.
bool is_explained(const nlohmann::json& report);

/// The parts of the total, the longest first. The total without a part is the rest of the path, and not below the lower
/// bounds that the part has nothing to do with.
std::vector<ExplainedPart> explained_parts(const nlohmann::json& report);

/// Ten lines: the parts, what removing each could gain, what bounded the phases, and what to change first.
std::string explanation(const nlohmann::json& report);

/// Ten lines: the totals, and the parts that differ most. All differences add up to that of the totals.
std::string explanation(const nlohmann::json& first, const nlohmann::json& second);

}  // namespace t3vp
