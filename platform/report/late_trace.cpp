#include "report/late_trace.h"

namespace t3vp {

void LateTrace::record(std::unique_ptr<PerfettoTrace> timeline) {
  timeline_ = std::move(timeline);
  for (const auto& [group, name] : tracks_) timeline_->track(group, name);
}

Trace::Track LateTrace::track(const std::string& group, const std::string& name) {
  if (timeline_) return timeline_->track(group, name);
  tracks_.emplace_back(group, name);
  return static_cast<Track>(tracks_.size() - 1);
}

}  // namespace t3vp
