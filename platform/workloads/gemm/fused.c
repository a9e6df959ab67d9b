#include <stddef.h>

#include "t3/address.h"
#include "t3/following.h"
#include "t3/grid.h"
#include "workloads/gemm/fused_nodes.h"
#include "workloads/gemm/gemm_following.h"
#include "workloads/gemm/gemm_tensors.h"
#include "workloads/gemm/ring_maps.h"

static uint32_t owner_of(const struct t3_context* gpu, uint32_t step) {
  return (uint32_t)(((uint64_t)t3_gpu(gpu) + 1 + step) % t3_gpus(gpu));
}

static struct t3_chunk own_chunk(const struct t3_context* gpu, const struct t3_output* out) {
  return t3_chunk_of(out, t3_gpu(gpu), t3_gpus(gpu));
}

/* Each chunk of this GPU's GEMM but its own goes to the same place in its owner's memory (T3 section 7.1). */
static enum t3_status map_to_owners(struct t3_context* gpu, const struct t3_output* out, enum t3_operation operation) {
  for (uint32_t step = 0; step + 1 < t3_gpus(gpu); ++step) {
    const struct t3_chunk chunk = t3_ring_chunk(gpu, out, step);
    if (chunk.workgroups == 0) continue;
    T3_TRY(t3_remote_map(gpu, out, chunk, t3_peer_address(&out->matrix, owner_of(gpu, step)), operation));
  }
  return T3_OK;
}

static enum t3_status map_direct(struct t3_context* gpu, const struct t3_output* out, struct t3_dma_options dma) {
  const struct t3_chunk own = own_chunk(gpu, out);
  T3_TRY(map_to_owners(gpu, out, T3_UPDATE));
  return own.workgroups == 0 ? T3_OK : t3_dma_map(gpu, out, own, 0, T3_NOTIFY, dma);
}

/* Tiles of the own chunk go to all GPUs through the switch. This one gets them back. */
static enum t3_status map_own_to_switch(struct t3_context* gpu, const struct t3_output* out,
                                        struct t3_dma_options dma) {
  const struct t3_chunk own = own_chunk(gpu, out);
  dma.counted = T3_UPDATE;
  if (own.workgroups == 0) return T3_OK;
  return t3_dma_map(gpu, out, own, t3_peer_address(&out->matrix, T3_ALL_GPUS), T3_STORE, dma);
}

/* Tiles of the own chunk go to all others when they are complete. */
static enum t3_status map_own_to_all(struct t3_context* gpu, const struct t3_output* out, struct t3_dma_options dma) {
  const struct t3_chunk own = own_chunk(gpu, out);
  dma.counted = T3_UPDATE;
  if (own.workgroups == 0) return T3_OK;
  for (uint32_t step = 0; step + 1 < t3_gpus(gpu); ++step) {
    const uint64_t peer_out = t3_peer_address(&out->matrix, owner_of(gpu, step));
    if (step == 0) {
      T3_TRY(t3_dma_map(gpu, out, own, peer_out, T3_STORE, dma));
    } else {
      T3_TRY(t3_dma_map_also(gpu, out, own, peer_out));
    }
  }
  return T3_OK;
}

static const struct t3_dma_options one_store = {.updates = 1, .block_tiles = 1, .counted = T3_STORE};

/* The other chunks are complete when each element has been stored by its owner. */
static enum t3_status map_all_reduce(struct t3_context* gpu, const struct t3_output* out, struct t3_dma_options dma,
                                     bool by_switch) {
  T3_TRY(map_to_owners(gpu, out, T3_UPDATE));
  T3_TRY(by_switch ? map_own_to_switch(gpu, out, dma) : map_own_to_all(gpu, out, dma));
  for (uint32_t step = 0; step + 1 < t3_gpus(gpu); ++step) {
    const struct t3_chunk chunk = t3_ring_chunk(gpu, out, step);
    if (chunk.workgroups != 0) T3_TRY(t3_dma_map(gpu, out, chunk, 0, T3_NOTIFY, one_store));
  }
  return T3_OK;
}

