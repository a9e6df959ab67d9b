/* Adam's step on the gradients that this GPU owns (T3 section 7.6): near memory, or by kernels. */
#ifndef T3_WORKLOADS_OPTIMIZER_H
#define T3_WORKLOADS_OPTIMIZER_H

#include "t3/t3.h"

/* The optimizer's state, laid out as the gradient. A GPU uses the tiles of its chunk. */
struct t3_optimizer_state {
  struct t3_matrix means, squares, weights;
};

static inline float t3_learning_rate(void) { return 0.125f; }

/* Allocates the state and hands it to the platform. It is cached for kernels alone. */
enum t3_status t3_allocate_optimizer(struct t3_context* context, const struct t3_matrix* gradient,
                                     enum t3_memory_kind memory, struct t3_optimizer_state* optimizer);
/* Has the near-memory unit take the step, tile by tile. Called before the gradient's chunks are mapped. */
enum t3_status t3_optimize_near_memory(struct t3_context* context, const struct t3_output* gradient,
                                       const struct t3_optimizer_state* optimizer);
/* Queues kernels that take the step: one for each rectangle of the chunk's tiles. */
enum t3_status t3_queue_optimizer(struct t3_context* context, const struct t3_output* gradient,
                                  const struct t3_optimizer_state* optimizer);

#endif
