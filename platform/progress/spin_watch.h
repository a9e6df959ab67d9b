// RISC-V cores that compute and do nothing else, while nothing else happens in the node: what limits.firmware_s is to
// native firmware, which lets no simulated time pass meanwhile.
#pragma once

#include <string>

#include "guests/run_clock.h"
#include "progress/pulse.h"

namespace t3vp {

class SpinWatch {
 public:
  SpinWatch(const Node& node, const Pulse& pulse, double limit_s, const RunClock& clock);
  void set_limit(double limit_s) { limit_ = RunClock::Seconds(limit_s); }

  /// To be called now and then. Whether a core has computed for that time on the host without an access to the node,
  /// a call of its host or a printed character, and nothing else has happened. Its timer it may read all the while.
  bool in_vain(const Pulse& pulse);
  /// Which core it is, and where: "the firmware of GPU 0 at pc 0xfffffe0080041234".
  std::string text() const;

 private:
  std::uint64_t progress(const Pulse& pulse) const;

  const Node& node_;
  RunClock::Seconds limit_;
  const RunClock& clock_;
  std::uint64_t progress_;
  RunClock::Seconds since_;
};

}  // namespace t3vp
