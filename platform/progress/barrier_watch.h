// Notices that a program waits in a barrier, or in an exchange of the hosts, for a GPU whose program has ended.
#pragma once

#include <string>
#include <vector>

#include "node/node.h"
#include "protocol/units.h"

namespace t3vp {

/// ": the program of GPU 1 has ended" when this GPU's program waits in a barrier or exchange for that one; else
/// empty.
std::string ended_before(const Node& node, const Gpu& gpu);

/// While others let simulated time pass.
class BarrierWatch {
 public:
  explicit BarrierWatch(const Node& node) : node_(node), waits_(node.gpus().size()) {}

  /// The runner asks now and then. Sends the waits that have lasted so for a while back to their programs, as stuck:
  /// what each has waited for, in words.
  std::vector<std::string> give_up();

 private:
  /// A wait of a GPU's program: the simulated time since which it has only waited for messages in flight.
  struct Wait {
    Picoseconds since = never;
    std::uint64_t counter = 0;
  };
  bool is_in_vain(std::size_t gpu) const;

  const Node& node_;
  std::vector<Wait> waits_;
};

}  // namespace t3vp
