#include "cli/run_over_processes.h"

#include <fmt/format.h>

#include <exception>
#include <functional>
#include <optional>

#include "cli/measured_run.h"
#include "config/memory_need.h"
#include "io/console.h"
#include "io/exit_code.h"
#include "io/file_lock.h"
#include "io/input_error.h"
#include "io/output_file.h"
#include "io/rank_ends.h"
#include "partition/parallel_start.h"
#include "report/report.h"
#include "report/results_folder.h"
#include "run/parallel_run.h"

namespace t3vp {
namespace {

void refuse_options(const RunCommand& command) {
  const auto refuse = [](const char* option) {
    throw InputError(option, "a run over several processes", "a run in one process");
  };
  if (command.trace) refuse("--trace");
  if (command.dump_arrays) refuse("--dump-arrays");
  if (!command.register_trace.empty()) refuse("--register-trace");
  if (command.gdb) refuse("--gdb");
  if (command.replicates > 1) refuse("--replicates");
  if (command.snapshot_every_us) refuse("--snapshot-every");
  if (command.fork_at_us) refuse("--fork-at");
  if (!command.variants.empty()) refuse("--variants");
  if (command.trace_from_us) refuse("--trace-from");
  if (command.trace_to_us) refuse("--trace-to");
}

/// How a part of the run has failed.
struct Failure {
  int exit_code;
  std::string line;
};

std::optional<Failure> failure_of(const std::function<void()>& part) {
  try {
    part();
    return {};
  } catch (const InputError& error) {
    return Failure{bad_input, error.what()};
  } catch (const std::bad_alloc&) {
    return Failure{failed, "t3vp: there is not enough memory"};
  } catch (const std::exception& error) {
    return Failure{failed, std::string("t3vp: ") + error.what()};
  }
}

void report_end(const Failure& failure) {
  if (reports_end()) print_error(failure.line);
}

/// Returns the exit code when the part has failed on any rank. The first of them prints its line.
std::optional<int> failure_of_any(Transport& transport, const std::function<void()>& part) {
  const std::optional<Failure> mine = failure_of(part);
  const std::uint32_t rank = transport.rank(), none = transport.ranks();
  const auto first = transport.least({mine ? rank : none, mine ? static_cast<std::uint64_t>(mine->exit_code) : 99});
  if (first[0] == none) return {};
  if (first[0] == rank) report_end(*mine);
  return static_cast<int>(first[1]);
}

int run_as_one_of_several(const RunCommand& asked) {
  std::unique_ptr<Transport> transport;
  if (const auto failure = failure_of([&] {
        refuse_options(asked);
        transport = open_transport();
      })) {
    if (is_first_process()) print_error(failure->line);
    return failure->exit_code;
  }
  const bool is_first = transport->rank() == 0;
  const EndOfRank end(*static_cast<RankPage*>(transport->shared_memory(sizeof(RankPage))), transport->rank());
  RunCommand command = asked;
  command.out = std::filesystem::absolute(asked.out);
  RunConfiguration configuration;
  std::optional<OpenedSoftware> software;
  std::optional<FileLock> turn;
  const auto prepare = [&] {
    std::vector<std::string> settings = command.settings;
    if (command.timeout_s) settings.push_back(fmt::format("limits.wall_s={}", *command.timeout_s));
    configuration = load_run(command.file, settings);
    require_partitionable(configuration, command.file, transport->ranks());
    if (!is_first) configuration.limits.wall_s.reset();  // of which the first process tells
    require_memory(command.file, configuration);
    if (command.print_config) return;
    software.emplace(configuration);
    if (!is_first) return;
    prepare_folder(command.out);
    turn.emplace(FileLock::of_folder(command.out));
    remove_results(command.out);
  };
  if (const auto exit_code = failure_of_any(*transport, prepare)) return *exit_code;
  if (command.print_config) {
    if (is_first) print(configuration.resolved.dump(2) + "\n");
    return success;
  }
  RunOptions options;
  options.software = &*software;
  options.out = command.out;
  if (transport->ranks() > 1) options.transport = transport.get();
  RunResult result;
  ProgressLine line;
  // The others may wait for this process in the middle of a window.
  if (const auto failure = failure_of([&] { result = measured_run(configuration, options, line); })) {
    report_end(*failure);
    transport->abort(failure->exit_code);
  }
  const auto write = [&] {
    if (is_first) write_report(report_json(configuration, result), asked.out, command.out);
  };
  if (const auto exit_code = failure_of_any(*transport, write)) return *exit_code;
  return failures(result).empty() ? success : failed;
}

}  // namespace

/// The first process alone tells mpirun of a failure, by its exit code: mpirun ends all others at the first one.
int run_over_processes(const RunCommand& asked) {
  const int exit_code = run_as_one_of_several(asked);
  return is_first_process() ? exit_code : success;
}

}  // namespace t3vp
