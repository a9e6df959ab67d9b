#include "run/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "guests/guest_ends.h"
#include "guests/guest_page.h"
#include "guests/native_hal.h"
#include "guests/program_run.h"
#include "io/console.h"
#include "node/node.h"
#include "partition/silence_limit.h"
#include "progress/checker_lines.h"
#include "progress/diagnosis.h"
#include "progress/read_watch.h"
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
#include "run/run_loop.h"
#include "run/run_stops.h"
#include "run/traffic_meter.h"

namespace t3vp {
namespace {

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

void append(const std::vector<std::string>& more, std::vector<std::string>& lines) {
  lines.insert(lines.end(), more.begin(), more.end());
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
  std::vector<std::vector<std::string>> refused(node.gpus().size());  // buffers that programs have published
  Arguments arguments = arguments_of(configuration);
  std::deque<HostServices> services;  // of cores
  ReadWatch reads(node.gpus().size(), configuration.limits.polls);
  const AllGpus all = parallel ? parallel->all_gpus() : AllGpus(node);
  std::vector<Gpu*> simulated;  // by this process
  for (std::size_t g = 0; g < node.gpus().size(); ++g) {
    const auto& gpu = node.gpus()[g];
    if (!all.is_here(g)) continue;
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
    gpu->processor.on_publish(
        [&reference, &refused = refused[g], &node, &gpu = *gpu](const processor::PublishedBuffer& buffer) {
          if (node.torus() != nullptr)
            node.torus()->add({buffer.address, buffer.rows * buffer.row_stride, buffer.row_stride});
          std::string refusal = reference.refusal(gpu, buffer);
          if (refusal.empty()) refusal = reference.take(gpu, buffer);
          if (!refusal.empty()) refused.push_back(std::move(refusal));
        });
  }

  if (options.watch) options.watch(node);
  RunResult result;
  const std::unique_ptr<CoreDebugger> debugger = debugger_of(node, options, page.clock);
  StoppedRun stopped(node, timeline, changing, run, services);
  RunLoop loop(node, {configuration, options, arguments, operations.get(), page, reads, debugger.get(), options.stops,
                      stopped, parallel.get()});
  loop.tell();
  if (options.stops != nullptr && options.stops->next() == 0) options.stops->stop(stopped);
  simulate_for(0, page);  // before it nothing is pending
  std::optional<SilenceLimit> silence;
  if (parallel) silence.emplace(*options.transport, configuration.limits.rank_s);
  loop.run_dry();
  require_own_process();
  arguments.take_of_all(all.gathered(std::vector<std::string>(arguments.asked().begin(), arguments.asked().end())),
                        all.gathered(arguments.refusals()));
  require_fit(configuration, arguments, all_succeeded(loop.pulse()));
  for (const auto& of_gpu : all.ask([&refused](const Gpu& gpu) { return refused[gpu.processor.gpu()]; }))
    append(of_gpu, result.diagnosis);
  if (!configuration.allow_errors) report_unread_error(all, result);
  report_errors(all, result);
  if (errs_without_end(loop.pulse(), configuration.limits.errors))
    result.diagnosis.push_back(
        fmt::format("limits.errors: a GPU's error log has got more than {} entries", configuration.limits.errors));
  if (std::string text = loop.reads_in_vain(); !text.empty()) result.diagnosis.push_back(std::move(text));
  if (all_finished(loop.pulse())) {
    append_left_behind(configuration, all, result.diagnosis);
  } else {
    result.stopped = StoppedAt{to_ns(now()), loop.done()};
    loop.diagnose(result.diagnosis);
  }
  silence.reset();
  append(loop.given_up(), result.diagnosis);
  if (const std::string line = broken_rules(all); !line.empty()) result.diagnosis.push_back(line);
  append(wrong_accesses(all), result.diagnosis);
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
  if (parallel) parallel->merge_faults(result.faults);
  if (parallel) parallel->merge_checks(result.functional);
  if (options.stops != nullptr) options.stops->ended(failures(result));
  const bool is_none_refused =
      std::all_of(refused.begin(), refused.end(), [](const auto& list) { return list.empty(); });
  if (configuration.functional && options.dump_arrays && is_none_refused) reference.dump(node, options.out);
  if (PerfettoTrace* const trace = timeline.timeline()) {
    show_path(node, *trace);
    trace->close();
  }
  if (debugger) debugger->exit(failures(result).empty() ? 0 : 1);
  return result;
}

}  // namespace t3vp
