/* An all-gather of rows into the GEMM that consumes them. Methods t3 and t3-mca: a kernel puts the own rows in their
 * place. Its stores trigger the DMA engine, which sends them on, and so do the rows that arrive (T3 7.1). The GEMM's
 * workgroups wait in the dispatcher until the Tracker has counted their rows (T3 7.2). */
#include "workloads/gather_gemm/gather_gemm_layout.h"

#include "t3/arguments/place_rows.h"
#include "t3/chunk_progress.h"
#include "t3/gates.h"
#include "workloads/shared/program_steps.h"

struct buffers {
  struct t3_matrix x, b;
  struct t3_output a, out;
  uint64_t base[T3_CHUNK_SIGNALS]; /* values of the counters before the maps */
};

static const struct t3_dma_options one_store = {.updates = 1, .block_tiles = 1, .counted = T3_STORE};

/* The program's arguments, and the GPU's place. */
struct gathering {
  struct t3_context* gpu;
  const struct t3_gather_gemm* w;
  struct buffers* buffers;
  uint32_t me, gpus;
};

static enum t3_status allocate(const struct gathering* g) {
  const struct t3_gather_gemm* w = g->w;
  struct buffers* b = g->buffers;
  struct t3_context* gpu = g->gpu;
  const enum t3_memory_kind kind = w->gated ? T3_UNCACHED : T3_CACHED;
  const uint32_t most = t3_divide_up(t3_gathered_groups(w), g->gpus) * w->wavefronts;
  b->x = (struct t3_matrix){.rows = most, .columns = w->k, .element = w->element};
  b->a = (struct t3_output){{.rows = w->m, .columns = t3_gathered_pitch(w), .element = w->element, .memory = kind},
                            {w->wavefronts, T3_GATHERED_COLUMNS, w->wavefronts}};
  b->b = (struct t3_matrix){.rows = w->k, .columns = w->n, .element = w->element};
  b->out = (struct t3_output){{.rows = w->m, .columns = w->n, .element = w->element},
                              {w->tile_rows, w->tile_columns, w->wavefronts}};
  T3_TRY(t3_matrix_malloc(gpu, &b->x));
  T3_TRY(t3_matrix_malloc(gpu, &b->a.matrix));
  T3_TRY(t3_matrix_malloc(gpu, &b->b));
  T3_TRY(t3_matrix_malloc(gpu, &b->out.matrix));
  b->a.matrix.columns = w->k;
  struct t3_matrix x = b->x;
  x.rows = t3_gathered_rows(w, t3_gathered_share(w, g->me, g->gpus));
  if (x.rows != 0) t3_publish(gpu, "x", &x);
  t3_publish(gpu, "a", &b->a.matrix);
  t3_publish(gpu, "b", &b->b);
  t3_publish(gpu, "out", &b->out.matrix);
  return T3_OK;
}

/* GPUs count from this one on: 0 is this GPU, 1 the next one, from which the ring brings rows. */
static struct t3_row_groups part_of(const struct gathering* g, uint32_t distance, uint32_t part) {
  return t3_gathered_part(g->w, (g->me + distance) % g->gpus, g->gpus, part, g->w->parts);
}

static struct t3_chunk chunk_of(const struct gathering* g, uint32_t distance, uint32_t part) {
  const struct t3_row_groups groups = part_of(g, distance, part);
  const uint32_t across = t3_gathered_tiles_across(g->w);
  return (struct t3_chunk){groups.first * across, groups.count * across};
}

/* The counter of a part of another GPU's rows. */
static uint32_t signal_of(const struct gathering* g, uint32_t distance, uint32_t part) {
  return T3_CHUNK_SIGNAL_FIRST + (distance - 1) * g->w->parts + part;
}

static uint64_t a_of(const struct gathering* g, uint32_t distance) {
  return t3_peer_address(&g->buffers->a.matrix, (g->me + distance) % g->gpus);
}

