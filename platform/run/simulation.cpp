#include "run/simulation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <stdexcept>

#include "guests/guest_ends.h"
#include "guests/guest_page.h"
#include "guests/native_hal.h"
#include "guests/program_run.h"
#include "io/console.h"
#include "node/main_stack.h"
#include "node/node.h"
#include "progress/barrier_watch.h"
#include "progress/diagnosis.h"
#include "progress/poll_watch.h"
#include "progress/program_activity.h"
#include "progress/quiet_polls.h"
#include "progress/read_watch.h"
#include "progress/spin_watch.h"
#include "register_access/names/plugged_names.h"
#include "report/late_trace.h"
#include "run/core_debugger.h"
#include "run/fault_outcomes.h"
#include "run/figures.h"
#include "run/guest_errors.h"
#include "run/hardware_monitor.h"
#include "run/host_services.h"
#include "run/node_parameters.h"
#include "run/operation_run.h"
#include "run/parallel_run.h"
#include "run/path_track.h"
#include "run/program_of_run.h"
#include "run/reference.h"
#include "run/run_stops.h"
#include "run/traffic_meter.h"

namespace t3vp {
namespace {

bool all_finished(const Node& node) {
  return std::all_of(node.gpus().begin(), node.gpus().end(), [](const auto& gpu) { return gpu->processor.finished(); });
}

/// A program that fails may have been about to ask for more.
bool all_succeeded(const Node& node) {
  return std::all_of(node.gpus().begin(), node.gpus().end(), [](const auto& gpu) {
    return gpu->processor.finished() && gpu->processor.status() == Status::ok;
  });
}

/// Share of the workgroups that are done, where it is known how many there will be: those of persistent kernels, and of
/// a program of one's own, say nothing of how far the work is.
double done(const RunConfiguration& configuration, const Node& node) {
  const std::optional<double> expected = configuration.workload->expected_workgroups(configuration);
  if (!expected || configuration.software.library) return GuestPage::unknown;
  return std::min(static_cast<double>(node.gpus()[0]->compute.finished_workgroups()) / *expected, 1.0);
}

[[noreturn]] void end_at_limit(const RunConfiguration& configuration, const GuestPage& page) {
  throw std::runtime_error(fmt::format("limits.simulated_ms: the run is not over after {} ms; {}{}",
                                       *configuration.limits.simulated_ms, progress_of(page), page.told.view()));
}

/// An exception in a process leaves SystemC as a report, whose message alone describes it. The page says whether
/// firmware or a kernel has thrown it, since the thrower does not return control.
std::runtime_error error_of(const sc_core::sc_report& report, const GuestPage& page) {
  const std::string what = report.get_msg();
  if (what.find("bad_alloc") != std::string::npos)
    return std::runtime_error(fmt::format("the host has not enough memory for {}", report.get_process_name()));
  if (!page.computes()) return std::runtime_error(what);
  return std::runtime_error(
      fmt::format("{} has thrown what nobody catches: {}", std::string_view(GuestName(page)), what));
}

void simulate_for(Picoseconds time, const GuestPage& page) {
  try {
    sc_core::sc_start(to_sc_time(time), sc_core::SC_EXIT_ON_STARVATION);
  } catch (const sc_core::sc_report& report) {
    throw error_of(report, page);
  }
  return_to_main_stack();
}

/// The parts of a run besides its node.
struct Parts {
  const RunConfiguration& configuration;
  const RunOptions& options;
  const Arguments& arguments;
  const OperationRun* operations;  ///< null: there are none
  GuestPage& page;
  std::vector<std::string>& given_up;  ///< waits, in words
  ReadWatch& reads;
  CoreDebugger* debugger;  ///< null: none
  RunStops* stops;         ///< null: none
  StoppedRun& stopped;     ///< this run, for the stops

