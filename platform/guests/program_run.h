// The run as a program receives it (t3/run.h), with the memory that it points to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

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

/// The run as all native programs have it, who may read it again at any time.
class GivenRun {
 public:
  explicit GivenRun(ProgramRun run) : run_(std::move(run)), view_(run_.view()) {}
  GivenRun(const GivenRun&) = delete;
  GivenRun& operator=(const GivenRun&) = delete;

  const ProgramRun& run() const { return run_; }
  const t3_run& view() const { return view_; }
  /// From now on programs read these values. The workload is the same one, and its bytes stay where they are.
  void change(const ProgramRun& to) {
    run_.arbitration = view_.arbitration = to.arbitration;
    run_.arbitration_limit = view_.arbitration_limit = to.arbitration_limit;
    std::copy(to.workload.bytes.begin(), to.workload.bytes.end(), run_.workload.bytes.begin());
  }

 private:
  ProgramRun run_;
  t3_run view_;
};

}  // namespace t3vp
