// A timeline that may begin while the simulation runs.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "report/perfetto_trace.h"

namespace t3vp {

/// Blocks ask for their tracks when they are made. Until record() it keeps these, and nothing else.
class LateTrace : public Trace {
 public:
  /// What happens from now on goes there.
  void record(std::unique_ptr<PerfettoTrace> timeline);
  /// Null before record().
  PerfettoTrace* timeline() const { return timeline_.get(); }

  Track track(const std::string& group, const std::string& name) override;
  void span(Track track, const char* name, Picoseconds begin, Picoseconds end) override {
    if (timeline_) timeline_->span(track, name, begin, end);
  }
  void span(Track track, const char* name, Picoseconds begin, Picoseconds end, std::uint64_t flow) override {
    if (timeline_) timeline_->span(track, name, begin, end, flow);
  }
  void instant(Track track, const char* name, Picoseconds at, std::uint64_t flow) override {
    if (timeline_) timeline_->instant(track, name, at, flow);
  }
  void counter(Track track, const char* name, Picoseconds at, double value) override {
    if (timeline_) timeline_->counter(track, name, at, value);
  }

 private:
  std::vector<std::pair<std::string, std::string>> tracks_;  ///< group and name of each so far
  std::unique_ptr<PerfettoTrace> timeline_;
};

}  // namespace t3vp
