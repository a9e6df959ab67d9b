// Kernels that poll keep a run going though nothing may happen any more: their polls are held then, so that the run
// comes to what else there is, or to its end.
#pragma once

#include <cstdint>
#include <vector>

#include "progress/pulse.h"

namespace t3vp {

class QuietPolls {
 public:
  /// Polls that are held go on.
  QuietPolls(const Node& node, const Pulse& pulse);

  /// The runner asks now and then. Holds the polls when all waves that poll have read often enough since the last write
  /// to any memory and the last step of any kernel; lets them go on when there has been one again.
  void look(const Pulse& pulse);
  bool are_held() const { return held_; }

 private:
  bool have_read_in_vain(const Pulse& pulse) const;
  void hold(bool held);
  void begin_anew(const Pulse& pulse);

  const Node& node_;
  bool held_ = false;
  std::uint64_t progress_ = 0;
  std::vector<std::uint64_t> polls_;  ///< of each GPU in vain so far, when there was the last progress
};

}  // namespace t3vp
