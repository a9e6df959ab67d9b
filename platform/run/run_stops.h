// Stops of a run on its way, between steps of guests: what may be switched on or changed there.
#pragma once

#include <deque>
#include <filesystem>

#include "config/configuration.h"
#include "guests/program_run.h"
#include "node/node.h"
#include "register_access/trace/register_trace.h"
#include "report/late_trace.h"
#include "run/host_services.h"

namespace t3vp {

/// A run that stands still.
class StoppedRun {
 public:
  StoppedRun(Node& node, LateTrace& timeline, RunConfiguration& configuration, GivenRun& given,
             std::deque<HostServices>& services)
      : node_(node), timeline_(timeline), configuration_(configuration), given_(given), services_(services) {}

  /// The timeline's file has all that ends from now on. Throws std::runtime_error when it cannot be created.
  void record_timeline(const std::filesystem::path& file, TraceWindow window);
  /// Null while no timeline is recorded.
  PerfettoTrace* timeline() { return timeline_.timeline(); }
  /// The trace, which outlives the run, gets every access to a register from now on.
  void record_registers(RegisterTrace& trace) { trace.observe(node_); }
  /// Checks the protocol of all transactions that begin from now on.
  void check_protocol() { node_.wake_checkers(); }
  /// The arbitration, limits and injected faults of another configuration of the same run hold from now on. Faults are
  /// those that the run has and more. A policy that the program has chosen itself stays.
  void change(const RunConfiguration& to);

 private:
  void change_node(const RunConfiguration& to);

  Node& node_;
  LateTrace& timeline_;
  RunConfiguration& configuration_;
  GivenRun& given_;
  std::deque<HostServices>& services_;
};

/// Says where a run stops, and acts there.
class RunStops {
 public:
  virtual ~RunStops() = default;
  /// A stop may begin to check the protocol. Checkers sleep until then.
  virtual bool may_check_protocol() const { return false; }
  /// Simulated time of the next stop: all that happens before it has happened. `never`: there is none.
  virtual Picoseconds next() const = 0;
  /// Throws what ends the run. A later next() follows, or never.
  virtual void stop(StoppedRun& run) = 0;
  /// The run has ended, with this diagnosis or none. Its outputs are not complete yet.
  virtual void ended(const std::vector<std::string>& diagnosis) = 0;
};

}  // namespace t3vp
