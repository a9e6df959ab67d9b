// One rank of a run over several processes: it simulates its GPUs, and in the end all ranks have the whole result.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "config/configuration.h"
#include "node/node.h"
#include "partition/all_gpus.h"
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

  AllGpus all_gpus() const { return {node_, partition_, transport_}; }
  void announce(const PhaseBoundary& boundary) { announcements_.announce(boundary); }
  /// Called for the boundaries of other ranks.
  void on_phase(std::function<void(const PhaseBoundary&)> callback) { on_phase_ = std::move(callback); }

  // All ranks call these at the same time.

  // These do what Windows' do.
  void meet() { windows_.meet(); }
  bool run_next(const std::function<void(Picoseconds)>& run_until, Picoseconds end) {
    return windows_.run_next(run_until, end);
  }
  Picoseconds earliest() const { return windows_.earliest(); }
  Picoseconds latest() const { return windows_.latest(); }
  bool all_agree(bool mine) { return transport_.least({mine, 0})[0] != 0; }
  /// All ranks end alike: the first one reports it and ends the others, which wait for that.
  void wait_unless_first() {
    if (transport_.rank() != 0) all_agree(true);
  }
  /// Sets the figures of all GPUs and links.
  void gather(const TrafficMeter& meter, RunResult& result);
  /// Adds up the ranks'.
  Resending total(const Resending& mine);
  /// Takes each injected fault from the rank where it strikes.
  void merge_faults(std::vector<FaultOutcome>& faults);
  /// Adds up the ranks'.
  void merge_checks(FunctionalCheck& check);

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
