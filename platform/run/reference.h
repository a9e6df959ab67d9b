// The contents of published buffers in a functional run, and the check of their final contents. Those of the workload
// have their values from Workload::buffers(); programs give those of other buffers.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/configuration.h"
#include "node/node.h"
#include "report/report.h"

namespace t3vp {

class Reference {
 public:
  explicit Reference(const RunConfiguration& configuration);

  /// Why a buffer that a program publishes cannot be filled or looked at: "GPU 0 publishes out: found ..., expected
  /// ..."; empty when it can.
  std::string refusal(const Gpu& gpu, const processor::PublishedBuffer& buffer) const;

  /// In a functional run, fills a buffer while it is published: the workload's operands of a GPU, its output with what
  /// is no number, and any other one with what the program says; and keeps what the program expects of it.
  /// "GPU 0 firmware publishes ...: found ..., expected ..." of a function that writes more; empty when none does.
  std::string take(Gpu& gpu, const processor::PublishedBuffer& buffer);

  /// Every element of every GPU's output against what it should be, to the bit, and of every other buffer against what
  /// its program expects. What is expected of the output follows from the configuration, not from what is left in the
  /// operands' memory.
  /// `gpus`: those to check, which this process simulates.
  FunctionalCheck check(const std::vector<Gpu*>& gpus) const;

  /// gpu<g>.<buffer>.npy: a (m x k), b (k x n), out (m x n) and what else programs have published.
  void dump(Node& node, const std::filesystem::path& out) const;

 private:
  /// The contents that a program expects in a buffer of its GPU.
  struct Expectation {
    Gpu* gpu;
    processor::PublishedBuffer buffer;
    std::vector<float> values;  ///< row by row, rounded to the element type
  };

  /// The workload's buffer of this name; null when it has none.
  const Buffer* of_workload(const Gpu& gpu, const std::string& name) const;
  bool is_written(const Gpu& gpu, const processor::PublishedBuffer& buffer) const;
  std::string overwritten_by(const Gpu& gpu, const processor::PublishedBuffer& buffer) const;
  std::string refused_contents(const Gpu& gpu, const processor::PublishedBuffer& buffer) const;
  /// Nothing is checked when a program has not published the buffer.
  void check_workload(const std::vector<Gpu*>& gpus, const std::string& name, FunctionalCheck& result) const;
  static void check_expectation(const Expectation& expectation, FunctionalCheck& result);

  const RunConfiguration& configuration_;
  std::vector<std::vector<Buffer>> buffers_;  ///< of the workload, by GPU
  std::vector<Expectation> expectations_;
  std::vector<std::pair<const Gpu*, processor::PublishedBuffer>> with_contents_;  ///< said, of those published so far
};

}  // namespace t3vp
