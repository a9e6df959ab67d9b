#include "config/run_checks.h"

#include "config/faults.h"
#include "config/topology_checks.h"
#include "workloads/registry.h"

namespace t3vp {

void check_run(const Document& run, const Document& system, const RunConfiguration& c) {
  check_program(run, *c.workload, c);
  c.workload->check(run, system, c);
  if (run.content.contains("phases") && (!c.workload->runs_apart(c.method) || c.functional))
    run.reject("/phases", "this key only with method ideal-overlap or ideal-rs-nmc and data timing-only");
  check_faults(run, c);
}

}  // namespace t3vp
