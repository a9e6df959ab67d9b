// What `run --snapshot-every` does on the way: snapshots, and what is switched on when one of them goes on.
#pragma once

#include <memory>

#include "cli/command_line.h"
#include "cli/register_trace_file.h"
#include "config/configuration.h"
#include "run/run_stops.h"

namespace t3vp {

class SnapshotStops : public RunStops {
 public:
  /// `registers` is the file of --register-trace, which may be none. All three outlive this. `command.out` is absolute.
  SnapshotStops(const RunConfiguration& configuration, const RunCommand& command, TraceWindow window,
                RegisterTraceFile& registers);

  bool may_check_protocol() const override { return true; }
  Picoseconds next() const override { return next_; }
  void stop(StoppedRun& run) override;
  void ended(const std::vector<std::string>& diagnosis) override;
  /// Puts the register trace in place that a snapshot has begun.
  void complete();

 private:
  const RunConfiguration& configuration_;
  const RunCommand& command_;
  TraceWindow window_;
  RegisterTraceFile& registers_;
  std::unique_ptr<RegisterTraceFile> later_registers_;
  Picoseconds interval_, next_ = 0;
  std::uint64_t events_ = 0;  ///< of the simulation at the latest snapshot
};

/// The files that it writes beside those of any run.
std::filesystem::path later_register_trace(const std::filesystem::path& out);

}  // namespace t3vp
