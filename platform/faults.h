// Injected faults: from the run file into the models, and what became of them.
#pragma once

#include <vector>

#include "platform/json_document.h"
#include "platform/node.h"
#include "platform/report.h"

namespace t3vp {

/// The content of `inject`, which the schema has checked.
Faults read_faults(const nlohmann::json& inject);

/// Throws InputError about a fault in what is not there, or that the run could not notice.
void check_faults(const Document& run, const RunConfiguration& configuration);

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
