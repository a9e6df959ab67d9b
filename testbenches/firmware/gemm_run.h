// What a program of a GEMM is given.
#pragma once

#include "guests/program_run.h"
#include "t3/programs.h"
#include "t3/t3.h"
#include "workloads/gemm_arguments.h"

namespace t3vp::test {

struct GemmRun : t3_gemm_workload {
  t3_arbitration arbitration = T3_ROUND_ROBIN;
  std::uint32_t arbitration_limit = 0;

  GemmRun() : t3_gemm_workload{} {}

  t3_status run(t3_program* program, const t3_hal* hal) const {
    ProgramRun given;
    given.arbitration = arbitration;
    given.arbitration_limit = arbitration_limit;
    given.workload = packed(*this);
    const t3_run view = given.view();
    return program(hal, &view);
  }
};

}  // namespace t3vp::test
