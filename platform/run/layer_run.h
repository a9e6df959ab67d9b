// A layer on its way through a GPU: hands the program to firmware and takes down each operation's time and traffic.
#pragma once

#include <optional>
#include <vector>

#include "check/layer_reference.h"
#include "report/report.h"
#include "workload/layer.h"
#include "workloads/shared/packed_workload.h"

namespace t3vp {

class LayerRun {
 public:
  LayerRun(const RunConfiguration& configuration, Gpu& gpu);
  LayerRun(const LayerRun&) = delete;
  LayerRun& operator=(const LayerRun&) = delete;

  /// For the firmware.
  PackedWorkload packed() const;
  /// Share of the operations that are done.
  double done() const { return static_cast<double>(figures_.size()) / static_cast<double>(program_.operations.size()); }
  const std::vector<OperationFigures>& operations() const { return figures_; }
  /// What the reference has found, when the run has ended.
  FunctionalCheck functional();

 private:
  void operation(bool begin);

  Gpu& gpu_;
  LayerProgram program_;
  std::optional<LayerReference> reference_;  ///< functional only
  Picoseconds begin_ = 0;
  DramBytes bytes_{};  ///< when the operation began
  std::vector<OperationFigures> figures_;
};

}  // namespace t3vp
