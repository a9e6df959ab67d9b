#include "run/error_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

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

bool is_passed_on(const processor::Processor& processor) {
  return processor.finished() && processor.status() == processor.unread_error().code;
}

}  // namespace

void report_unread_error(const Node& node, RunResult& result) {
  const processor::Processor* first = nullptr;
  for (const auto& gpu : node.gpus()) {
    const processor::Processor& processor = gpu->processor;
    if (processor.unread_error().code == Status::ok || is_passed_on(processor)) continue;
    if (first == nullptr || processor.unread_error().time < first->unread_error().time) first = &processor;
  }
  if (first != nullptr)
    result.diagnosis.push_back(fmt::format("GPU {} firmware has not read an error: {} {}", first->gpu(),
                                           name_of(first->unread_error().code), text_of_error(first->unread_error())));
}

/// A guest may err thousands of times.
void report_errors(const Node& node, RunResult& result) {
  constexpr std::size_t told = 4;
  for (const auto& gpu : node.gpus()) {
    const processor::Processor& processor = gpu->processor;
    const auto& records = gpu->error_log.records();
    for (const std::string& mistake : processor.mistakes())
      result.diagnosis.push_back(fmt::format("GPU {} firmware {}", processor.gpu(), mistake));
    for (const processor::Processor::PhaseTime& phase : processor.phases())
      if (processor.finished() && processor.status() == Status::ok && phase.end == never)
        result.diagnosis.push_back(fmt::format("GPU {} firmware has not ended the phase {}, which began at {:.3f} ns",
                                               processor.gpu(), phase.phase, to_ns(phase.begin)));
    if (processor.status() != Status::ok && !processor.crashed())
      result.diagnosis.push_back(
          fmt::format("GPU {} firmware ended with {}{}", processor.gpu(), text_of_end(processor.status()),
                      is_passed_on(processor) ? "; " + text_of_error(processor.unread_error()) : ""));
    for (std::size_t i = 0; i < records.size(); ++i) {
      std::string line =
          fmt::format("GPU {} error log at {:.3f} ns: {}: {} at {:#x}: {}", processor.gpu(), to_ns(records[i].time),
                      records[i].block, name_of(static_cast<Status>(records[i].record.code)), records[i].record.address,
                      records[i].record.text);
      if (i < told) result.diagnosis.push_back(line);
      result.error_log.push_back(std::move(line));
    }
    if (gpu->error_log.reported() <= told) continue;
    const std::uint64_t more = gpu->error_log.reported() - told;
    result.diagnosis.push_back(fmt::format("GPU {} error log: {} more {}, in error_log of report.json", processor.gpu(),
                                           more, more == 1 ? "entry" : "entries"));
  }
}

}  // namespace t3vp