/* The own chunk of each GPU's GEMM arrives in a slab of its own, of which `out` is this GPU's. */
static enum t3_status map_all_to_all(struct t3_context* gpu, const struct t3_output* out, struct t3_dma_options dma) {
  const struct t3_chunk own = own_chunk(gpu, out);
  const uint64_t slab_bytes = out->matrix.rows * out->matrix.row_stride;
  dma.counted = T3_STORE;
  T3_TRY(map_to_owners(gpu, out, T3_STORE));
  if (own.workgroups == 0) return T3_OK;
  T3_TRY(t3_reserve_counts(gpu, out, own.workgroups * t3_gpus(gpu)));
  struct t3_output slab = *out;
  slab.matrix.address -= t3_gpu(gpu) * slab_bytes;
  for (uint32_t sender = 0; sender < t3_gpus(gpu); ++sender, slab.matrix.address += slab_bytes)
    T3_TRY(t3_dma_map(gpu, &slab, own, 0, T3_NOTIFY, dma));
  return T3_OK;
}

static enum t3_status map_output(struct t3_context* gpu, const struct t3_gemm_workload* w, const struct t3_output* out,
                                 struct t3_node_queues* queues) {
  switch (w->fused) {
    case T3_FUSED_RING_REDUCE_SCATTER:
      return t3_map_ring(gpu, out, w->split_k, t3_gemm_dma_options(w));
    case T3_FUSED_DIRECT_REDUCE_SCATTER:
      return map_direct(gpu, out, t3_gemm_dma_options(w));
    case T3_FUSED_ALL_REDUCE:
    case T3_FUSED_SWITCH_ALL_REDUCE:
      return map_all_reduce(gpu, out, t3_gemm_dma_options(w), w->fused == T3_FUSED_SWITCH_ALL_REDUCE);
    case T3_FUSED_ALL_TO_ALL:
      return map_all_to_all(gpu, out, t3_gemm_dma_options(w));
    case T3_FUSED_HIERARCHICAL_REDUCE_SCATTER:
      return t3_map_nodes(gpu, w, out, queues);
  }
  return T3_INVALID_ARGUMENT;
}

static bool is_of_nodes(const struct t3_gemm_workload* w) { return w->fused == T3_FUSED_HIERARCHICAL_REDUCE_SCATTER; }

/* Links alone carry an all-gather. */
static bool gathers(const struct t3_gemm_workload* w) {
  return w->fused == T3_FUSED_RING_REDUCE_SCATTER || w->fused == T3_FUSED_DIRECT_REDUCE_SCATTER ||
         (is_of_nodes(w) && !w->by_nic);
}

/* Tiles go round-robin over their owners. Each GPU starts with another owner, so that no GPU receives from all at once
 * while other links are idle. A switch can add what GPUs compute at the same time: then all start with the same. */
static uint32_t first_workgroup(const struct t3_context* gpu, const struct t3_gemm_workload* w,
                                const struct t3_output* out) {
  if (is_of_nodes(w)) return t3_first_of_turns(gpu, w, out);
  return w->fused == T3_FUSED_SWITCH_ALL_REDUCE ? 0 : t3_ring_chunk(gpu, out, 0).first_workgroup;
}

static enum t3_status gemm_and_collective(struct t3_context* gpu, const struct t3_gemm_workload* w,
                                          const struct t3_operands* t) {
  struct t3_gemm_options options = t3_gemm_options_of(w);
  options.update = w->fused != T3_FUSED_ALL_TO_ALL;
  options.split_k = w->split_k;
  options.first_workgroup = first_workgroup(gpu, w, &t->out);
  options.chunks = w->fused == T3_FUSED_RING_REDUCE_SCATTER ? 1 : t3_gpus(gpu);
  t3_begin(gpu, "gemm");
  T3_TRY(t3_gemm(gpu, &t->out, &t->a, &t->b, options));
  T3_TRY(t3_wait_kernels(gpu));
  t3_end(gpu, "gemm");
  return t3_wait_dma(gpu);
}

