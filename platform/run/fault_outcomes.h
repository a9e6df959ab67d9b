// The outcomes of the injected faults.
#pragma once

#include <vector>

#include "config/configuration.h"
#include "node/node.h"
#include "report/report.h"

namespace t3vp {

/// Changes an element of a GPU's output, if that is injected. For the time between a run's end and its check.
class WrongElement {
 public:
  void strike(const RunConfiguration& configuration, const Node& node);
  const std::string& text() const { return text_; }  ///< empty while it has not struck

 private:
  std::string text_;
};

/// How NICs have made up for lost packets. Delivery is reliable: a lost packet is sent again until every entry has
/// ended.
struct Resending {
  std::uint64_t packets = 0;  ///< sent again
  bool has_ended = true;      ///< every entry has
};
/// Adds up all NICs of this process.
Resending resending_of(const Node& node);

/// `resending`: of all NICs, those of other processes too.
std::vector<FaultOutcome> fault_outcomes(const RunConfiguration& configuration, const Node& node,
                                         const WrongElement& wrong_element, const Resending& resending);

}  // namespace t3vp
