// Notices that a program waits in a barrier, or in an exchange of the hosts, for a GPU whose program has ended.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "progress/pulse.h"
#include "protocol/units.h"

namespace t3vp {

/// ": the program of GPU 1 has ended" when this GPU's program waits in a barrier or exchange for that one; else
/// empty.
std::string ended_before(const Node& node, const Pulse& pulse, const Gpu& gpu);

/// A wait of a program that has been given up, in words.
struct GivenUpWait {
  Picoseconds time;
  std::size_t gpu;
  std::string text;

  template <typename Self>
  static auto fields(Self& self) {
    return std::tie(self.time, self.gpu, self.text);
  }
};

/// While others let simulated time pass.
class BarrierWatch {
 public:
  explicit BarrierWatch(const Node& node) : node_(node), waits_(node.gpus().size()) {}

  /// The runner asks now and then. Sends the waits of this process's programs that have lasted so for a while back to
  /// them, as stuck.
  std::vector<GivenUpWait> give_up(const Pulse& pulse);

 private:
  /// A wait of a GPU's program: the simulated time since which it has only waited for messages in flight.
  struct Wait {
    Picoseconds since = never;
    std::uint64_t counter = 0;
  };

  const Node& node_;
  std::vector<Wait> waits_;
};

}  // namespace t3vp
