// Two GPUs of small-4, or as many as the settings say, with a guest program on GPU 0 and the right one on the others.
#pragma once

#include <string>
#include <vector>

#include "driver_errors/driver_guests.h"
#include "guests/program_run.h"
#include "node/node.h"
#include "progress/checker_lines.h"
#include "progress/diagnosis.h"
#include "run/hardware_monitor.h"

namespace t3vp::test {

using Lines = std::vector<std::string>;

/// Lines of a guest: what it did and how the driver answered.
struct Told {
  const char* what;
  t3_status status;
};
Lines lines(const std::vector<Told>& told);

class GpuPair {
 public:
  explicit GpuPair(t3_program* guest, const std::vector<std::string>& settings = {}, t3_program* other = t3_run_fused);

  /// Until nothing is left to happen.
  void run();

  /// Returns the lines that the guest has reported.
  const Lines& told() const { return told_; }
  /// The texts of everything that a GPU's error log has ever got.
  Lines logged(std::size_t gpu) const;
  Gpu& gpu(std::size_t index) { return *node_.gpus()[index]; }
  std::size_t gpus() const { return node_.gpus().size(); }
  t3_gemm_workload gemm() const;
  ProgramRun given() const;

  /// Why nothing happens any more.
  Lines diagnosis() const { return t3vp::diagnosis(configuration_, node_); }

  /// Returns the text that a debugger's `monitor` shows.
  std::string monitor(std::size_t gpu, const std::string& words) const { return t3vp::monitor(node_, gpu, words); }

  /// What the checkers of `check` have found.
  std::string broken_rules() const { return t3vp::broken_rules(node_); }

  /// Elements of a GPU's output in memory that are not the exact sum of both products.
  std::size_t wrong_elements(std::size_t gpu);
  /// Both programs have ended well, and every element of both outputs is the exact sum of both products.
  void require_right_result();

 private:
  void fill(Gpu& gpu, const processor::PublishedBuffer& buffer);
  std::vector<float> output(Gpu& gpu);

  RunConfiguration configuration_;
  Node node_;
  Lines told_;
};

}  // namespace t3vp::test
