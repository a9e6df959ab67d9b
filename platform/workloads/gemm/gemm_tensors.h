/* The common start of a GEMM's programs, and the all-gather at their end. */
#ifndef T3_WORKLOADS_GEMM_OPERANDS_H
#define T3_WORKLOADS_GEMM_OPERANDS_H

#include "t3/workloads/gemm.h"
#include "workloads/collective/flat_collective.h"
#include "workloads/shared/program_steps.h"

struct t3_operands {
  struct t3_matrix a, b;
  struct t3_output out;
  struct t3_matrix bias, residual; /* of what follows the sums */
};

/* Allocates a, b and out and hands them to the platform. Where there are slabs in place of one output, they lie one
 * behind the other in the same order on all GPUs, and `out` is this GPU's, which its GEMM writes. */
enum t3_status t3_allocate(struct t3_context* context, const struct t3_gemm_workload* w, enum t3_memory_kind out_memory,
                           struct t3_operands* operands);

/* The collectives behind a GEMM: the driver's ring kernels, or the collective kernel. `op` is T3_ALL_REDUCE for a
 * reduce-scatter and an all-gather, or T3_ALL_GATHER alone. Chunks are runs of tiles. Only where the collective kernel
 * does both, the output is a flat buffer, rows with what lies between them. */
struct t3_gemm_collectives {
  const struct t3_gemm_workload* w;
  const struct t3_output* out;
  const struct t3_matrix* staging; /* of the ring; NULL: it updates near memory */
  struct t3_flat_collective kernels;
};

/* Prepares collectives, with a staging buffer for a reduce-scatter unless it updates near memory. To be called before
 * the GPUs have met. */
enum t3_status t3_prepare_collectives(struct t3_context* context, const struct t3_gemm_workload* w,
                                      const struct t3_output* out, enum t3_collective_op op, struct t3_matrix* staging,
                                      struct t3_gemm_collectives* collectives);
/* The phase of the reduce-scatter. `out` may be the output of another memory kind. */
enum t3_status t3_scatter_sums(struct t3_context* context, struct t3_gemm_collectives* collectives,
                               const struct t3_output* out);
/* The phase of the all-gather, which ends all programs. An arbitration that is for the reduce-scatter beside a GEMM
 * ends here: from now on it is round-robin. */
enum t3_status t3_gather_all(struct t3_context* context, struct t3_gemm_collectives* collectives);

/* Fills the cache with modified lines of another buffer, where the workload asks for it. To be called last before the
 * GPUs meet. */
enum t3_status t3_dirty_cache(struct t3_context* context, const struct t3_gemm_workload* w);

struct t3_gemm_options t3_gemm_options_of(const struct t3_gemm_workload* w);
struct t3_tiling t3_gemm_tiling(const struct t3_gemm_workload* w);
/* Returns the options by which chunks that are summed are counted and sent. */
struct t3_dma_options t3_gemm_dma_options(const struct t3_gemm_workload* w);

#endif