  Parts without_stops() const {
    return {configuration, options, arguments, operations, page, given_up, reads, debugger, nullptr, stopped};
  }
};

bool happens_until(Picoseconds time) {
  return sc_core::sc_pending_activity() && now() + from_sc_time(sc_core::sc_time_to_pending_activity()) <= time;
}

/// Lets time pass until then, and acts at the stops on the way.
void simulate_until(Picoseconds end, const Parts& parts) {
  bool has_stopped = false;
  for (RunStops* const stops = parts.stops; stops != nullptr && stops->next() <= end; has_stopped = true) {
    if (happens_until(stops->next())) simulate_for(stops->next() - now(), parts.page);
    if (!sc_core::sc_pending_activity()) return;  // a deadlock or the end: no later stop is worth more than this one
    stops->stop(parts.stopped);
  }
  if (!has_stopped || (end > now() && happens_until(end))) simulate_for(end - now(), parts.page);
}

/// For the line that ends a run at a limit.
void tell(const Node& node, const Parts& parts) {
  std::string text = firmware_activity(node);
  for (const FaultOutcome& fault : fault_outcomes(parts.configuration, node, {}, resending_of(node)))
    text += "; " + (fault.struck ? text_of(fault) : fmt::format("fault {} has not struck", fault.name));
  parts.page.told.set(text);
  parts.page.done = parts.operations != nullptr ? parts.operations->done() : done(parts.configuration, node);
}

void show_progress(const Parts& parts) {
  if (!parts.options.progress) return;
  if (parts.page.done == GuestPage::unknown)
    parts.options.progress(std::nullopt, progress_of(parts.page));
  else
    parts.options.progress(parts.page.done, parts.configuration.workload->label());
}

/// Waits while the client has stopped the run.
void look_at(CoreDebugger& debugger) {
  debugger.look_for_interrupt();
  if (debugger.is_killed()) throw std::runtime_error("the debugger has ended the run");
}

std::unique_ptr<CoreDebugger> debugger_of(const Node& node, const RunOptions& options, RunClock& clock) {
  if (options.debugger == nullptr) return nullptr;
  std::vector<CoreDebugger::DebuggedCore> cores;
  for (const auto& gpu : node.gpus()) cores.push_back({&gpu->core().core, fmt::format("GPU {}", gpu->processor.gpu())});
  CoreDebugger::Times times;
  times.on_stand = [&clock](bool stands) { clock.stand(stands); };
  return std::make_unique<CoreDebugger>(
      *options.debugger, std::move(cores),
      [&node](std::size_t gpu, const std::string& words) { return monitor(node, gpu, words); }, std::move(times));
}

/// Lets simulated time pass until nothing is left to happen, a program or a kernel polls in vain, a program errs
/// without end or misses an argument.
void run_dry(const Node& node, const Parts& parts) {
  const auto& [configuration, options, arguments, operations, page, given_up, reads, debugger, stops, stopped] = parts;
  constexpr Picoseconds stride = 20'000'000, short_stride = 100'000;
  const Limits& limits = configuration.limits;  // which may change at a stop
  tell(node, parts);
  PollWatch polls(node, limits.polls);
  BarrierWatch barriers(node);
  QuietPolls kernels(node);
  SpinWatch spins(node, limits.firmware_s, page.clock);
  while (sc_core::sc_pending_activity() && !polls.in_vain() && !reads.in_vain() && arguments.refusals().empty() &&
         !errs_without_end(node, limits.errors)) {
    for (std::string& wait : barriers.give_up()) given_up.push_back(std::move(wait));
    kernels.look();
    if (spins.in_vain())
      throw std::runtime_error(
          fmt::format("limits.firmware_s: {} has computed for {} s of the host's time without an access to the node, a "
                      "call of its host or a character printed",
                      spins.text(), limits.firmware_s));
    const Picoseconds limit = limits.simulated_ms ? from_ns(*limits.simulated_ms * 1e6) : never;
    const Picoseconds next = now() + from_sc_time(sc_core::sc_time_to_pending_activity());
    if (next > limit) end_at_limit(configuration, page);
    // A stride within which nothing happens would not move the time.
    simulate_until(std::min(next + (kernels.are_held() ? short_stride : stride), limit), parts);
    polls.set_limit(limits.polls);
    reads.set_limit(limits.polls);
    spins.set_limit(limits.firmware_s);
    if (debugger != nullptr) look_at(*debugger);
    page.simulated = now();
    require_own_process();
    tell(node, parts);
    show_progress(parts);
  }
}

/// The same in a run of several processes, window after window. Polls in vain are not noticed, as nobody sees all GPUs.
void run_windows(ParallelRun& parallel, const Node& node, const Parts& parts) {
  const auto& [configuration, options, arguments, operations, page, given_up, reads, debugger, stops, stopped] = parts;
  const auto& limit_ms = configuration.limits.simulated_ms;
  const Picoseconds limit = limit_ms ? from_ns(*limit_ms * 1e6) + 1 : never;
  const auto wants_to_stop = [&] {
    return !arguments.refusals().empty() || errs_without_end(node, configuration.limits.errors);
  };
  const auto run_until = [&](Picoseconds time) {
    const Picoseconds end = std::min(time, limit);
    if (happens_until(end - 1)) simulate_for(end - now(), page);
    page.simulated = now();
  };
  constexpr std::uint64_t windows_per_look = 64;
  const SilenceLimit wait_limit = parallel.limit_waits();
  while (parallel.run_next(run_until, wants_to_stop(), limit)) {
    if (parallel.windows() % windows_per_look != 0) continue;
    require_own_process();
    tell(node, parts);
    show_progress(parts);
  }
  if (parallel.earliest() == never || parallel.earliest() < limit) return;
  parallel.wait_unless_first();
  end_at_limit(configuration, page);
}

/// At a deadlock with firmware that has not ended: reports the causes. Then it returns one wait after the other to its
/// program, since the program's next actions may be what another one waits for.
void diagnose(Node& node, const Parts& parts, RunResult& result) {
  const std::vector<std::string> lines = diagnosis(parts.configuration, node);
  if (parts.debugger != nullptr)
    parts.debugger->show_end(fmt::format("{}\nnothing can happen any more", fmt::join(lines, "\n")));
  result.diagnosis.insert(result.diagnosis.end(), lines.begin(), lines.end());
  constexpr std::uint32_t most_told = 100;  // a program that waits on after so many is left there
  std::vector<std::uint32_t> told(node.gpus().size());
  while (!sc_core::sc_pending_activity()) {
    processor::Processor* const next = next_to_give_up(parts.configuration, node, told);
    if (next == nullptr || told[next->gpu()]++ == most_told) return;
    next->give_up_waiting();
    run_dry(node, parts);
  }
}

std::vector<const t3_kernel* const*> kernels_of(const OpenedSoftware& software, const RunOptions& options,
                                                std::size_t gpus) {
  std::vector<const t3_kernel* const*> lists;
  for (std::size_t gpu = 0; gpu < gpus; ++gpu)
    lists.push_back(options.kernels != nullptr ? options.kernels : software.kernels(gpu));
  return lists;
}

void run_natively(Gpu& gpu, processor::CommandProcessor::Program program, GuestPage& page) {
  gpu.native().run([run = std::move(program)](processor::CommandProcessor& processor) {
    return guarded_call([&] { return run(processor); });
  });
  gpu.native().on_control([&page, number = gpu.processor.gpu()](bool to_program) {
    if (!to_program) require_own_call(number);
    page.enter_firmware();
    page.pass(number);
  });
}

CoreProgram core_program(const RunConfiguration& configuration, const ElfFile& image, const ProgramRun& run,
                         const Node& node) {
  return {image, configuration.software.program, run, node.hosts().hosts(), configuration.functional};
}

}  // namespace

RunResult simulate(const RunConfiguration& begun, const RunOptions& options) {
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  RunConfiguration changing = begun;  // at stops
  const RunConfiguration& configuration = changing;
  const std::unique_ptr<const OpenedSoftware> opened =
      options.software == nullptr ? std::make_unique<OpenedSoftware>(configuration) : nullptr;
  const OpenedSoftware& software = opened ? *opened : *options.software;
  GuestPage& page = guest_page();
  const GuestEnds ends;
  const HeldLimits limits(configuration.limits);
  LateTrace timeline;
  if (options.trace) timeline.record(std::make_unique<PerfettoTrace>(options.out / "trace.json", options.trace_window));
  if (options.trace) follow_path();
  NodeParameters parameters = node_parameters(configuration);
  parameters.options.protocol_later = options.stops != nullptr && options.stops->may_check_protocol();
  const bool may_trace = options.trace || options.stops != nullptr;
  Node node("node", parameters, kernels_of(software, options, parameters.gpus.size()), may_trace ? &timeline : nullptr);
  name_plugged_blocks(node);
  if (options.register_trace != nullptr) options.register_trace->observe(node);
  std::unique_ptr<ParallelRun> parallel;
  if (options.transport != nullptr)
    parallel = std::make_unique<ParallelRun>(configuration, node, parameters, *options.transport);
  TrafficMeter meter(node, [&parallel](const PhaseBoundary& boundary) {
    if (parallel) parallel->announce(boundary);
  });
  if (parallel) parallel->on_phase([&meter](const PhaseBoundary& boundary) { meter.note(boundary); });
  Reference reference(configuration);
  std::unique_ptr<OperationRun> operations;
  GivenRun run(program_of_run(configuration));
  if (!configuration.workload->operations().empty())
    operations = std::make_unique<OperationRun>(configuration, *node.gpus()[0]);
  std::vector<std::string> refused;  // buffers that programs have published
  Arguments arguments = arguments_of(configuration);
  std::deque<HostServices> services;  // of cores
  ReadWatch reads(node, configuration.limits.polls);
  std::vector<Gpu*> simulated;  // by this process
  for (std::size_t g = 0; g < node.gpus().size(); ++g) {
    const auto& gpu = node.gpus()[g];
    if (parallel && !parallel->has(g)) continue;
    simulated.push_back(gpu.get());
    if (options.program == nullptr && software.image() != nullptr)
      services.emplace_back(gpu->core(), core_program(configuration, *software.image(), run.run(), node), arguments);
    else
      run_natively(*gpu,
                   native_program(options.program != nullptr ? options.program : software.program(g), run, arguments),
                   page);
    gpu->processor.on_log([number = gpu->processor.gpu()](const std::string& text) {
      print_error(fmt::format("GPU {} at {:.3f} ns: {}", number, to_ns(now()), text));
    });
    gpu->compute.on_code([&page, &reads, &compute = gpu->compute, number = gpu->processor.gpu(),
                          before = std::uint64_t{0}](const compute::KernelCode* code) mutable {
      static_assert(GuestPage::nowhere == compute::KernelCode::none);
      const std::uint64_t ended = compute.finished_workgroups();
      if (code != nullptr) page.enter_kernel(code->kernel, code->workgroup, code->wave);
      if (code != nullptr) reads.note(number, *code);
      page.pass(number, ended != before);
      before = ended;
    });
    if (operations) continue;  // it looks at what is published by itself
    gpu->processor.on_publish([&reference, &refused, &node, &gpu = *gpu](const processor::PublishedBuffer& buffer) {
      if (node.torus() != nullptr)
        node.torus()->add({buffer.address, buffer.rows * buffer.row_stride, buffer.row_stride});
      std::string refusal = reference.refusal(gpu, buffer);
      if (refusal.empty()) refusal = reference.take(gpu, buffer);
      if (!refusal.empty()) refused.push_back(std::move(refusal));
    });
  }

  if (options.watch) options.watch(node);
  RunResult result;
  std::vector<std::string> given_up;
  const std::unique_ptr<CoreDebugger> debugger = debugger_of(node, options, page.clock);
  StoppedRun stopped(node, timeline, changing, run, services);
  const Parts parts{configuration, options, arguments,      operations.get(), page,
                    given_up,      reads,   debugger.get(), options.stops,    stopped};
  tell(node, parts);
  if (options.stops != nullptr && options.stops->next() == 0) options.stops->stop(stopped);
  simulate_for(0, page);  // before it nothing is pending
  if (parallel)
    run_windows(*parallel, node, parts);
  else
    run_dry(node, parts);
  require_own_process();
  require_fit(configuration, arguments, all_succeeded(node));
  result.diagnosis = refused;
  if (!configuration.allow_errors) report_unread_error(node, result);
  report_errors(node, result);
  if (errs_without_end(node, configuration.limits.errors))
    result.diagnosis.push_back(
        fmt::format("limits.errors: a GPU's error log has got more than {} entries", configuration.limits.errors));
  if (reads.in_vain()) result.diagnosis.push_back(reads.text());
  const bool is_finished = parallel ? parallel->all_agree(all_finished(node)) : all_finished(node);
  if (!is_finished) {
    const double share = done(configuration, node);
    result.stopped = StoppedAt{to_ns(now()), share < 0 ? std::nullopt : std::make_optional(share)};
  }
  if (!is_finished && parallel)
    parallel->add_waits(result.diagnosis);
  else if (!is_finished)
    diagnose(node, parts.without_stops(), result);
  else
    append_left_behind(configuration, node, result.diagnosis);
  result.diagnosis.insert(result.diagnosis.end(), given_up.begin(), given_up.end());
  if (const std::string line = broken_rules(node); !line.empty()) result.diagnosis.push_back(line);
  const std::vector<std::string> wrong = wrong_accesses(node);
  result.diagnosis.insert(result.diagnosis.end(), wrong.begin(), wrong.end());
  if (operations) result.operations = operations->figures();
  if (parallel)
    parallel->gather(meter, result);
  else
    gather_figures(configuration, node, meter, result);
  result.host.events = sc_core::sc_delta_count();
  WrongElement wrong_element;
  if (result.diagnosis.empty()) wrong_element.strike(configuration, node);
  if (configuration.functional && result.diagnosis.empty())
    result.functional = operations ? operations->functional() : reference.check(simulated);
  const Resending resending = parallel ? parallel->total(resending_of(node)) : resending_of(node);
  result.faults = fault_outcomes(configuration, node, wrong_element, resending);
  if (parallel) parallel->merge_checks(result);
  if (options.stops != nullptr) options.stops->ended(failures(result));
  if (configuration.functional && options.dump_arrays && refused.empty()) reference.dump(node, options.out);
  if (PerfettoTrace* const trace = timeline.timeline()) {
    show_path(node, *trace);
    trace->close();
  }
  if (debugger) debugger->exit(failures(result).empty() ? 0 : 1);
  return result;
}

}  // namespace t3vp
