#include "cli/snapshot_stops.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "guests/snapshots.h"
#include "io/console.h"

namespace t3vp {
namespace {

double in_us(Picoseconds time) { return static_cast<double>(time) / 1e6; }

/// What would have to be known from the run's start.
std::vector<std::string> left_out(const RunConfiguration& configuration) {
  std::vector<std::string> names;
  if (!configuration.checks.memory) names.emplace_back("memory");
  if (!configuration.checks.races) names.emplace_back("races");
  if (!configuration.functional) names.emplace_back("results");
  return names;
}

std::string line_of(const ResumedFor& why, Picoseconds from, const std::string& timeline, const std::string& registers,
                    const RunConfiguration& configuration) {
  std::string line = fmt::format(
      "t3vp: the run {} at {} us of simulated time. It goes on from its snapshot at {} us, with timeline ({}), "
      "register accesses ({}) and protocol checks.",
      why.is_asked ? "was stopped by SIGUSR1" : "has failed", in_us(why.ended_at), in_us(from), timeline, registers);
  if (const std::vector<std::string> names = left_out(configuration); !names.empty())
    line += fmt::format(" Checks that were not on from the start stay off: {}.", fmt::join(names, ", "));
  return line;
}

}  // namespace

std::filesystem::path later_register_trace(const std::filesystem::path& out) { return out / "snapshot-registers.txt"; }

SnapshotStops::SnapshotStops(const RunConfiguration& configuration, const RunCommand& command, TraceWindow window,
                             RegisterTraceFile& registers)
    : configuration_(configuration),
      command_(command),
      window_(window),
      registers_(registers),
      interval_(std::max<Picoseconds>(1, static_cast<Picoseconds>(std::llround(*command.snapshot_every_us * 1e6)))) {}

void SnapshotStops::stop(StoppedRun& run) {
  const Picoseconds time = next_;
  next_ += interval_;
  if (time != 0 && events_ == sc_core::sc_delta_count()) return;  // nothing has happened since the latest
  events_ = sc_core::sc_delta_count();
  if (!take_snapshot(time)) return;
  next_ = never;
  const std::filesystem::path timeline = command_.out / "trace.json";
  const bool is_traced = !command_.register_trace.empty();
  const std::filesystem::path registers = is_traced ? command_.register_trace : later_register_trace(command_.out);
  print_error(line_of(*resumed_for(), time, timeline.string(), registers.string(), configuration_));
  if (run.timeline() == nullptr) run.record_timeline(timeline, window_);
  run.timeline()->keep();
  if (!is_traced) {
    later_registers_ = std::make_unique<RegisterTraceFile>("--snapshot-every", registers);
    later_registers_->trace()->write_at_once();
    run.record_registers(*later_registers_->trace());
  }
  (is_traced ? registers_ : *later_registers_).keep();
  if (!configuration_.checks.protocol) run.check_protocol();
}

void SnapshotStops::ended(const std::vector<std::string>& diagnosis) {
  if (!diagnosis.empty()) leave_to_snapshot();
  drop_snapshots();
}

void SnapshotStops::complete() {
  if (later_registers_) later_registers_->complete();
}

}  // namespace t3vp
