#include "cli/replicate_runs.h"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "cli/runs_of_tables.h"
#include "experiment/child_runs.h"
#include "io/output_file.h"
#include "report/progress_line.h"
#include "report/replicates.h"
#include "report/report.h"

namespace t3vp {
namespace {

namespace fs = std::filesystem;

constexpr const char* const own_files[] = {"run.json", "log.txt"};

fs::path folder_of(const fs::path& out, std::size_t replicate) {
  return out / "replicates" / std::to_string(replicate);
}

/// Returns the seed of a replicate. Runs of neighbouring first seeds share none: the golden ratio spreads them over all
/// seeds.
std::uint64_t seed_of(std::uint64_t first, std::uint64_t replicate) {
  constexpr std::uint64_t largest = (std::uint64_t{1} << 53) - 1, step = 0x9E3779B97F4A7C15;
  return (first + replicate * step) & largest;
}

Jitter first_jitter(const RunConfiguration& configuration) { return configuration.jitter.value_or(Jitter{}); }

ChildRun prepare(const RunConfiguration& configuration, std::size_t replicate, const fs::path& folder) {
  const Jitter jitter = first_jitter(configuration);
  nlohmann::json run = configuration.resolved;
  run["jitter"] = {
      {"seed", seed_of(jitter.seed, replicate)}, {"launch_ns", jitter.launch_ns}, {"latency_ns", jitter.latency_ns}};
  prepare_folder(folder);
  write_text(folder / "run.json", run.dump(2) + "\n");
  return {{"run", (folder / "run.json").string(), "--out", folder.string()}, folder / "log.txt"};
}

void make_runs(const RunConfiguration& configuration, unsigned count, unsigned jobs, const fs::path& out) {
  ProgressLine line;
  ChildRuns children;
  std::size_t next = 1, ended = 1;
  while (ended < count) {
    for (; next < count && children.running() < jobs; ++next)
      children.start(next, prepare(configuration, next, folder_of(out, next)));
    line.show(static_cast<double>(ended) / count, fmt::format("{} of {} replicates", ended, count));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    for (const ChildRuns::Ended& child : children.take_ended()) {
      ++ended;
      if (child.exit_code != 0)
        throw std::runtime_error(fmt::format("replicate {} of {} has failed, see {}", child.run, count,
                                             (folder_of(out, child.run) / "log.txt").string()));
    }
  }
}

}  // namespace

void add_replicates(Outputs& outputs, unsigned count, const fs::path& out) {
  for (unsigned replicate = 1; replicate < count; ++replicate) {
    const fs::path folder = folder_of(out, replicate);
    for (const char* name : own_files) outputs.files.push_back(folder / name);
    outputs.result_folders.push_back(folder);
  }
}

void remove_replicates(const fs::path& out) {
  std::error_code kept;  // what is not a replicate's own stays, and its folder with it
  for (std::size_t replicate = 1; fs::is_directory(folder_of(out, replicate)); ++replicate) {
    const fs::path folder = folder_of(out, replicate);
    remove_results(folder);
    for (const char* name : own_files) fs::remove(folder / name, kept);
    fs::remove(folder, kept);
  }
  fs::remove(out / "replicates", kept);
}

void replicate(const RunConfiguration& configuration, unsigned count, unsigned jobs, const fs::path& out,
               nlohmann::ordered_json& report) {
  make_runs(configuration, count, jobs, out);
  std::vector<nlohmann::ordered_json> reports{report};
  for (unsigned replicate = 1; replicate < count; ++replicate)
    reports.emplace_back(read_report(folder_of(out, replicate) / "report.json"));
  const Jitter jitter = first_jitter(configuration);
  report["replicates"] = {{"count", count},
                          {"seed", jitter.seed},
                          {"launch_ns", jitter.launch_ns},
                          {"latency_ns", jitter.latency_ns},
                          {"time_ns", times_of_replicates(reports)}};
}

}  // namespace t3vp
