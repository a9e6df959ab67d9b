// Who enters a channel's DRAM queue next: the compute or the communication stream (T3 4.5).
#pragma once

#include <cstdint>
#include <memory>

#include "dram/channel.h"

namespace t3vp {

enum class Grant : std::uint8_t { none, compute, communication };

/// What a policy sees of its channel in one DRAM cycle. Times are DRAM cycles.
struct ArbitrationView {
  bool compute_ready = false;  ///< the compute stream has an access to issue
  bool communication_ready = false;
  unsigned occupancy = 0;  ///< 32-byte entries waiting in the DRAM queue
  dram::Cycle now = 0;
  dram::Cycle waiting_since = 0;  ///< since when the communication stream has had an access and issued none
};

/// State shared by all channels of a controller, set by registers and by the observation of the first stage.
struct ArbitrationControl {
  unsigned limit = 30;       ///< occupancy below which MCA issues communication
  dram::Cycle aging = 2000;  ///< wait after which communication goes first under MCA
};

class ArbitrationPolicy {
 public:
  virtual ~ArbitrationPolicy() = default;
  /// The stream to issue from. When it is none although one is ready, `retry` is the cycle at which time alone may
  /// change that.
  virtual Grant choose(const ArbitrationView& view, dram::Cycle& retry) = 0;
};

enum class Policy : std::uint8_t { round_robin, compute_first, mca };

/// A policy for one channel; `control` outlives it.
std::unique_ptr<ArbitrationPolicy> make_policy(Policy policy, const ArbitrationControl& control);

}  // namespace t3vp
