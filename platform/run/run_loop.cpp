#include "run/run_loop.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "guests/guest_ends.h"
#include "node/main_stack.h"
#include "progress/diagnosis.h"
#include "progress/poll_watch.h"
#include "progress/program_activity.h"
#include "progress/quiet_polls.h"
#include "progress/spin_watch.h"
#include "run/fault_outcomes.h"
#include "run/guest_errors.h"

namespace t3vp {
namespace {

[[noreturn]] void end_at_limit(const RunParts& parts) {
  if (parts.parallel != nullptr) parts.parallel->wait_unless_first();
  throw std::runtime_error(fmt::format("limits.simulated_ms: the run is not over after {} ms; {}{}",
                                       *parts.configuration.limits.simulated_ms, progress_of(parts.page),
                                       parts.page.told.view()));
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

bool happens_until(Picoseconds time) { return Boundary::next_event_time() <= time; }

/// Lets time pass until then, and acts at the stops on the way.
void simulate_until(Picoseconds end, const RunParts& parts) {
  bool has_stopped = false;
  for (RunStops* const stops = parts.stops; stops != nullptr && stops->next() <= end; has_stopped = true) {
    if (happens_until(stops->next())) simulate_for(stops->next() - now(), parts.page);
    if (!sc_core::sc_pending_activity()) return;  // a deadlock or the end: no later stop is worth more than this one
    stops->stop(parts.stopped);
  }
  if (!has_stopped || (end > now() && happens_until(end))) simulate_for(end - now(), parts.page);
}

/// Waits while the client has stopped the run.
void look_at(CoreDebugger& debugger) {
  debugger.look_for_interrupt();
  if (debugger.is_killed()) throw std::runtime_error("the debugger has ended the run");
}

}  // namespace

bool all_finished(const Pulse& pulse) {
  return std::all_of(pulse.begin(), pulse.end(), [](const GpuPulse& gpu) { return gpu.finished; });
}

bool all_succeeded(const Pulse& pulse) {
  return std::all_of(pulse.begin(), pulse.end(), [](const GpuPulse& gpu) { return gpu.has_succeeded; });
}

void simulate_for(Picoseconds time, const GuestPage& page, sc_core::sc_starvation_policy at_starvation) {
  try {
    sc_core::sc_start(to_sc_time(time), at_starvation);
  } catch (const sc_core::sc_report& report) {
    throw error_of(report, page);
  }
  return_to_main_stack();
}

RunLoop::RunLoop(Node& node, const RunParts& parts)
    : node_(node),
      parts_(parts),
      all_(parts.parallel != nullptr ? parts.parallel->all_gpus() : AllGpus(node)),
      pulse_(node.gpus().size()) {}

/// It is known how many workgroups there will be: those of persistent kernels, and of a program of one's own, say
/// nothing of how far the work is.
std::optional<double> RunLoop::done() const {
  const RunConfiguration& configuration = parts_.configuration;
  const std::optional<double> expected = configuration.workload->expected_workgroups(configuration);
  if (!expected || configuration.software.library) return {};
  return std::min(static_cast<double>(pulse_[0].workgroups) / *expected, 1.0);
}

std::vector<std::string> RunLoop::given_up() const {
  std::vector<GivenUpWait> waits = all_.gathered(given_up_);
  std::sort(waits.begin(), waits.end(), [](const GivenUpWait& a, const GivenUpWait& b) {
    return std::make_pair(a.time, a.gpu) < std::make_pair(b.time, b.gpu);
  });
  std::vector<std::string> lines;
  for (const GivenUpWait& wait : waits) lines.push_back(wait.text);
  return lines;
}

void RunLoop::tell() {
  std::string text = firmware_activity(all_);
  std::vector<FaultOutcome> faults = fault_outcomes(parts_.configuration, node_, {}, resending_of(node_));
  if (parts_.parallel != nullptr) parts_.parallel->merge_faults(faults);
  for (const FaultOutcome& fault : faults)
    text += "; " + (fault.struck ? text_of(fault) : fmt::format("fault {} has not struck", fault.name));
  parts_.page.told.set(text);
  parts_.page.done = parts_.operations != nullptr ? parts_.operations->done() : done().value_or(GuestPage::unknown);
}

void RunLoop::show_progress() const {
  if (!parts_.options.progress) return;
  if (parts_.page.done == GuestPage::unknown)
    parts_.options.progress(std::nullopt, progress_of(parts_.page));
  else
    parts_.options.progress(parts_.page.done, parts_.configuration.workload->label());
}

/// Returns the time of the earliest event of all ranks.
Picoseconds RunLoop::next() const {
  return parts_.parallel != nullptr ? parts_.parallel->earliest() : Boundary::next_event_time();
}

void RunLoop::meet() {
  if (parts_.parallel != nullptr) parts_.parallel->meet();
}

/// Lets time pass up to then. The events of that time follow, or have happened when it is the limit.
void RunLoop::advance(Picoseconds end, Picoseconds limit) {
  if (parts_.parallel == nullptr) return simulate_until(end, parts_);
  ParallelRun& parallel = *parts_.parallel;
  const auto run_until = [this](Picoseconds time) {
    if (happens_until(time - 1)) simulate_for(time - now(), parts_.page);
    parts_.page.simulated = now();
  };
  while (parallel.run_next(run_until, end == limit ? end + 1 : end)) continue;
  parallel.meet();
  // One process would be at its last event now, or at one of the end, which it has not run.
  const Picoseconds time = parallel.earliest() == end ? end : parallel.latest();
  if (time > now()) simulate_for(time - now(), parts_.page, sc_core::SC_RUN_TO_TIME);
}

void RunLoop::look() {
  pulse_ = pulse_of(all_);
  meet();
}

bool RunLoop::goes_on() {
  bool is_refused = !parts_.arguments.refusals().empty();
  if (parts_.parallel != nullptr) is_refused = !parts_.parallel->all_agree(!is_refused);
  return next() != never && !is_refused && !errs_without_end(pulse_, parts_.configuration.limits.errors);
}

void RunLoop::run_dry() {
  const auto& [configuration, options, arguments, operations, page, reads, debugger, stops, stopped, parallel] = parts_;
  constexpr Picoseconds stride = 20'000'000, short_stride = 100'000;
  const Limits& limits = configuration.limits;
  look();
  tell();
  PollWatch polls(pulse_, limits.polls);
  BarrierWatch barriers(node_);
  QuietPolls kernels(node_, pulse_);
  SpinWatch spins(node_, pulse_, limits.firmware_s, page.clock);
  meet();
  while (goes_on() && !polls.in_vain(pulse_) && reads.in_vain(all_, pulse_).empty()) {
    for (GivenUpWait& wait : barriers.give_up(pulse_)) given_up_.push_back(std::move(wait));
    kernels.look(pulse_);
    if (spins.in_vain(pulse_))
      throw std::runtime_error(
          fmt::format("limits.firmware_s: {} has computed for {} s of the host's time without an access to the node, a "
                      "call of its host or a character printed",
                      spins.text(), limits.firmware_s));
    meet();
    const Picoseconds limit = limits.simulated_ms ? from_ns(*limits.simulated_ms * 1e6) : never;
    if (next() > limit) end_at_limit(parts_);
    // A stride within which nothing happens would not move the time.
    advance(std::min(next() + (kernels.are_held() ? short_stride : stride), limit), limit);
    polls.set_limit(limits.polls);
    reads.set_limit(limits.polls);
    spins.set_limit(limits.firmware_s);
    if (debugger != nullptr) look_at(*debugger);
    page.simulated = now();
    require_own_process();
    look();
    tell();
    show_progress();
  }
}

void RunLoop::diagnose(std::vector<std::string>& lines) {
  parts_.stops = nullptr;
  const std::vector<std::string> found = diagnosis(parts_.configuration, all_);
  if (parts_.debugger != nullptr)
    parts_.debugger->show_end(fmt::format("{}\nnothing can happen any more", fmt::join(found, "\n")));
  lines.insert(lines.end(), found.begin(), found.end());
  constexpr std::uint32_t most_told = 100;  // a program that waits on after so many is left there
  std::vector<std::uint32_t> told(node_.gpus().size());
  while (next() == never) {
    const std::optional<std::size_t> gpu = next_to_give_up(parts_.configuration, all_, told);
    if (!gpu || told[*gpu]++ == most_told) return;
    if (all_.is_here(*gpu)) node_.gpus()[*gpu]->processor.give_up_waiting();
    run_dry();
  }
}

}  // namespace t3vp
