// The operands of a functional run, and the reference its outputs are checked against: Eigen in double precision.
#pragma once

#include <filesystem>
#include <vector>

#include "platform/configuration.h"
#include "platform/node.h"
#include "platform/report.h"

namespace t3vp {

class Reference {
 public:
  explicit Reference(const RunConfiguration& configuration) : configuration_(configuration) {}

  /// Fills a published operand of a GPU with values in [-1, 1] that depend on the seed, the GPU and the buffer only.
  void fill(Gpu& gpu, const PublishedBuffer& buffer) const;

  /// Every GPU's output against the sum over GPUs of A B, within (N + 1) u sum |A||B|, where u is half a unit in the
  /// last place of the element type: N roundings of partial sums and one of the GEMM; for fp32 the K products' too.
  FunctionalCheck check(Node& node) const;

  /// gpu<g>.a.npy (m x k), gpu<g>.b.npy (k x n), gpu<g>.out.npy (m x n).
  void dump(Node& node, const std::filesystem::path& out) const;

 private:
  const RunConfiguration& configuration_;
};

}  // namespace t3vp
