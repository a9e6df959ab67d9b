// The operands of a functional run in memory, and the check of its outputs (platform/workload/operands.h has the
// values).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/configuration.h"
#include "hardware/node.h"
#include "report/report.h"

namespace t3vp {

class Reference {
 public:
  explicit Reference(const RunConfiguration& configuration) : configuration_(configuration) {}

  /// Why a buffer that a program publishes cannot be filled or looked at: "GPU 0 publishes out: found ..., expected
  /// ..."; empty when it can.
  std::string refusal(const Gpu& gpu, const PublishedBuffer& buffer) const;

  /// Fills a published operand of a GPU, and its output with what is no number.
  void fill(Gpu& gpu, const PublishedBuffer& buffer) const;

  /// Every element of every GPU's output against what it should be, to the bit. What is expected follows from the
  /// configuration, not from what is left in the operands' memory.
  FunctionalCheck check(Node& node) const;

  /// gpu<g>.a.npy (m x k), gpu<g>.b.npy (k x n), gpu<g>.out.npy (m x n).
  void dump(Node& node, const std::filesystem::path& out) const;

 private:
  const RunConfiguration& configuration_;
};

}  // namespace t3vp
