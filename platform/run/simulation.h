// A whole run: builds the node, lets its firmware run, gathers the figures.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "config/configuration.h"
#include "kernels/kernels.h"
#include "report/report.h"
#include "t3/job.h"

namespace t3vp {

struct RunOptions {
  std::filesystem::path out;  ///< an existing folder for trace.json and the arrays
  bool trace = false;
  bool dump_arrays = false;
  t3_program* program = nullptr;                 ///< what the GPUs' firmware runs in place of the method's own program
  const t3_kernel* const* kernels = t3_kernels;  ///< what packets may ask for, up to a null pointer
  /// Called now and then with the share that is done, 0 to 1, and what goes on; may be empty.
  std::function<void(double done, const std::string& phase)> progress;
};

/// A guest that fails is a result with a diagnosis. Throws std::runtime_error when the platform itself is at fault or
/// limits.simulated_ms is reached; the other limits end the process (watchdog.h).
RunResult simulate(const RunConfiguration& configuration, const RunOptions& options);

}  // namespace t3vp
