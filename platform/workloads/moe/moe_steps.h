/* Steps of the programs of a layer of experts: buffers, the lists of choices, and kernels. */
#ifndef T3_WORKLOADS_MOE_STEPS_H
#define T3_WORKLOADS_MOE_STEPS_H

#include "t3/chunk_progress.h"
#include "t3/launch.h"
#include "t3/shmem.h"
#include "workloads/moe/moe_layout.h"
#include "workloads/shared/program_steps.h"

/* The counters of lists of tokens and of results, and those of each local expert's lists. */
enum t3_moe_counter { T3_MOE_TOKENS, T3_MOE_RESULTS, T3_MOE_LISTS, T3_MOE_COUNTERS };
static inline uint32_t t3_moe_counter_of(const struct t3_context* gpu, const struct t3_moe* e, uint32_t counter) {
  const uint32_t all = T3_MOE_LISTS + t3_moe_local(e, t3_gpus(gpu));
  return t3_first_counter(gpu, t3_divide_up(all, t3_ring_workgroups(gpu))) + counter;
}

struct t3_moe_run {
  struct t3_moe moe;
  struct t3_moe_control control;
  struct t3_matrix tokens, slots, weights, out;
  uint64_t products, results;             /* by slot, and by choice; 0 where the Tracker counts */
  uint64_t data;                          /* control data */
  uint64_t epoch[T3_MOE_COUNTERS];        /* of the counters */
  uint64_t chunk_epoch[T3_CHUNK_SIGNALS]; /* of those that the Tracker's chunks count in */
  struct t3_shmem_heap heap;              /* that has what NICs send and bring */
  uint32_t lost;                          /* choices that are dropped */
  uint32_t compute_queue, communication_queue;
};

static inline bool t3_moe_is_tracked(const struct t3_moe* e) {
  return e->mechanism == T3_MOE_TRACKED || e->mechanism == T3_MOE_TRACKED_MCA;
}

enum t3_status t3_moe_prepare(struct t3_context* gpu, struct t3_moe_run* r);

enum t3_status t3_moe_share_counts(struct t3_context* gpu, const struct t3_moe_run* r);

enum t3_status t3_moe_launch_dispatch(struct t3_context* gpu, const struct t3_moe_run* r);
enum t3_status t3_moe_launch_combine(struct t3_context* gpu, const struct t3_moe_run* r);
/* `workgroups` 0: as many as run at once. */
enum t3_status t3_moe_launch_gemm(struct t3_context* gpu, const struct t3_moe_run* r, uint32_t workgroups);
enum t3_status t3_moe_launch_sum(struct t3_context* gpu, const struct t3_moe_run* r);

/* The whole layer with the Tracker. */
enum t3_status t3_moe_map_sums(struct t3_context* gpu, struct t3_moe_run* r);
enum t3_status t3_moe_run_tracked(struct t3_context* gpu, struct t3_moe_run* r);
/* The same where all slots travel. */
enum t3_status t3_moe_map_slots(struct t3_context* gpu, const struct t3_moe_run* r);
enum t3_status t3_moe_run_padded(struct t3_context* gpu, const struct t3_moe_run* r);

#endif
