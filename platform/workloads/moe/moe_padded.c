/* A layer of experts with the Tracker, whose slots all travel, as in GShard's dense dispatch. How many come is known
 * before the routing is. So maps are made once, and numbers of rows travel with the rows. */
#include "t3/gates.h"
#include "workloads/moe/moe_steps.h"

static const struct t3_dma_options one_store = {.updates = 1, .block_tiles = 1, .counted = T3_STORE};

/* Successive experts share a counter where there are more experts than counters. */
static uint32_t signal_of(uint32_t local, uint32_t expert) {
  return T3_CHUNK_SIGNAL_FIRST + (local <= T3_CHUNK_SIGNALS ? expert : expert * T3_CHUNK_SIGNALS / local);
}

/* All slots of an expert are a chunk. */
enum t3_status t3_moe_map_slots(struct t3_context* gpu, const struct t3_moe_run* r) {
  const struct t3_output slots = {r->slots, {1, r->moe.inner, 1}};
  const uint32_t local = t3_moe_local(&r->moe, t3_gpus(gpu)), each = r->moe.slots * t3_gpus(gpu);
  for (uint32_t expert = 0; expert < local; ++expert)
    T3_TRY(t3_dma_map_ready_signal(gpu, &slots, (struct t3_chunk){expert * each, each}, 0, T3_NOTIFY, one_store,
                                   signal_of(local, expert)));
  return T3_OK;
}

/* Holds the workgroups of the experts that share a counter until all of their slots are complete. */
static enum t3_status gate_experts(struct t3_context* gpu, const struct t3_moe_run* r, uint32_t tiles) {
  const uint32_t local = t3_moe_local(&r->moe, t3_gpus(gpu));
  for (uint32_t first = 0, end = 0; first < local; first = end) {
    const uint32_t signal = signal_of(local, first);
    while (end < local && signal_of(local, end) == signal) ++end;
    const struct t3_gate gate = {first * tiles, (end - first) * tiles, signal,
                                 r->chunk_epoch[signal - T3_CHUNK_SIGNAL_FIRST] + end - first};
    T3_TRY(t3_gate_workgroups(gpu, r->compute_queue, gate));
  }
  return T3_OK;
}

enum t3_status t3_moe_run_padded(struct t3_context* gpu, const struct t3_moe_run* r) {
  const struct t3_grid most = t3_moe_grid(&r->moe, r->moe.slots * t3_gpus(gpu));
  const uint32_t tiles = t3_tiles_of(&most), local = t3_moe_local(&r->moe, t3_gpus(gpu));
  t3_begin(gpu, "layer");
  T3_TRY(t3_moe_launch_dispatch(gpu, r));
  T3_TRY(gate_experts(gpu, r, tiles));
  T3_TRY(t3_moe_launch_gemm(gpu, r, local * tiles + t3_divide_up(r->lost, T3_MOE_LINE_WORDS)));
  T3_TRY(t3_wait_queue(gpu, r->communication_queue));
  T3_TRY(t3_wait_queue(gpu, r->compute_queue));
  T3_TRY(t3_wait_dma(gpu));
  t3_end(gpu, "layer");
  return T3_OK;
}