static enum t3_status run_phases(struct t3_context* gpu, const struct t3_gemm_workload* w, const struct t3_operands* t,
                                 struct t3_gemm_collectives* collectives) {
  t3_begin(gpu, "fused");
  T3_TRY(gemm_and_collective(gpu, w, t));
  t3_end(gpu, "fused");
  return gathers(w) ? t3_gather_all(gpu, collectives) : T3_OK;
}

/* The rows that have the chunk's tiles. */
static struct t3_matrix rows_of(const struct t3_output* out, struct t3_chunk chunk) {
  const struct t3_grid grid = {out->matrix.rows,       out->matrix.columns,    out->tiling.rows,   out->tiling.columns,
                               out->tiling.wavefronts, out->matrix.row_stride, out->matrix.element};
  const struct t3_rectangle last = t3_tile_of(&grid, chunk.first_workgroup + chunk.workgroups - 1);
  const uint32_t begin = t3_tile_of(&grid, chunk.first_workgroup).row;
  struct t3_matrix rows = out->matrix;
  rows.address += begin * rows.row_stride;
  rows.rows = last.row + last.rows - begin;
  return rows;
}

static enum t3_status zero_matrix(struct t3_context* gpu, const struct t3_gemm_workload* w,
                                  const struct t3_matrix* matrix) {
  return w->valid_bits ? t3_arm_zero(gpu, matrix) : t3_fill_zero(gpu, matrix);
}

/* Zeroes the memory that is updated: all of the output in a ring, only the chunk summed here when the others are stored
 * elsewhere, and nothing in an all-to-all. */
static enum t3_status zero(struct t3_context* gpu, const struct t3_gemm_workload* w, const struct t3_output* out) {
  const struct t3_chunk own = is_of_nodes(w) ? t3_summed_here(gpu, w, out) : own_chunk(gpu, out);
  if (w->fused == T3_FUSED_RING_REDUCE_SCATTER) return zero_matrix(gpu, w, &out->matrix);
  if (w->fused == T3_FUSED_ALL_TO_ALL || own.workgroups == 0) return T3_OK;
  const struct t3_matrix rows = rows_of(out, own);
  return zero_matrix(gpu, w, &rows);
}

enum t3_status t3_run_fused(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_gemm_workload w;
  T3_TRY(t3_gemm_workload_of(run, &w));
  struct t3_context context = {0};
  struct t3_operands t;
  struct t3_node_queues queues = {0};
  struct t3_gemm_collectives collectives;
  T3_TRY(t3_set_up(&context, hal, run));
  t3_begin(&context, "setup");
  T3_TRY(t3_allocate(&context, &w, T3_UNCACHED, &t));
  T3_TRY(t3_prepare_collectives(&context, &w, &t.out, T3_ALL_GATHER, NULL, &collectives));
  if (w.zero_output) {
    t3_begin(&context, "zeroing");
    T3_TRY(zero(&context, &w, &t.out));
    t3_end(&context, "zeroing");
  }
  T3_TRY(t3_follow_near_memory(&context, &w, &t));
  if (t3_gpus(&context) > 1) T3_TRY(map_output(&context, &w, &t.out, &queues));
  T3_TRY(w.by_nic ? t3_host_barrier(&context) : t3_barrier(&context));
  t3_end(&context, "setup");

  t3_begin(&context, "total");
  T3_TRY(run_phases(&context, &w, &t, &collectives));
  t3_end(&context, "total");
  T3_TRY(t3_remote_unmap_all(&context));
  T3_TRY(t3_stop_following(&context));
  if (w.by_nic) T3_TRY(t3_close_node_routes(&context, &w, &queues));
  return t3_close(&context);
}
