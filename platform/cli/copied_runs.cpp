#include "cli/copied_runs.h"

#include <fmt/format.h>

#include <numeric>
#include <string>

#include "cli/option_checks.h"
#include "config/memory_need.h"
#include "guests/guest_page.h"
#include "guests/snapshots.h"
#include "io/input_error.h"

namespace t3vp {

void add_copy_options(CLI::App& run, RunCommand& command) {
  run.add_option("--snapshot-every", command.snapshot_every_us,
                 "Keep the run's state of the last two multiples of this simulated time. When the run fails, or gets "
                 "SIGUSR1, the older one goes on and traces all")
      ->type_name("US")
      ->check(microseconds(0.001));
  run.add_option("--fork-at", command.fork_at_us,
                 "Simulated time from which the variants of --variants go on, each by itself")
      ->type_name("US")
      ->check(microseconds());
  run.add_option("--variants", command.variants,
                 "What variants change at --fork-at: arbitration, limits, injected faults; --jobs of them at a time")
      ->type_name("FILE");
}

void refuse_copies(const RunCommand& command) {
  if (command.fork_at_us && command.variants.empty())
    throw InputError("--fork-at", "no --variants", "--variants FILE, which says what goes on from there");
  if (!command.fork_at_us && !command.variants.empty())
    throw InputError("--variants", "no --fork-at", "--fork-at US, the time from which they go on");
  if (!command.fork_at_us && !command.snapshot_every_us) return;
  const std::string option = command.fork_at_us ? "--fork-at" : "--snapshot-every";
  const auto refuse = [&](const std::string& found, const std::string& expected) {
    throw InputError(option, found, expected);
  };
  if (command.fork_at_us && command.snapshot_every_us) refuse("--snapshot-every beside it", "one of the two");
  if (command.gdb) refuse("--gdb beside it", "a run without a debugger, whose port a copy cannot share");
  if (command.replicates > 1) refuse(fmt::format("{} replicates", command.replicates), "one run");
  if (command.fork_at_us && !command.register_trace.empty())
    refuse("--register-trace, which names one file for all variants", "a run without it");
  if (command.fork_at_us ? !guest_page().is_watched.load() : !has_keeper_of_snapshots())
    refuse("no parent process that watches the run, as with --in-process", "a run that is watched");
}

void require_memory_for_copies(const RunCommand& command, const RunConfiguration& configuration, std::size_t jobs) {
  std::vector<MemoryPart> parts = memory_need(configuration);
  const double one = std::accumulate(parts.begin(), parts.end(), 0.0,
                                     [](double sum, const MemoryPart& part) { return sum + part.bytes; });
  if (command.snapshot_every_us) parts.push_back({"two snapshots (--snapshot-every)", 2 * one});
  if (command.fork_at_us)
    parts.push_back({fmt::format("{} variants at a time (--jobs)", jobs), static_cast<double>(jobs) * one});
  require_memory(command.file, parts);
}

}  // namespace t3vp
