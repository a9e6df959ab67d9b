// The run as a program receives it (t3/run.h), with the memory that it points to.
#pragma once

#include <cstdint>

#include "t3/run.h"
#include "workloads/shared/packed_workload.h"

namespace t3vp {

struct ProgramRun {
  std::uint32_t arbitration = 0, arbitration_limit = 0;  ///< policy's number (t3_arbitration) and its parameter
  std::uint32_t ring_workgroups = 0;                     ///< of ring kernels; 0: one per compute unit
  PackedWorkload workload;

  /// For the program; valid as long as this stays where it is and as it is.
  t3_run view() const {
    const bool is_there = !workload.name.empty();
    return {arbitration,
            arbitration_limit,
            ring_workgroups,
            is_there ? workload.name.c_str() : nullptr,
            is_there ? workload.bytes.data() : nullptr,
            is_there ? static_cast<std::uint32_t>(workload.bytes.size()) : 0};
  }
};

}  // namespace t3vp
