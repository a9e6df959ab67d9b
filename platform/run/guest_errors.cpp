#include "run/guest_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>
#include <vector>

#include "protocol/units.h"

namespace t3vp {
namespace {

/// "busy: it is in use and cannot be changed now", of what a program has returned, which may be any number.
std::string text_of_end(Status status) {
  if (std::find(std::begin(status_values), std::end(status_values), status) == std::end(status_values))
    return fmt::format("{}, which is no code of t3_status", static_cast<std::int32_t>(status));
  return fmt::format("{}: {}", name_of(status), text_of(status));
}

/// "at 650.000 ns: t3_dma_map: chunk: 1 or more workgroups of the output expected"
std::string text_of_error(const processor::Processor::CallError& error) {
  return fmt::format("at {:.3f} ns: {}", to_ns(error.time), error.text);
}

/// The errors of a GPU's program and blocks.
struct GpuErrors {
  std::vector<std::string> told;  ///< in the diagnosis
  std::vector<std::string> log;

  template <typename Self>
  static auto fields(Self& self) {
    return std::tie(self.told, self.log);
  }
};

/// A failure that a program has neither read nor returned.
struct Unread {
  Picoseconds time = never;
  std::string text;  ///< empty: none

  template <typename Self>
  static auto fields(Self& self) {
    return std::tie(self.time, self.text);
  }
};

bool is_passed_on(const processor::Processor& processor) {
  return processor.finished() && processor.status() == processor.unread_error().code;
}

Unread unread_error_of(const Gpu& gpu) {
  const processor::Processor& processor = gpu.processor;
  const processor::Processor::CallError& error = processor.unread_error();
  if (error.code == Status::ok || is_passed_on(processor)) return {};
  return {error.time, fmt::format("GPU {} firmware has not read an error: {} {}", processor.gpu(), name_of(error.code),
                                  text_of_error(error))};
}

GpuErrors errors_of(const Gpu& gpu) {
  constexpr std::size_t told = 4;  // entries of its log
  GpuErrors errors;
  const processor::Processor& processor = gpu.processor;
  const auto& records = gpu.error_log.records();
  for (const std::string& mistake : processor.mistakes())
    errors.told.push_back(fmt::format("GPU {} firmware {}", processor.gpu(), mistake));
  for (const processor::Processor::PhaseTime& phase : processor.phases())
    if (processor.finished() && processor.status() == Status::ok && phase.end == never)
      errors.told.push_back(fmt::format("GPU {} firmware has not ended the phase {}, which began at {:.3f} ns",
                                        processor.gpu(), phase.phase, to_ns(phase.begin)));
  if (processor.status() != Status::ok && !processor.crashed())
    errors.told.push_back(fmt::format("GPU {} firmware ended with {}{}", processor.gpu(),
                                      text_of_end(processor.status()),
                                      is_passed_on(processor) ? "; " + text_of_error(processor.unread_error()) : ""));
  for (std::size_t i = 0; i < records.size(); ++i) {
    std::string line = fmt::format(
        "GPU {} error log at {:.3f} ns: {}: {} at {:#x}: {}", processor.gpu(), to_ns(records[i].time), records[i].block,
        name_of(static_cast<Status>(records[i].record.code)), records[i].record.address, records[i].record.text);
    if (i < told) errors.told.push_back(line);
    errors.log.push_back(std::move(line));
  }
  if (gpu.error_log.reported() <= told) return errors;
  const std::uint64_t more = gpu.error_log.reported() - told;
  errors.told.push_back(fmt::format("GPU {} error log: {} more {}, in error_log of report.json", processor.gpu(), more,
                                    more == 1 ? "entry" : "entries"));
  return errors;
}

}  // namespace

bool errs_without_end(const Pulse& pulse, std::uint64_t limit) {
  return std::any_of(pulse.begin(), pulse.end(), [limit](const GpuPulse& gpu) { return gpu.errors > limit; });
}

void report_unread_error(const AllGpus& all, RunResult& result) {
  const std::vector<Unread> unread = all.ask(unread_error_of);
  const auto first =
      std::min_element(unread.begin(), unread.end(), [](const Unread& a, const Unread& b) { return a.time < b.time; });
  if (!first->text.empty()) result.diagnosis.push_back(first->text);
}

void report_errors(const AllGpus& all, RunResult& result) {
  for (const GpuErrors& errors : all.ask(errors_of)) {
    result.diagnosis.insert(result.diagnosis.end(), errors.told.begin(), errors.told.end());
    result.error_log.insert(result.error_log.end(), errors.log.begin(), errors.log.end());
  }
}

}  // namespace t3vp
