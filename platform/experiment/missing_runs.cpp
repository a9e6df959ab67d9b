#include "experiment/missing_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <map>
#include <thread>

#include "experiment/attempts.h"
#include "experiment/child_runs.h"
#include "io/console.h"
#include "io/exit_code.h"
#include "io/file_lock.h"
#include "io/output_file.h"
#include "report/progress_line.h"
#include "report/results_folder.h"

namespace t3vp {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// Share of the work that is done and the time that is left at this pace.
class Progress {
 public:
  Progress(const Plan& plan, const std::list<std::size_t>& missing) : runs_(missing.size()) {
    for (const std::size_t run : missing) total_ += plan.runs[run].weight;
  }

  void ended(double weight) {
    done_ += weight;
    ++ended_;
  }

  void hide() { line_.clear(); }

  void show() {
    const double share = done_ / total_;
    line_.show(share, fmt::format("{} of {} runs{}", ended_, runs_, time_left(share)));
  }

 private:
  std::string time_left(double share) const {
    if (ended_ == 0) return "";
    const std::chrono::duration<double> elapsed = Clock::now() - begin_;
    return fmt::format(", {:.0f} s left", elapsed.count() * (1 - share) / share);
  }

  Clock::time_point begin_ = Clock::now();
  std::size_t runs_, ended_ = 0;
  double total_ = 0, done_ = 0;
  ProgressLine line_;
};

/// What has no current report, the longest first, so that no core waits for a long last run.
std::list<std::size_t> missing_runs(const Plan& plan, const Shard& shard, Results& results) {
  std::list<std::size_t> missing;
  for (std::size_t run = 0; run < plan.runs.size(); ++run)
    if (shard.has(run) && !results.take_finished(run)) missing.push_back(run);
  missing.sort([&](std::size_t a, std::size_t b) { return plan.runs[a].weight > plan.runs[b].weight; });
  return missing;
}

class MissingRuns {
 public:
  MissingRuns(const Experiment& experiment, const Plan& plan, const RunOutline& outline, Results& results)
      : experiment_(experiment),
        plan_(plan),
        outline_(outline),
        results_(results),
        left_(missing_runs(plan, outline.shard, results)),
        jobs_of_run_(std::max(1U, outline.jobs / static_cast<unsigned>(std::max<std::size_t>(1, left_.size())))),
        progress_(plan, left_),
        attempts_(outline.submission, outline.most_attempts) {}

  void make(const std::function<void()>& changed) {
    constexpr std::chrono::milliseconds pause(10), until_others_have_ended(200);
    Clock::time_point next_look = Clock::now();
    while (!left_.empty() || children_.running() != 0) {
      if (Clock::now() >= next_look && !start_some()) next_look = Clock::now() + until_others_have_ended;
      progress_.show();
      std::this_thread::sleep_for(pause);
      const std::vector<ChildRuns::Ended> ended = children_.take_ended();
      for (const ChildRuns::Ended& child : ended) take(child);
      if (ended.empty()) continue;
      next_look = Clock::now();
      changed();
    }
  }

 private:
  /// Starts runs as long as there is room. Returns false when other processes make all that are left.
  bool start_some() {
    bool any = left_.empty();
    for (auto run = left_.begin(); run != left_.end();) {
      if (children_.running() >= outline_.jobs) return true;
      const fs::path folder = results_.folder_of(*run);
      prepare_folder(folder, "a run's folder");
      std::optional<FileLock> lock = FileLock::try_file(folder / "lock");
      if (!lock) {
        ++run;
        continue;
      }
      any = true;
      const bool is_finished = results_.take_finished(*run);
      const bool is_given_up = !is_finished && !attempts_.are_left(*run, folder) && results_.take_broken_off(*run);
      if (is_finished || is_given_up) {
        progress_.ended(plan_.runs[*run].weight);
      } else {
        attempts_.begin(*run, folder);
        children_.start(*run, prepare(*run, folder));
        locks_.emplace(*run, std::move(*lock));
      }
      run = left_.erase(run);
    }
    return any;
  }

  ChildRun prepare(std::size_t run, const fs::path& folder) const {
    remove_results(folder);
    write_text(folder / "run.json", plan_.runs[run].run_file.dump(2) + "\n");
    ChildRun child{{"run", (folder / "run.json").string(), "--out", folder.string()}, folder / "log.txt"};
    if (experiment_.replicates > 1)
      child.arguments.insert(child.arguments.end(), {"--replicates", std::to_string(experiment_.replicates), "--jobs",
                                                     std::to_string(jobs_of_run_)});
    if (experiment_.trace) child.arguments.emplace_back("--trace");
    if (outline_.timeout_s)
      child.arguments.insert(child.arguments.end(), {"--timeout", fmt::format("{}", *outline_.timeout_s)});
    return child;
  }

  void take(const ChildRuns::Ended& child) {
    results_.take_ended(child.run, child.exit_code);
    locks_.erase(child.run);
    if (may_pass_yet(child)) {
      const Failure& failure = results_.failures().at(child.run);
      progress_.hide();
      print_error(fmt::format("{}: {}; the run is made once more", failure.rows, failure.reason));
      left_.push_back(child.run);
    } else {
      progress_.ended(plan_.runs[child.run].weight);
    }
  }

  /// A diagnosis would come again, and bad input stays bad.
  bool may_pass_yet(const ChildRuns::Ended& child) const {
    const fs::path folder = results_.folder_of(child.run);
    return results_.failures().count(child.run) != 0 && child.exit_code != bad_input &&
           !fs::exists(folder / "report.json") && attempts_.are_left(child.run, folder);
  }

  const Experiment& experiment_;
  const Plan& plan_;
  const RunOutline& outline_;
  Results& results_;
  std::list<std::size_t> left_;
  unsigned jobs_of_run_;  ///< replicates that a run makes at a time
  Progress progress_;
  Attempts attempts_;
  ChildRuns children_;
  std::map<std::size_t, FileLock> locks_;  ///< of the runs that are children
};

}  // namespace

void make_missing_runs(const Experiment& experiment, const Plan& plan, const RunOutline& outline, Results& results,
                       const std::function<void()>& changed) {
  MissingRuns(experiment, plan, outline, results).make(changed);
}

}  // namespace t3vp
