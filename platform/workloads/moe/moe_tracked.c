/* A layer of experts with the Tracker (T3 7.2). Thresholds are numbers of rows, so that GPUs share these first. Then
 * each GPU maps the rows that it will receive, and gates the workgroups that read them. Results are added to their
 * tokens' sums by near-memory updates at the owners, whose Trackers count those. */
#include "t3/gates.h"
#include "workloads/moe/moe_steps.h"

static const struct t3_dma_options one_store = {.updates = 1, .block_tiles = 1, .counted = T3_STORE};

/* A row of a slot is a tile. */
static struct t3_output slots_of(const struct t3_moe_run* r) {
  return (struct t3_output){r->slots, {1, r->moe.inner, 1}};
}
static struct t3_output sums_of(const struct t3_moe_run* r) {
  return (struct t3_output){r->out, {T3_MOE_TRACKED_ROWS, r->moe.hidden, 1}};
}

enum t3_status t3_moe_map_sums(struct t3_context* gpu, struct t3_moe_run* r) {
  const struct t3_output slots = slots_of(r), sums = sums_of(r);
  const struct t3_chunk all = {0, t3_workgroups(&sums)};
  for (uint32_t i = 0; i < T3_CHUNK_SIGNALS; ++i)
    T3_TRY(t3_chunk_signal_value(gpu, T3_CHUNK_SIGNAL_FIRST + i, &r->chunk_epoch[i]));
  T3_TRY(t3_reserve_counts(gpu, &slots, t3_workgroups(&slots) + all.workgroups));
  return t3_dma_map(gpu, &sums, all, 0, T3_NOTIFY, (struct t3_dma_options){.updates = r->moe.top_k, .block_tiles = 1});
}

/* The rows of a list: those of a GPU for a local expert. The own GPU's are the first of each expert. */
struct rows {
  const struct t3_moe_run* r;
  uint32_t me, gpus, local;
  uint32_t words[T3_MOE_EXPERTS_MAX]; /* by list */
};

static uint32_t lists_of(const struct rows* rows) { return rows->local * rows->gpus; }

static enum t3_status read_line(struct t3_context* gpu, struct rows* rows, uint32_t expert) {
  unsigned char bytes[T3_MOE_LINE];
  const uint64_t line = rows->r->data + rows->r->control.counts + (uint64_t)expert * T3_MOE_LINE;
  T3_TRY(t3_hal_of(gpu)->read_memory(t3_hal_of(gpu)->platform, line, bytes, sizeof bytes));
  for (uint32_t place = 0; place < rows->gpus; ++place) {
    const uint32_t source = t3_moe_source(rows->me, place, rows->gpus);
    rows->words[expert * rows->gpus + place] =
        (uint32_t)(t3_number_at(bytes + (uint64_t)source * T3_MOE_WORD, T3_MOE_WORD) - 1);
  }
  return T3_OK;
}

static uint32_t rows_of_expert(const struct rows* rows, uint32_t expert) {
  uint32_t all = 0;
  for (uint32_t place = 0; place < rows->gpus; ++place) all += rows->words[expert * rows->gpus + place];
  return all;
}

/* Successive lists share a counter where there are more lists than counters. */
static uint32_t signal_of(const struct rows* rows, uint32_t list) {
  const uint32_t lists = lists_of(rows);
  return T3_CHUNK_SIGNAL_FIRST + (lists <= T3_CHUNK_SIGNALS ? list : list * T3_CHUNK_SIGNALS / lists);
}

static enum t3_status map_list(struct t3_context* gpu, const struct rows* rows, uint32_t list) {
  const struct t3_output slots = slots_of(rows->r);
  const uint32_t source = t3_moe_source(rows->me, list % rows->gpus, rows->gpus);
  const uint64_t first = t3_moe_slot(&rows->r->moe, list / rows->gpus, source, rows->gpus);
  if (rows->words[list] == 0) return T3_OK;
  return t3_dma_map_ready_signal(gpu, &slots, (struct t3_chunk){(uint32_t)first, rows->words[list]}, 0, T3_NOTIFY,
                                 one_store, signal_of(rows, list));
}

/* Tiles of the GEMM that a counter releases, and how often it counts. */
struct gate {
  uint32_t first, end, chunks;
};

static void widen(struct gate* gate, uint32_t first, uint32_t end) {
  if (gate->chunks++ == 0) gate->first = first;
  gate->end = end;
}

