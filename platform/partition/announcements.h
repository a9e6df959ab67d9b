// What all ranks are told of at the end of a window, because no link carries it: windows of causes (protocol/cause.h),
// hosts that join an exchange, and the begins and ends of phases.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "partition/message.h"
#include "processor/host_network.h"
#include "protocol/cause.h"

namespace t3vp {

/// A phase begins or ends on a GPU.
struct PhaseBoundary {
  std::size_t gpu;
  std::string phase;
  bool begin;
  Picoseconds time;
};

class Announcements {
 public:
  /// `hosts`: of this process, as many as `here`. `exchange`: their network's latency. `on_phase` is called for the
  /// boundaries of other ranks.
  Announcements(processor::HostNetwork& hosts, std::size_t here, Picoseconds exchange,
                std::function<void(const PhaseBoundary&)> on_phase);

  void announce(const PhaseBoundary& boundary) { phases_.push_back(boundary); }
  /// Takes what has been announced here since the last call; empty when there is nothing.
  Message take();
  /// The earliest time at which what has been announced and not taken has an effect; `never` when it has none.
  Picoseconds earliest_effect() const { return earliest_effect_; }
  /// What another rank has announced.
  void hear(const Message& message);

 private:
  bool has_any();

  processor::HostNetwork& hosts_;
  Picoseconds exchange_;
  std::function<void(const PhaseBoundary&)> on_phase_;
  std::vector<Cause::WindowChange> windows_;
  std::vector<PhaseBoundary> phases_;
  std::vector<processor::HostNetwork::Joining> joinings_;
  Picoseconds earliest_effect_ = never;
};

}  // namespace t3vp
