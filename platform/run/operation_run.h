// A workload of operations one after the other on one GPU: takes down each one's time and traffic, and has it checked.
#pragma once

#include <memory>
#include <vector>

#include "config/configuration.h"
#include "report/report.h"
#include "run/buffer_access.h"

namespace t3vp {

class OperationRun {
 public:
  OperationRun(const RunConfiguration& configuration, Gpu& gpu);
  OperationRun(const OperationRun&) = delete;
  OperationRun& operator=(const OperationRun&) = delete;

  /// Share of the operations that are done.
  double done() const { return static_cast<double>(figures_.size()) / static_cast<double>(names_.size()); }
  const std::vector<OperationFigures>& figures() const { return figures_; }
  /// Returns the checker's result at the end of the run.
  FunctionalCheck functional();

 private:
  void operation(bool begin);

  Gpu& gpu_;
  DebugMemory memory_;
  std::vector<OperationName> names_;
  std::unique_ptr<OperationChecker> checker_;  ///< functional only
  Picoseconds begin_ = 0;
  DramBytes bytes_{};  ///< when the operation began
  std::vector<OperationFigures> figures_;
};

}  // namespace t3vp