/* Counts tiles, and finds those that read each list. Returns the number of all tiles. */
static uint32_t plan_tiles(const struct rows* rows, struct gate* gates, unsigned char* ends) {
  const struct t3_moe* e = &rows->r->moe;
  const uint32_t across = t3_divide_up(e->hidden, e->tile_columns);
  uint32_t tiles = 0;
  for (uint32_t expert = 0; expert < rows->local; ++expert) {
    uint32_t before = 0;
    for (uint32_t place = 0; place < rows->gpus; ++place) {
      const uint32_t list = expert * rows->gpus + place, count = rows->words[list];
      if (count == 0) continue;
      widen(&gates[signal_of(rows, list) - T3_CHUNK_SIGNAL_FIRST], tiles + before / e->tile_rows * across,
            tiles + t3_divide_up(before + count, e->tile_rows) * across);
      before += count;
    }
    tiles += t3_divide_up(rows_of_expert(rows, expert), e->tile_rows) * across;
    t3_put_number(ends + (uint64_t)expert * T3_MOE_WORD, T3_MOE_WORD, tiles);
  }
  return tiles;
}

static enum t3_status gate_tiles(struct t3_context* gpu, const struct rows* rows, const struct gate* gates) {
  for (uint32_t i = 0; i < T3_CHUNK_SIGNALS; ++i) {
    const struct t3_gate gate = {gates[i].first, gates[i].end - gates[i].first, T3_CHUNK_SIGNAL_FIRST + i,
                                 rows->r->chunk_epoch[i] + gates[i].chunks};
    if (gates[i].chunks != 0) T3_TRY(t3_gate_workgroups(gpu, rows->r->compute_queue, gate));
  }
  return T3_OK;
}

/* A peer sends when this GPU has mapped what it receives. */
static enum t3_status map_rows(struct t3_context* gpu, struct rows* rows) {
  t3_begin(gpu, "mapping");
  for (uint32_t expert = 0; expert < rows->local; ++expert) T3_TRY(read_line(gpu, rows, expert));
  for (uint32_t list = 0; list < lists_of(rows); ++list) T3_TRY(map_list(gpu, rows, list));
  T3_TRY(t3_barrier(gpu));
  t3_end(gpu, "mapping");
  return T3_OK;
}

static enum t3_status launch(struct t3_context* gpu, const struct rows* rows) {
  struct gate gates[T3_CHUNK_SIGNALS] = {{0, 0, 0}};
  unsigned char ends[T3_MOE_EXPERTS_MAX * T3_MOE_WORD];
  const struct t3_moe_run* r = rows->r;
  const uint32_t tiles = plan_tiles(rows, gates, ends), lines = t3_divide_up(r->lost, T3_MOE_LINE_WORDS);
  T3_TRY(t3_moe_launch_dispatch(gpu, r));
  T3_TRY(t3_hal_of(gpu)->write_memory(t3_hal_of(gpu)->platform, r->data + r->control.ends, ends,
                                      (uint64_t)rows->local * T3_MOE_WORD));
  t3_hal_of(gpu)->order_writes(t3_hal_of(gpu)->platform);
  T3_TRY(gate_tiles(gpu, rows, gates));
  /* Without tiles no gate says that the kernel may run beside the dispatch. It adds zeros for what was dropped. */
  if (tiles == 0) T3_TRY(t3_wait_queue(gpu, r->communication_queue));
  return tiles + lines == 0 ? T3_OK : t3_moe_launch_gemm(gpu, r, tiles + lines);
}

enum t3_status t3_moe_run_tracked(struct t3_context* gpu, struct t3_moe_run* r) {
  struct rows rows = {.r = r, .me = t3_gpu(gpu), .gpus = t3_gpus(gpu), .local = t3_moe_local(&r->moe, t3_gpus(gpu))};
  T3_TRY(t3_moe_share_counts(gpu, r));
  T3_TRY(map_rows(gpu, &rows));
  t3_begin(gpu, "layer");
  T3_TRY(launch(gpu, &rows));
  T3_TRY(t3_wait_queue(gpu, r->communication_queue));
  T3_TRY(t3_wait_queue(gpu, r->compute_queue));
  T3_TRY(t3_wait_dma(gpu));
  t3_end(gpu, "layer");
  return T3_OK;
}
