// A whole run: builds the node, lets its firmware run, gathers the figures.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "config/configuration.h"
#include "debugger/connection.h"
#include "guests/opened_software.h"
#include "register_access/trace/register_trace.h"
#include "report/perfetto_trace.h"
#include "report/report.h"
#include "t3/run.h"

namespace t3vp {

class Node;
class RunStops;
class Transport;

struct RunOptions {
  std::filesystem::path out;  ///< an existing folder for trace.json and the arrays
  bool trace = false;
  TraceWindow trace_window;
  bool dump_arrays = false;
  RunStops* stops = nullptr;                  ///< null: the run does not stop on its way
  RegisterTrace* register_trace = nullptr;    ///< of every access to a register, which the caller finishes; null: none
  const OpenedSoftware* software = nullptr;   ///< of the configuration; simulate() opens it otherwise
  t3_program* program = nullptr;              ///< what all GPUs run in place of the configuration's program
  const t3_kernel* const* kernels = nullptr;  ///< what packets may ask for in place of it, up to a null pointer
  debug::TcpPort* debugger = nullptr;         ///< where one is waited for, of firmware on RISC-V cores; null: none
  /// Called now and then with the share that is done, 0 to 1, where it is known, and what goes on; may be empty.
  std::function<void(std::optional<double> done, const std::string& phase)> progress;
  Transport* transport = nullptr;    ///< to the other processes of the run; null: there are none
  std::function<void(Node&)> watch;  ///< called before the simulation begins, for monitors; may be empty
};

/// A guest that fails is a result with a diagnosis. Throws std::runtime_error when the platform itself is at fault or
/// limits.simulated_ms is reached, and InputError when the program and its arguments do not fit each other; the other
/// limits end the process (guests/guest_limits.h).
RunResult simulate(const RunConfiguration& configuration, const RunOptions& options);

}  // namespace t3vp
