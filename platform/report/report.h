// What a simulation found, and report.json.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/configuration.h"
#include "interconnect/route.h"
#include "protocol/access.h"
#include "protocol/time_parts.h"
#include "report/phases.h"
#include "workloads/functional_check.h"

namespace t3vp {

/// Bytes that a GPU's DRAM reads and writes, indexed by TrafficClass. An update counts once, as a write.
using DramBytes = std::array<std::uint64_t, traffic_classes_most>;

/// All times are in ns.
struct RunTimes {
  double total = 0;  ///< from the start barrier to the last GPU's end
  /// The parts of the total: of each the longest time that a GPU took, in the order of their first appearance. Those
  /// that were left out are not among them.
  std::vector<std::pair<std::string, double>> phases;
  double setup = 0;    ///< before the start barrier, not part of the total
  double zeroing = 0;  ///< of the output, part of setup; 0 where none is needed
  /// Of embedding tables: when each GPU has ended, from the start on.
  std::vector<double> ends;

  /// 0 for a phase that was left out.
  double of(const std::string& phase) const {
    for (const auto& [name, ns] : phases)
      if (name == phase) return ns;
    return 0;
  }
};

/// A direction of a link, within the measured time: from the start barrier to the last GPU's end; with ideal methods
/// the phases that make up the total.
struct LinkFigures {
  interconnect::LinkEnd from, to;
  double bandwidth_GBps = 0;
  std::uint64_t payload_bytes = 0;        ///< tensor data
  std::uint64_t wire_bytes = 0;           ///< with headers and signals
  std::uint64_t packets = 0;              ///< of data and signals
  double utilization = 0;                 ///< 0 to 1, of the total time
  double queueing_ns = 0;                 ///< mean time from a store's arrival at the link to its first byte on it
  std::optional<double> latency_ns = {};  ///< on request: mean time from a store's arrival to that at the far end
  double credit_stall_ns = 0;             ///< in which stores waited and nothing was sent, for want of credits
};

/// Each is the figure of the GPU where it is largest.
struct TrackerFigures {
  std::uint64_t triggers = 0, peak_entries = 0, spills = 0, size_bytes = 0;
  double trigger_wait_ns = 0;  ///< by which triggers came after their tiles' last accesses, in sum
};

/// Times that physics does not let the total go below, each for itself, with what was moved within the measured time.
struct Bounds {
  double compute_ns = 0, link_ns = 0, dram_ns = 0;
  double compute_quantized_ns = 0;  ///< of whole tiles in whole waves
};

/// What a time was spent on along the critical path, in ns by Part: of the total, or of a phase.
struct BoundingParts {
  std::string phase;
  std::array<double, part_count> ns{};
};

/// The outcome of an injected fault.
struct FaultOutcome {
  std::string name;
  bool struck = false;
  std::string text;           ///< where it struck first, or why it did not
  std::string recovery = {};  ///< how the hardware has made up for it; empty where it has not
};

/// The metrics of an operation of a layer.
struct OperationFigures {
  std::string name, part;
  double time_ns = 0;
  std::uint64_t read_bytes = 0, write_bytes = 0;  ///< that DRAM moved meanwhile
};

struct Statistic {
  std::string name, unit, text;
  double value = 0;
};

/// What windows have cost a process of a run over several processes.
struct RankFigures {
  double computing_s = 0;  ///< of the processor's time
  double waiting_s = 0;    ///< for the others, of wall-clock time
  double sent_MB = 0;
};

/// What the run cost the host: the only figures that may differ between two runs of a configuration.
struct HostFigures {
  double wall_s = 0, peak_rss_MiB = 0;
  std::uint64_t dram_accesses = 0, events = 0;
  std::uint64_t windows = 0;
  std::vector<RankFigures> ranks;  ///< empty: one process
};

/// Where a run stopped whose programs have not all ended.
struct StoppedAt {
  double simulated_ns = 0;
  std::optional<double> work_done;  ///< share of GPU 0's workgroups, 0 to 1; none where their number is not known
};

struct RunResult {
  RunTimes time_ns;
  std::vector<DramBytes> dram_bytes;         ///< of every simulated GPU
  std::vector<OperationFigures> operations;  ///< of a layer, in order
  std::vector<LinkFigures> links;
  TrackerFigures tracker;
  Bounds bounds;
  std::vector<BoundingParts> bounded_by;  ///< of the total, then of each phase that has ended
  FunctionalCheck functional;
  std::vector<FaultOutcome> faults;  ///< the injected ones
  std::vector<Statistic> statistics;
  std::vector<std::string> error_log;  ///< of all GPUs, an entry each, those that the diagnosis leaves out, too
  std::optional<StoppedAt> stopped;    ///< none: all programs have ended
  std::vector<std::string> diagnosis;  ///< why the simulation failed, a sentence each; empty when it did not
  HostFigures host;
};

/// "not a number" and "infinite" in words, which JSON has null for.
std::string in_words(double value);

/// "fault lose_updates struck: ..."
std::string text_of(const FaultOutcome& fault);

/// The diagnosis, and what the figures themselves give away: mismatches, a bound that was beaten; in the end the
/// injected faults, with which no run is right. Empty: all is well.
std::vector<std::string> failures(const RunResult& result);

nlohmann::ordered_json report_json(const RunConfiguration& configuration, const RunResult& result);

/// Reads a report for comparison. Throws InputError when it is none.
nlohmann::json read_report(const std::filesystem::path& file);

}  // namespace t3vp
