// Everything a simulation needs to know, with defaults applied and checked: what a run file, its system file and its
// memory file say, and what --set changes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "config/software.h"
#include "io/json_document.h"
#include "system/system_loader.h"
#include "workloads/workload.h"

namespace t3vp {

/// The limits at which a run ends; docs/guides/running.md.
struct Limits {
  std::optional<double> simulated_ms, wall_s;
  double firmware_s = 30;  ///< host time that firmware may compute between two calls of the HAL
  /// Reads of one register by firmware, or of one place in memory by a wave, always with the same value, while nothing
  /// else happens in the node.
  std::uint64_t polls = 10'000'000;
  std::uint64_t errors = 100'000;  ///< entries of a GPU's error log
  double rank_s = 60;              ///< host time that a rank waits in a window for the others
};

/// Random changes of times that are drawn once for each GPU and link. No time becomes negative.
struct Jitter {
  std::uint64_t seed = 0;
  double launch_ns = 10, latency_ns = 0.1;  ///< the largest, up or down
};

struct RunConfiguration : RunSettings {
  std::shared_ptr<const Workload> workload = std::make_shared<Workload>();
  RunChecks checks;
  bool allow_errors = false;  ///< failures of driver calls that a program has not read do not fail the run
  bool has_details = false;   ///< the report has the metrics of streams, channels, banks and links
  double quantum_ns = 1000;
  std::string firmware = "native";
  Software software;
  std::vector<SoftwareLibrary> policy_libraries;
  Limits limits;
  std::optional<Jitter> jitter;
  /// The rank of each GPU in a run over several processes; empty: blocks of successive GPUs. No result depends on it.
  std::vector<std::uint32_t> partition;

  nlohmann::json resolved;  ///< the whole as one run file, everything written inline
  std::string config_hash;  ///< of `resolved`: 16 hexadecimal digits
};

/// Directions of links, as report.links lists them.
std::uint32_t link_count(const RunSettings& settings);

/// Loads a run file with every file it names, and applies "path=value" settings. The path goes into the resolved
/// configuration (--print-config shows it), whichever file the key is in; "memory." is short for "system.memory.dram.".
/// The value is JSON, or else a string; null removes the key. Throws InputError.
RunConfiguration load_run(const std::filesystem::path& file, const std::vector<std::string>& settings = {});
/// Does the same for a run file that has been read, or was never a file.
RunConfiguration load_run(Document run, const std::vector<std::string>& settings);

/// Returns the same work without the names of label, model and sub-layer. Equal work then has equal configurations.
RunConfiguration without_names(RunConfiguration configuration);

/// GPUs of a system file without any work: for registers alone. Throws InputError.
RunConfiguration load_machine(const std::filesystem::path& file, std::uint32_t gpus);

}  // namespace t3vp
