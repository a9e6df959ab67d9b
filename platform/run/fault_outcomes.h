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

std::vector<FaultOutcome> fault_outcomes(const RunConfiguration& configuration, const Node& node,
                                         const WrongElement& wrong_element);

}  // namespace t3vp
