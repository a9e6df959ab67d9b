/* One sub-layer: out = sum over GPUs of a b, by a GEMM on every GPU, a reduce-scatter and an all-gather, or what else a
 * fused GEMM makes of its outputs. Or a layer: kernels of one GPU in order. Or a collective operation alone, or
 * embedding tables pooled and exchanged, or a matrix times a vector on each GPU and the sum of the results, or a
 * product of experts whose rows go to their owners. */
#ifndef T3_JOB_H
#define T3_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "t3/collective.h"
#include "t3/dlrm.h"
#include "t3/embedding.h"
#include "t3/experts.h"
#include "t3/fused.h"
#include "t3/gemv.h"
#include "t3/layer.h"
#include "t3/t3.h"

#ifdef __cplusplus
extern "C" {
#endif

struct t3_job {
  uint32_t m, n, k; /* k: of this GPU's share */
  enum t3_element element;
  bool transpose_b;
  struct t3_tiling tiling;
  enum t3_arbitration arbitration;
  uint32_t arbitration_limit; /* the policy's parameter */
  bool arbitration_ends;      /* with the reduce-scatter: round-robin arbitrates the all-gather */
  uint32_t ring_workgroups;   /* 0: one per compute unit */
  uint32_t max_compute_units; /* of the GEMM; 0: all */
  enum t3_fused_kind fused;   /* fused: what the outputs become */
  struct t3_dma_options dma;  /* fused: how the chunks that are summed are counted and sent */
  uint32_t gpus_per_node;     /* fused hierarchically */
  bool by_nic;                /* nodes are joined by NICs and not by links */
  bool near_memory;           /* isolated: reduce-scatter by updates near memory */
  bool zero_output;           /* fused: zero the output before it is updated */
  bool valid_bits;            /* with zero_output: by valid bits, not by writing zeros */
  bool skip_gemm, skip_reduce_scatter, skip_all_gather; /* isolated: phases to leave out */
  const struct t3_layer* layer;                         /* layer: this alone counts */
  struct t3_collective collective;                      /* collective: this and ring_workgroups count */
  struct t3_embedding embedding;                        /* embedding: these two and ring_workgroups count */
  enum t3_embedding_method embedding_method;
  struct t3_dlrm dlrm;       /* beside embedding: a training pass */
  struct t3_host_times host; /* embedding in bulk, where NICs join the GPUs */
  struct t3_gemv gemv;       /* gemv: these two and ring_workgroups count */
  struct t3_experts experts; /* experts: the same, and tiling */
  bool in_one_kernel;        /* of both: the collective is fused with it */
};

/* The programs in firmware/programs. */
typedef enum t3_status t3_program(const struct t3_hal* hal, const struct t3_job* job);

t3_program t3_sequential; /* one after the other */
t3_program t3_fused;      /* GEMM and collective overlap in hardware (T3 sections 4 and 7.1) */
t3_program t3_isolated;   /* each by itself, with nothing left over from the one before */
t3_program t3_run_layer;  /* the operations of a layer */
t3_program t3_run_collective;
t3_program t3_run_dlrm;      /* a training pass of a recommendation model */
t3_program t3_run_embedding; /* tables pooled and exchanged */
t3_program t3_run_experts;   /* a product of experts, and the all-to-all */
t3_program t3_run_gemv;      /* a matrix times a vector, and the sum over all GPUs */

#ifdef __cplusplus
}
#endif

#endif
