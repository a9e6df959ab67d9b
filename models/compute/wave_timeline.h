// A kernel's workgroups on the timeline: a span each, or a span for each part that its programs name.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compute/kernel_wave.h"

namespace t3vp::compute {

class WaveTimeline {
 public:
  /// `name` is the kernel's; `slots` the workgroups that may run at once.
  WaveTimeline(KernelHost& host, std::string name, std::size_t slots)
      : host_(host), name_(std::move(name)), workgroups_(slots) {}

  void begin(Slot slot) { workgroups_[slot] = {now(), false}; }
  void begin(Wave& wave);
  /// The wave's program has another part from now on.
  void show(Wave& wave, const t3_span& part);
  void note(const Wave& wave, const t3_mark& instant);
  /// The program has ended.
  void end(const Wave& wave);
  /// The last wave of the workgroup has ended.
  void end_workgroup(const Wave& wave);

 private:
  struct Workgroup {
    Picoseconds begin = 0;
    bool shows_parts = false;  ///< its waves have spans of their own
  };
  void end_part(const Wave& wave);

  KernelHost& host_;
  std::string name_;
  std::vector<Workgroup> workgroups_;  ///< by slot
};

}  // namespace t3vp::compute
