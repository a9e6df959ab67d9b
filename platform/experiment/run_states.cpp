#include "experiment/run_states.h"

#include "io/file_lock.h"

namespace t3vp {
namespace {

bool is_running(const Results& results, std::size_t run) {
  const std::filesystem::path lock = results.folder_of(run) / "lock";
  return std::filesystem::exists(lock) && !FileLock::try_file(lock);
}

}  // namespace

RunStates look_at_runs(const Plan& plan, Results& results) {
  RunStates states;
  for (std::size_t run = 0; run < plan.runs.size(); ++run) {
    if (!results.take_finished(run)) {
      if (is_running(results, run)) {
        ++states.running;
        continue;
      }
      // It may have ended since, or somebody ended it.
      if (!results.take_finished(run) && !results.take_broken_off(run)) {
        ++states.missing;
        continue;
      }
    }
    ++(results.failures().count(run) != 0 ? states.failed : states.passed);
  }
  return states;
}

}  // namespace t3vp