/* The own rows go to the previous GPU of the ring, or to all others. */
static enum t3_status map_own(const struct gathering* g, struct t3_chunk chunk) {
  const struct t3_output* a = &g->buffers->a;
  const bool is_ring = g->w->route == T3_GATHER_RING;
  T3_TRY(t3_dma_map(g->gpu, a, chunk, a_of(g, is_ring ? g->gpus - 1 : 1), T3_STORE, one_store));
  for (uint32_t distance = 2; !is_ring && distance < g->gpus; ++distance)
    T3_TRY(t3_dma_map_also(g->gpu, a, chunk, a_of(g, distance)));
  return T3_OK;
}

/* Rows of other GPUs go on around the ring, but for those of the previous GPU. */
static enum t3_status map_others(const struct gathering* g, uint32_t distance, struct t3_chunk chunk, uint32_t signal) {
  const struct t3_output* a = &g->buffers->a;
  if (g->w->route == T3_GATHER_RING && distance != g->gpus - 1)
    return t3_dma_map_ready_signal(g->gpu, a, chunk, a_of(g, g->gpus - 1), T3_STORE, one_store, signal);
  return t3_dma_map_ready_signal(g->gpu, a, chunk, 0, T3_NOTIFY, one_store, signal);
}

static enum t3_status map_rows(const struct gathering* g) {
  T3_TRY(t3_reserve_counts(g->gpu, &g->buffers->a, t3_workgroups(&g->buffers->a)));
  for (uint32_t distance = 0; distance < g->gpus; ++distance)
    for (uint32_t part = 0; part < g->w->parts; ++part) {
      const struct t3_chunk chunk = chunk_of(g, distance, part);
      if (chunk.workgroups == 0) continue;
      if (distance == 0) {
        T3_TRY(map_own(g, chunk));
        continue;
      }
      const uint32_t signal = signal_of(g, distance, part);
      T3_TRY(t3_chunk_signal_value(g->gpu, signal, &g->buffers->base[signal - T3_CHUNK_SIGNAL_FIRST]));
      T3_TRY(map_others(g, distance, chunk, signal));
    }
  return T3_OK;
}

static uint32_t tiles_across(const struct t3_gather_gemm* w) { return t3_divide_up(w->n, w->tile_columns); }

/* The first tile of the GEMM that has own rows alone, where there is one. */
static uint32_t first_tile(const struct gathering* g) {
  const struct t3_row_groups own = t3_gathered_share(g->w, g->me, g->gpus);
  const uint32_t begin = own.first * g->w->wavefronts, tile = t3_divide_up(begin, g->w->tile_rows);
  const bool has_whole = (tile + 1) * g->w->tile_rows <= begin + t3_gathered_rows(g->w, own);
  return (has_whole ? tile : begin / g->w->tile_rows) * tiles_across(g->w);
}

/* Holds tiles [first, first + count) of the output, which begin with `origin`, until the counter has grown. Workgroups
 * behind the output's end are those before `origin`. */
static enum t3_status gate_tiles(const struct gathering* g, uint32_t first, uint32_t count, uint32_t signal) {
  const uint32_t all = t3_workgroups(&g->buffers->out), origin = first_tile(g);
  const uint32_t begin = (first + all - origin) % all, straight = t3_smaller(count, all - begin);
  struct t3_gate gate = {begin, straight, signal, g->buffers->base[signal - T3_CHUNK_SIGNAL_FIRST] + 1};
  T3_TRY(t3_gate_workgroups(g->gpu, 0, gate));
  if (straight == count) return T3_OK;
  gate.first = 0;
  gate.workgroups = count - straight;
  return t3_gate_workgroups(g->gpu, 0, gate);
}

/* Each part of another GPU's rows holds the tiles that read some of them. */
static enum t3_status gate_gemm(const struct gathering* g) {
  const struct t3_gather_gemm* w = g->w;
  for (uint32_t distance = 1; distance < g->gpus; ++distance)
    for (uint32_t part = 0; part < w->parts; ++part) {
      const struct t3_row_groups groups = part_of(g, distance, part);
      const uint32_t rows = t3_gathered_rows(w, groups), begin = groups.first * w->wavefronts;
      if (rows == 0) continue;
      const uint32_t first = begin / w->tile_rows, end = t3_divide_up(begin + rows, w->tile_rows);
      T3_TRY(gate_tiles(g, first * tiles_across(w), (end - first) * tiles_across(w), signal_of(g, distance, part)));
    }
  return T3_OK;
}

