/* Steps that the programs of rivals share: arguments, operands, compute units set apart, and the all-gather. */
#ifndef T3_WORKLOADS_RIVAL_STEPS_H
#define T3_WORKLOADS_RIVAL_STEPS_H

#include "t3/dma_copies.h"
#include "t3/launch.h"
#include "t3/streams.h"
#include "t3/workloads/rivals.h"
#include "workloads/gemm/gemm_tensors.h"
#include "workloads/rivals/rival_layout.h"

struct t3_rival_run {
  struct t3_rival rival;
  struct t3_gemm_workload gemm;
  struct t3_operands tensors;
  struct t3_grid grid; /* of the output */
  /* On compute units set apart, and on the others. 0 of both: there are none apart. */
  uint32_t communication_queue, compute_queue;
};

/* Returns T3_INVALID_ARGUMENT for another workload's run. */
enum t3_status t3_rival_run_of(const struct t3_run* run, struct t3_rival_run* r);
/* Allocates a, b and out, and divides the compute units between two queues. Queue 0 keeps all of them. */
enum t3_status t3_prepare_rival(struct t3_context* gpu, struct t3_rival_run* r, enum t3_memory_kind out_memory);
/* Where no compute units are set apart: communication has a queue of its own on all of them, which goes first. */
enum t3_status t3_open_second_queue(struct t3_context* gpu, struct t3_rival_run* r);

/* Some rows of the output, as a product of the same rows of a. */
struct t3_row_product {
  struct t3_output out;
  struct t3_matrix a;
};
struct t3_row_product t3_product_of_rows(const struct t3_rival_run* r, struct t3_row_run rows);
/* Queues the GEMM of these rows, if there are any. `into` has the output's rows, in memory of its own or not. */
enum t3_status t3_launch_rows_gemm(struct t3_context* gpu, const struct t3_rival_run* r, struct t3_row_run rows,
                                   uint64_t into);

/* The queues of the DMA engine that copies use. */
enum t3_status t3_rival_copy_queues(struct t3_context* gpu, const struct t3_rival_run* r, uint32_t* queues);

static inline bool t3_sets_units_apart(const struct t3_rival_run* r) { return r->rival.communication_units != 0; }

#endif
