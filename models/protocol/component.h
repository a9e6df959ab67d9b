// The interface that a GPU expects of each of its blocks.
#pragma once

#include <string>
#include <vector>

#include "protocol/statistics.h"

namespace t3vp {

class Component {
 public:
  virtual ~Component() = default;

  /// The name of its figures in the report: "dma" in "gpu0.dma.transfers".
  virtual const char* group() const = 0;
  virtual void visit_statistics(const StatisticVisitor&) const {}
  /// Further figures, which a run reports on request: those of parts of the block.
  virtual void visit_details(const StatisticVisitor&) const {}
  /// Returns the settings by firmware and their progress, one line each, for people. Called at any time.
  virtual std::vector<std::string> contents() const { return {}; }
  /// Returns what the block waits for, one line each; empty when it waits for nothing. Called at a deadlock.
  virtual std::vector<std::string> diagnosis() const { return {}; }
};

}  // namespace t3vp
