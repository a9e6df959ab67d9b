// Values of a counter before its latest changes. Who asks for one at the time of an event must not depend on which
// other events of that time have run, and may hear of the event from another process, up to a window of time later.
#pragma once

#include <algorithm>
#include <vector>

#include "protocol/units.h"

namespace t3vp {

/// Values before this time are not asked for any more: now, or the start of the window in a run of several processes.
inline Picoseconds& window_begin() {
  static Picoseconds begin = never;
  return begin;
}
inline Picoseconds since_when_asked() { return std::min(now(), window_begin()); }

template <typename Value>
class RecentValues {
 public:
  /// To be called before the value changes.
  void keep(const Value& value) {
    if (!kept_.empty() && kept_.back().until == now()) return;
    if (!kept_.empty() && kept_.back().until < since_when_asked()) kept_.clear();
    kept_.push_back({now(), value});
  }
  /// The value before all events of the time. `current`: the value now.
  const Value& before(Picoseconds time, const Value& current) const {
    const auto kept = std::find_if(kept_.begin(), kept_.end(), [time](const Kept& k) { return k.until >= time; });
    return kept == kept_.end() ? current : kept->value;
  }

 private:
  struct Kept {
    Picoseconds until;  ///< the value changed at that time
    Value value;
  };
  std::vector<Kept> kept_;
};

}  // namespace t3vp
