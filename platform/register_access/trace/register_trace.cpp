#include "register_access/trace/register_trace.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "protocol/address_map.h"

namespace t3vp {
namespace {

std::string text_of(const processor::ErrorLog::Entry& entry) {
  return fmt::format("{}: {}", name_of(static_cast<Status>(entry.record.code)), entry.record.text);
}

}  // namespace

void RegisterTrace::observe(Node& node) {
  for (const auto& gpu : node.gpus()) {
    gpu->observe_registers(this);
    gpu->error_log.on_report([this](const processor::ErrorLog::Entry& entry) { last_error_ = text_of(entry); });
  }
}

void RegisterTrace::accessed(const RegisterAccess& access) {
  std::string error = std::exchange(last_error_, {});
  const std::uint64_t gpu = access.whose.value_or(address_map::gpu_of(access.address));
  TracedAccess traced{access, fmt::format("gpu{}.{}", gpu, access.who), std::string(access.reason)};
  traced.access.who = traced.access.reason = {};
  if (access.is_refused && traced.reason.empty()) traced.reason = error.empty() ? "no reason told" : std::move(error);
  waiting_.emplace(access.time, std::move(traced));
  write_until(writes_at_once_ ? std::numeric_limits<Picoseconds>::max() : now());
}

void RegisterTrace::finish() {
  write_until(std::numeric_limits<Picoseconds>::max());
  sink_->finish();
}

/// Accesses of one time stay in the order in which they have ended.
void RegisterTrace::write_until(Picoseconds time) {
  const auto end = waiting_.upper_bound(time);
  for (auto next = waiting_.begin(); next != end; ++next) sink_->write(next->second);
  waiting_.erase(waiting_.begin(), end);
}

}  // namespace t3vp
