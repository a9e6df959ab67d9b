#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "cli/command_line.h"
#include "cli/copied_runs.h"
#include "cli/debugger_port.h"
#include "cli/measured_run.h"
#include "cli/register_trace_file.h"
#include "cli/replicate_runs.h"
#include "cli/runs_of_tables.h"
#include "cli/snapshot_stops.h"
#include "cli/variant_stops.h"
#include "guests/snapshots.h"
#include "io/console.h"
#include "io/file_lock.h"
#include "io/input_error.h"
#include "io/output_file.h"
#include "partition/transport.h"
#include "report/progress_line.h"
#include "report/report.h"
#include "report/result_table.h"
#include "report/results_folder.h"
#include "report/warnings.h"
#include "run/simulation.h"

namespace t3vp {

using nlohmann::json;

namespace {

double peak_rss_MiB() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;  // Linux counts in KiB
}

/// Throws InputError when the window is empty, or there is no timeline to limit.
TraceWindow window_of(const RunCommand& command) {
  constexpr double ps_per_us = 1e6;
  TraceWindow window;
  const char* const option = command.trace_from_us ? "--trace-from" : "--trace-to";
  if ((command.trace_from_us || command.trace_to_us) && !command.trace && !command.snapshot_every_us)
    throw InputError(option, "no --trace", "--trace or --snapshot-every, whose timeline it limits");
  if (command.trace_from_us) window.from = static_cast<Picoseconds>(std::llround(*command.trace_from_us * ps_per_us));
  if (command.trace_to_us) window.to = static_cast<Picoseconds>(std::llround(*command.trace_to_us * ps_per_us));
  if (window.from >= window.to)
    throw InputError("--trace-to", fmt::format("{}", *command.trace_to_us),
                     fmt::format("more than --trace-from, which is {}", command.trace_from_us.value_or(0)));
  return window;
}

Outputs outputs_of(const RunCommand& command) {
  Outputs outputs{{}, {command.out}};
  if (!command.register_trace.empty()) outputs.files.push_back(command.register_trace);
  add_replicates(outputs, command.replicates, command.out);
  return outputs;
}

/// What acts on the way of a run; both are null in most runs.
struct Stops {
  std::unique_ptr<SnapshotStops> snapshots;
  std::unique_ptr<VariantStops> variants;
};

RunResult measured(const RunConfiguration& configuration, const OpenedSoftware& software, const RunCommand& command,
                   RegisterTrace* register_trace, debug::TcpPort* debugger, const Stops& stops) {
  ProgressLine line;
  RunOptions options;
  options.software = &software;
  options.debugger = debugger;
  options.out = command.out;
  options.trace = command.trace;
  options.trace_window = window_of(command);
  options.register_trace = register_trace;
  options.dump_arrays = command.dump_arrays;
  if (stops.snapshots) options.stops = stops.snapshots.get();
  if (stops.variants) {
    options.stops = stops.variants.get();
    options.trace = false;
    stops.variants->attach(options, line, command.trace);
  }
  return measured_run(configuration, options, line);
}

/// The same; what fails goes on from its snapshot when there is one.
RunResult measured_or_left(const RunConfiguration& configuration, const OpenedSoftware& software,
                           const RunCommand& command, RegisterTrace* register_trace, debug::TcpPort* debugger,
                           const Stops& stops) {
  try {
    return measured(configuration, software, command, register_trace, debugger, stops);
  } catch (const InputError&) {
    throw;
  } catch (const std::exception&) {
    leave_to_snapshot();
    throw;
  }
}

int end_of_variants(const VariantsEnded& ended, const VariantStops& variants) {
  print(variants.table());
  return ended.has_failed ? failed : success;
}

}  // namespace

RunResult measured_run(const RunConfiguration& configuration, RunOptions options, ProgressLine& line) {
  const bool is_first = options.transport == nullptr || options.transport->rank() == 0;
  if (is_first)
    options.progress = [&line](std::optional<double> done, const std::string& phase) { line.show(done, phase); };
  const auto begin = std::chrono::steady_clock::now();
  RunResult result = simulate(configuration, options);
  result.host.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.host.peak_rss_MiB = peak_rss_MiB();
  return result;
}

void write_report(const nlohmann::ordered_json& report, const std::filesystem::path& asked,
                  const std::filesystem::path& folder) {
  write_text(folder / "report.json", report.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
  print(result_table(report) + fmt::format("  report: {}\n", (asked / "report.json").lexically_normal().string()));
}

int run(const RunCommand& asked) {
  RunCommand command = asked;
  command.out = std::filesystem::absolute(asked.out);  // wherever a program goes meanwhile
  if (!asked.register_trace.empty()) command.register_trace = std::filesystem::absolute(asked.register_trace);
  std::vector<std::string> settings = command.settings;
  if (command.timeout_s) settings.push_back(fmt::format("limits.wall_s={}", *command.timeout_s));
  const RunConfiguration configuration = load_run(command.file, settings);
  if (command.print_config) {
    print(configuration.resolved.dump(2) + "\n");
    return success;
  }
  if (command.gdb && configuration.firmware != "riscv")
    throw InputError("--gdb", "firmware " + configuration.firmware, "firmware riscv, as by --set firmware=riscv");
  if (command.gdb && command.replicates > 1)
    throw InputError("--replicates", fmt::format("{} runs beside --gdb", command.replicates), "1");
  const TraceWindow window = window_of(command);  // checked before anything is written
  refuse_copies(command);
  const unsigned jobs = command.jobs != 0 ? command.jobs : available_cores();
  std::vector<Variant> variants;
  if (command.fork_at_us) variants = load_variants(command.variants, command.file, settings, configuration);
  require_memory_for_copies(command, configuration, std::min<std::size_t>(jobs, variants.size()));
  const OpenedSoftware software(configuration);
  Outputs outputs = outputs_of(command);
  add_variants(outputs, variants, command.out);
  require_apart(outputs);
  prepare_folder(command.out);
  const FileLock turn = FileLock::of_folder(command.out);
  remove_results(command.out);
  remove_replicates(command.out);
  remove_variants(command.out);
  RegisterTraceFile register_trace("--register-trace", command.register_trace);
  const std::unique_ptr<debug::TcpPort> port = debugger_port(command.gdb);
  Stops stops;
  if (command.snapshot_every_us)
    stops.snapshots = std::make_unique<SnapshotStops>(configuration, command, window, register_trace);
  if (command.fork_at_us)
    stops.variants = std::make_unique<VariantStops>(variants, *command.fork_at_us, jobs, command.out);
  RunResult result;
  try {
    result = measured_or_left(configuration, software, command, register_trace.trace(), port.get(), stops);
  } catch (const VariantsEnded& ended) {
    return end_of_variants(ended, *stops.variants);
  }
  register_trace.complete();
  if (stops.snapshots) stops.snapshots->complete();
  const Variant* const variant = stops.variants ? stops.variants->variant() : nullptr;
  if (stops.variants && variant == nullptr)
    throw InputError("--fork-at", fmt::format("{} us, when the run is over", *command.fork_at_us),
                     "a time within the run");
  if (variant != nullptr) command.out = stops.variants->folder();
  nlohmann::ordered_json report = report_json(variant != nullptr ? variant->configuration : configuration, result);
  if (stops.variants) stops.variants->add_to(report);
  const bool has_failed = !failures(result).empty();
  if (command.replicates > 1 && !has_failed) {
    replicate(configuration, command.replicates, jobs, command.out, report);
    set_warnings(report);
  }
  write_report(report, variant != nullptr ? command.out : asked.out, command.out);
  return has_failed ? failed : success;
}

}  // namespace t3vp
