#include "run/path_track.h"

#include <algorithm>
#include <vector>

#include "protocol/cause.h"
#include "report/phases.h"

namespace t3vp {
namespace {

constexpr Picoseconds interval = 1'000'000;

struct Path {
  Picoseconds begin = never, end = 0;
  Cause cause;
};

/// From the first begin of a measured phase to the last end.
Path path_of(const Node& node) {
  Path path;
  for (const auto& gpu : node.gpus())
    for (const processor::Processor::PhaseTime& phase : gpu->processor.phases()) {
      const bool is_measured = phase.phase == phases::total || phases::is_part_of_total(phase.phase);
      if (!is_measured || phase.ended == 0) continue;
      path.begin = std::min(path.begin, phase.first);
      if (phase.last <= path.end) continue;
      path.end = phase.last;
      path.cause = phase.cause;
    }
  return path;
}

/// The part that has grown most.
std::size_t most_of(const TimeParts& from, const TimeParts& to) {
  std::size_t most = 0;
  for (std::size_t i = 1; i < part_count; ++i)
    if (to[i] - from[i] > to[most] - from[most]) most = i;
  return most;
}

}  // namespace

void follow_path() { Cause::sample_every(interval, now()); }

void show_path(const Node& node, Trace& trace) {
  const Path path = path_of(node);
  const std::vector<Cause::Sample> samples = path.cause.samples();
  const Trace::Track track = trace.track("critical path", "most of the time");
  std::size_t part = part_count;
  Picoseconds begin = 0, end = 0;
  const auto show = [&] {
    if (part != part_count && end > begin) trace.span(track, part_names[part], begin, end);
  };
  for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
    if (samples[i].time < path.begin || samples[i + 1].time > path.end) continue;
    const std::size_t most = most_of(samples[i].parts, samples[i + 1].parts);
    if (most != part) {
      show();
      part = most;
      begin = samples[i].time;
    }
    end = samples[i + 1].time;
  }
  show();
}

}  // namespace t3vp
