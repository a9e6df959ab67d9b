// What `run --fork-at` does on the way: the variants, copies of the process that go on by themselves.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/variants.h"
#include "report/progress_line.h"
#include "report/results_folder.h"
#include "run/run_stops.h"
#include "run/simulation.h"

namespace t3vp {

/// Ends the common past, when all variants have ended.
struct VariantsEnded {
  bool has_failed = false;  ///< one at least
};

class VariantStops : public RunStops {
 public:
  /// `out` is the folder of the run. All that is referred to outlives this.
  VariantStops(const std::vector<Variant>& variants, double at_us, unsigned jobs, std::filesystem::path out);
  /// The run's options, of which a variant changes the folder, and its line of progress. `trace`: variants have a
  /// timeline from their beginnings.
  void attach(RunOptions& options, ProgressLine& line, bool trace);

  Picoseconds next() const override { return next_; }
  /// Returns in the variants. Throws VariantsEnded in the process that they come from.
  void stop(StoppedRun& run) override;
  void ended(const std::vector<std::string>&) override {}

  /// The variant that this process is; null in the common past.
  const Variant* variant() const { return variant_; }
  std::filesystem::path folder() const { return folder_of(*variant_); }
  /// A variant with changes, from a later time than the run's start, says so.
  void add_to(nlohmann::ordered_json& report) const;
  /// A line for each variant: its total time, or why it failed.
  std::string table() const;

 private:
  std::filesystem::path folder_of(const Variant& variant) const;
  bool start(std::size_t number, StoppedRun& run);
  void take_ended();

  const std::vector<Variant>& variants_;
  double at_us_;
  Picoseconds next_;
  unsigned jobs_;
  std::filesystem::path out_;
  RunOptions* options_ = nullptr;
  ProgressLine* line_ = nullptr;
  bool traces_ = false;
  const Variant* variant_ = nullptr;
  std::map<pid_t, std::size_t> running_;
  std::map<std::size_t, int> exit_codes_;  ///< of variants that have ended; 128 + signal
};

/// Adds what the variants write or remove.
void add_variants(Outputs& outputs, const std::vector<Variant>& variants, const std::filesystem::path& out);

/// Removes what variants of earlier runs have left in the folder.
void remove_variants(const std::filesystem::path& out);

}  // namespace t3vp
