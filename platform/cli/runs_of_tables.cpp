#include "cli/runs_of_tables.h"

#include <fmt/format.h>
#include <sched.h>

#include "io/console.h"

namespace t3vp {

unsigned available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : 1u;
}

void add_runs(Outputs& outputs, const Plan& plan, const Results& results) {
  for (std::size_t run = 0; run < plan.runs.size(); ++run) {
    const std::filesystem::path folder = results.folder_of(run);
    for (const char* name : {"run.json", "log.txt", "lock", "attempts"}) outputs.files.push_back(folder / name);
    outputs.result_folders.push_back(folder);
  }
}

void print_failures(const Results& results) {
  for (const auto& failure : results.failures())
    print_error(
        fmt::format("{}: {} (see {})", failure.second.rows, failure.second.reason, failure.second.log.string()));
}

}  // namespace t3vp
