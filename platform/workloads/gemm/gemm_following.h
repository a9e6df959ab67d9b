/* What follows the sums of a GEMM's output (T3 section 7.6): near memory, or by a kernel. */
#ifndef T3_WORKLOADS_GEMM_FOLLOWING_H
#define T3_WORKLOADS_GEMM_FOLLOWING_H

#include "workloads/gemm/gemm_tensors.h"

enum { T3_FOLLOWING_SEED = 7 };

static inline float t3_following_keep(void) { return 0.5f; }

/* Allocates bias and residual and hands them to the platform. */
enum t3_status t3_allocate_following(struct t3_context* context, const struct t3_gemm_workload* w,
                                     struct t3_operands* operands);
/* Has the near-memory unit do it with the chunk that this GPU owns. */
enum t3_status t3_follow_near_memory(struct t3_context* context, const struct t3_gemm_workload* w,
                                     const struct t3_operands* operands);
/* Does it with the whole output, by a kernel: a phase of its own. */
enum t3_status t3_follow_by_kernel(struct t3_context* context, const struct t3_gemm_workload* w,
                                   const struct t3_operands* operands);

#endif
