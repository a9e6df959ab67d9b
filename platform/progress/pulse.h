// The state of a node that says whether a run goes on. The watches of this folder decide by it alone, so that all ranks
// of a run decide alike, and as one process does.
#pragma once

#include <cstdint>
#include <vector>

#include "partition/all_gpus.h"

namespace t3vp {

struct GpuPulse {
  bool finished = false;          ///< its program
  bool has_succeeded = false;     ///< finished, with Status::ok
  bool awaits_interrupt = false;  ///< its program, however long that takes
  std::uint64_t errors = 0;       ///< that its log has got
  std::uint64_t repetitions = 0;  ///< of a read with one value, or of the same interrupt lines
  std::uint64_t activity = 0;     ///< changes with whatever memory and compute units do
  std::uint64_t writes = 0;       ///< to its memory
  std::uint64_t stretches = 0;    ///< of kernels' code that have been run
  std::uint64_t workgroups = 0;   ///< that have ended
  std::uint64_t polls = 0;        ///< of kernels, in vain
  std::uint64_t polling = 0;      ///< waves
  std::uint64_t packets = 0;      ///< that links have begun to send: of all links here, at the first GPU here
};

using Pulse = std::vector<GpuPulse>;

/// Returns the state of all GPUs. All ranks call it at the same time.
Pulse pulse_of(const AllGpus& all);

/// Changes with whatever goes on in the node besides its programs: nothing does for long without memory, links or
/// compute units.
std::uint64_t progress_without_programs(const Pulse& pulse);

}  // namespace t3vp
