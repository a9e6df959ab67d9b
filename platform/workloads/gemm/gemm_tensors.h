/* What programs of a GEMM start with, and the all-gather that they end with. */
#ifndef T3_WORKLOADS_GEMM_OPERANDS_H
#define T3_WORKLOADS_GEMM_OPERANDS_H

#include "t3/workloads/gemm.h"
#include "workloads/shared/program_steps.h"

struct t3_operands {
  struct t3_matrix a, b;
  struct t3_output out;
};

/* Allocates a, b and out and hands them to the platform. Where there are slabs in place of one output, they lie one
 * behind the other in the same order on all GPUs, and `out` is this GPU's, which its GEMM writes. */
enum t3_status t3_allocate(struct t3_context* context, const struct t3_gemm_workload* w, enum t3_memory_kind out_memory,
                           struct t3_operands* operands);

/* The phase of the all-gather, which ends all programs. An arbitration that is for the reduce-scatter beside a GEMM
 * ends here: from now on it is round-robin. */
enum t3_status t3_gather_all(struct t3_context* context, const struct t3_gemm_workload* w, const struct t3_output* out);

struct t3_gemm_options t3_gemm_options_of(const struct t3_gemm_workload* w);
struct t3_tiling t3_gemm_tiling(const struct t3_gemm_workload* w);
/* How chunks that are summed are counted and sent. */
struct t3_dma_options t3_gemm_dma_options(const struct t3_gemm_workload* w);

#endif