static enum t3_status place_own_rows(const struct gathering* g) {
  const struct t3_gather_gemm* w = g->w;
  const struct t3_row_groups own = t3_gathered_share(w, g->me, g->gpus);
  const struct t3_place_rows_arguments arguments = {.to = g->buffers->a.matrix.address,
                                                    .from = g->buffers->x.address,
                                                    .first_row = own.first * w->wavefronts,
                                                    .rows = t3_gathered_rows(w, own),
                                                    .columns = w->k,
                                                    .ld_to = (uint32_t)g->buffers->a.matrix.row_stride,
                                                    .ld_from = (uint32_t)g->buffers->x.row_stride,
                                                    .tile_columns = T3_GATHERED_COLUMNS,
                                                    .wavefronts = (uint8_t)w->wavefronts,
                                                    .element = (uint8_t)w->element,
                                                    .uncached = w->gated};
  unsigned char bytes[T3_PLACE_ROWS_ARGUMENTS_BYTES];
  if (arguments.rows == 0) return T3_OK;
  t3_place_rows_arguments_to(&arguments, bytes);
  return t3_run_kernel(g->gpu, "place_rows", bytes, sizeof bytes, (struct t3_kernel_options){0});
}

static enum t3_status start_gemm(const struct gathering* g) {
  const struct t3_gemm_options options = {.first_workgroup = g->w->gated ? first_tile(g) : 0};
  return t3_gemm(g->gpu, &g->buffers->out, &g->buffers->a.matrix, &g->buffers->b, options);
}

static enum t3_status run_gated(const struct gathering* g) {
  t3_begin(g->gpu, "gated");
  T3_TRY(place_own_rows(g));
  T3_TRY(gate_gemm(g));
  T3_TRY(start_gemm(g));
  T3_TRY(t3_wait_kernels(g->gpu));
  T3_TRY(t3_wait_dma(g->gpu));
  t3_end(g->gpu, "gated");
  return T3_OK;
}

/* The rows of a as the ring kernel gathers them: a group of rows is a tile, so that its chunks are the GPUs' shares. */
static struct t3_output in_pieces(const struct gathering* g) {
  const struct t3_gather_gemm* w = g->w;
  const uint32_t piece = t3_gathered_piece(w), pieces = t3_gathered_pitch(w) / piece;
  struct t3_output a = g->buffers->a;
  a.matrix.rows *= pieces;
  a.matrix.columns = piece;
  a.matrix.row_stride /= pieces;
  a.tiling = (struct t3_tiling){w->wavefronts * pieces, piece, w->wavefronts};
  return a;
}

static enum t3_status run_sequential(const struct gathering* g) {
  t3_begin(g->gpu, "place");
  T3_TRY(place_own_rows(g));
  T3_TRY(t3_wait_kernels(g->gpu));
  t3_end(g->gpu, "place");
  t3_begin(g->gpu, "all_gather");
  const struct t3_output a = in_pieces(g);
  T3_TRY(t3_ring_all_gather(g->gpu, &a));
  T3_TRY(t3_wait_kernels(g->gpu));
  t3_end(g->gpu, "all_gather");
  t3_begin(g->gpu, "gemm");
  T3_TRY(start_gemm(g));
  T3_TRY(t3_wait_kernels(g->gpu));
  t3_end(g->gpu, "gemm");
  return T3_OK;
}

enum t3_status t3_run_gather_gemm(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context context = {0};
  struct t3_gather_gemm w;
  struct buffers buffers;
  T3_TRY(t3_gather_gemm_of(run, &w));
  T3_TRY(t3_set_up(&context, hal, run));
  const struct gathering g = {&context, &w, &buffers, t3_gpu(&context), t3_gpus(&context)};
  t3_begin(&context, "setup");
  T3_TRY(allocate(&g));
  if (w.gated) T3_TRY(map_rows(&g));
  T3_TRY(t3_barrier(&context));
  t3_end(&context, "setup");

  t3_begin(&context, "total");
  T3_TRY(w.gated ? run_gated(&g) : run_sequential(&g));
  t3_end(&context, "total");
  T3_TRY(t3_remote_unmap_all(&context));
  T3_TRY(t3_hand_over(&context));
  return t3_close(&context);
}
