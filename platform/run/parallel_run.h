// One rank of a run over several processes: it simulates its GPUs, and in the end all ranks have the whole result.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "config/configuration.h"
#include "node/node.h"
#include "partition/silence_limit.h"
#include "partition/windows.h"
#include "report/report.h"
#include "run/fault_outcomes.h"
#include "run/traffic_meter.h"

namespace t3vp {

/// Throws InputError about a run that so many processes cannot share. `file`: the run file.
void require_partitionable(const RunConfiguration& configuration, const std::filesystem::path& file,
                           std::uint32_t ranks);

class ParallelRun {
 public:
  ParallelRun(const RunConfiguration& configuration, Node& node, const NodeParameters& parameters,
              Transport& transport);

  bool has(std::size_t gpu) const { return partition_.gpus[gpu] == transport_.rank(); }
  void announce(const PhaseBoundary& boundary) { announcements_.announce(boundary); }
  /// Called for the boundaries of other ranks.
  void on_phase(std::function<void(const PhaseBoundary&)> callback) { on_phase_ = std::move(callback); }

  // All ranks call these at the same time.

  /// Does what Windows::run_next() does.
  bool run_next(const std::function<void(Picoseconds)>& run_until, bool wants_to_stop, Picoseconds limit) {
    return windows_.run_next(run_until, wants_to_stop, limit);
  }
  Picoseconds earliest() const { return windows_.earliest(); }
  std::uint64_t windows() const { return windows_.count(); }
  bool all_agree(bool mine) { return transport_.least({mine, 0})[0] != 0; }
  /// Limits the waits of windows while it lives.
  SilenceLimit limit_waits() const { return {transport_, configuration_.limits.rank_s}; }
  /// All ranks end alike: the first one reports it and ends the others, which wait for that.
  void wait_unless_first() {
    if (transport_.rank() != 0) all_agree(true);
  }
  /// Adds what the programs of this rank wait for, and what their GPUs' blocks, links and switches have in flight.
  void add_waits(std::vector<std::string>& lines) const;
  /// Sets the figures of all GPUs and links, and adds the diagnoses and errors of the other ranks.
  void gather(const TrafficMeter& meter, RunResult& result);
  /// Adds up the ranks'.
  Resending total(const Resending& mine);
  /// Takes each injected fault from the rank where it strikes, and adds up the functional checks.
  void merge_checks(RunResult& result);

 private:
  std::uint32_t rank_of_fault(const std::string& name) const;

  const RunConfiguration& configuration_;
  Node& node_;
  Transport& transport_;
  Partition partition_;
  std::vector<LinkPlacement> links_;
  std::function<void(const PhaseBoundary&)> on_phase_;
  Boundary boundary_;
  Announcements announcements_;
  Windows windows_;
};

}  // namespace t3vp
