/* Functions of kernels that pool bags. */
#ifndef T3_KERNELS_EMBEDDING_POOLING_H
#define T3_KERNELS_EMBEDDING_POOLING_H

#include "kernels/operands.h"
#include "t3/device.h"
#include "workloads/embedding/embedding_layout.h"

/* This GPU's tables, and the numbers of the rows to be pooled as they lie in its memory. */
struct t3_pooling {
  struct t3_embedding embedding;
  uint64_t tables, indices, offsets;
  uint32_t gpu;
};

/* The pooling of any kernel's arguments. All kernels give these arguments the same names. */
#define T3_POOLING_OF(p)                                                       \
  ((struct t3_pooling){.embedding = {.global_batch = (p)->global_batch,        \
                                     .tables_per_gpu = (p)->tables_per_gpu,    \
                                     .dimension = (p)->dimension,              \
                                     .rows = (p)->rows,                        \
                                     .pooling = (p)->pooling,                  \
                                     .drawn = (p)->drawn != 0,                 \
                                     .mean = (p)->mean != 0,                   \
                                     .element = (enum t3_element)(p)->element, \
                                     .seed = (p)->seed},                       \
                       .tables = (p)->tables,                                  \
                       .indices = (p)->indices,                                \
                       .offsets = (p)->offsets,                                \
                       .gpu = (p)->gpu})

/* Tiles of a wave that pools, the sum's first. */
static inline uint32_t t3_pooling_tiles(const struct t3_device* device) {
  return 3 + device->kernels.embedding.rows_in_flight;
}

static inline struct t3_tile t3_pooling_sum(const struct t3_embedding* e) {
  return (struct t3_tile){.rows = 1, .columns = e->dimension, .element = T3_FP32};
}

/* Pools the bag of a sample of one of this GPU's tables: the result is in the sum's tile. */
void t3_pool(struct t3_wave* wave, const struct t3_pooling* p, uint32_t table, uint32_t sample);

/* Tiles of a wave that updates. */
enum { T3_POOLING_UPDATE_TILES = 3 };

/* Takes `rate` times the gradient at this address, of what was pooled of the bag, off the bag's rows, near memory: bags
 * may share rows. Of a mean it is divided by their number. */
void t3_update_bag(struct t3_wave* wave, const struct t3_pooling* p, uint32_t table, uint32_t sample, uint64_t gradient,
                   float rate);

/* Sizes, and who this GPU is. */
bool t3_check_pooling(struct t3_check* check, const struct t3_pooling* p, uint32_t gpus);
/* That, of a kernel that takes one table: which, and by so many workgroups. */
bool t3_check_table(struct t3_check* check, const struct t3_pooling* p, uint32_t gpus, uint32_t table,
                    uint32_t workgroups);
/* Checks that the operands are in memory, and outside of the output. */
bool t3_check_pooling_beside(struct t3_check* check, const struct t3_pooling* p, const struct t3_matrices* written);
/* Updated are the tables; the numbers of rows are read beside the gradients. */
bool t3_check_update(struct t3_check* check, const struct t3_pooling* p, const struct t3_matrices* gradients);
void t3_plan_update(struct t3_plan* plan, const struct t3_pooling* p);

/* Adds the operands to the plan. */
void t3_plan_pooling(struct t3_plan* plan, const struct t3_pooling* p);

#endif
