/* A pipeline of GEMMs, a stage on each GPU. Methods t3 and t3-mca: remote_map sends a stage's stores to the input of
 * the next one, whose Tracker counts them and whose dispatcher holds workgroups until their rows are complete (T3 7.2).
 */
#include "t3/chunk_progress.h"
#include "t3/gates.h"
#include "t3/grid.h"
#include "t3/streams.h"
#include "t3/workloads/pipeline.h"
#include "workloads/shared/program_steps.h"

struct stage {
  struct t3_context* gpu;
  const struct t3_pipeline* w;
  struct t3_output in, out; /* of one layout: a stage's output is the next one's input */
  struct t3_matrix weights;
  uint64_t base[T3_CHUNK_SIGNALS]; /* values of the counters before the maps */
  uint32_t number, stages;
};

static bool is_first(const struct stage* s) { return s->number == 0; }
static bool is_last(const struct stage* s) { return s->number + 1 == s->stages; }

static enum t3_status allocate(struct stage* s) {
  const struct t3_pipeline* w = s->w;
  const struct t3_output activations = {{.rows = w->rows, .columns = w->width, .element = w->element},
                                        {w->tile_rows, w->tile_columns, w->wavefronts}};
  s->in = s->out = activations;
  s->weights = (struct t3_matrix){.rows = w->width, .columns = w->width, .element = w->element};
  if (w->gated) s->in.matrix.memory = s->out.matrix.memory = T3_UNCACHED;
  T3_TRY(t3_matrix_malloc(s->gpu, &s->in.matrix));
  T3_TRY(t3_matrix_malloc(s->gpu, &s->weights));
  T3_TRY(t3_matrix_malloc(s->gpu, &s->out.matrix));
  t3_publish(s->gpu, "in", &s->in.matrix);
  t3_publish(s->gpu, "weights", &s->weights);
  t3_publish(s->gpu, "out", &s->out.matrix);
  return T3_OK;
}

/* Whole rows of tiles. */
static struct t3_chunk chunk_of(const struct stage* s, uint32_t part) {
  const uint64_t down = t3_divide_up(s->w->rows, s->w->tile_rows);
  const uint32_t across = t3_divide_up(s->w->width, s->w->tile_columns);
  const uint32_t begin = (uint32_t)(down * part / s->w->parts), end = (uint32_t)(down * (part + 1) / s->w->parts);
  return (struct t3_chunk){begin * across, (end - begin) * across};
}

static enum t3_status map_stage(struct stage* s) {
  const struct t3_dma_options one_store = {.updates = 1, .block_tiles = 1, .counted = T3_STORE};
  for (uint32_t part = 0; !is_first(s) && part < s->w->parts; ++part) {
    T3_TRY(t3_chunk_signal_value(s->gpu, T3_CHUNK_SIGNAL_FIRST + part, &s->base[part]));
    T3_TRY(t3_dma_map_ready_signal(s->gpu, &s->in, chunk_of(s, part), 0, T3_NOTIFY, one_store,
                                   T3_CHUNK_SIGNAL_FIRST + part));
  }
  if (is_last(s)) return T3_OK;
  const struct t3_chunk all = {0, t3_workgroups(&s->out)};
  return t3_remote_map(s->gpu, &s->out, all, t3_peer_address(&s->in.matrix, s->number + 1), T3_STORE);
}

static enum t3_status run_gated(struct stage* s) {
  for (uint32_t part = 0; !is_first(s) && part < s->w->parts; ++part) {
    const struct t3_chunk chunk = chunk_of(s, part);
    const struct t3_gate gate = {chunk.first_workgroup, chunk.workgroups, T3_CHUNK_SIGNAL_FIRST + part,
                                 s->base[part] + 1};
    T3_TRY(t3_gate_workgroups(s->gpu, 0, gate));
  }
  T3_TRY(t3_gemm(s->gpu, &s->out, &s->in.matrix, &s->weights, (struct t3_gemm_options){0}));
  T3_TRY(t3_wait_kernels(s->gpu));
  return is_first(s) ? T3_OK : t3_wait_dma(s->gpu);
}

/* The rows of a part. */
static struct t3_matrix rows_of(const struct stage* s, const struct t3_matrix* matrix, uint32_t part) {
  const struct t3_chunk chunk = chunk_of(s, part);
  const uint32_t across = t3_divide_up(s->w->width, s->w->tile_columns);
  const uint32_t begin = chunk.first_workgroup / across * s->w->tile_rows;
  const uint32_t end = (chunk.first_workgroup + chunk.workgroups) / across * s->w->tile_rows;
  struct t3_matrix rows = *matrix;
  rows.address += begin * rows.row_stride;
  rows.rows = t3_smaller(end, matrix->rows) - begin;
  return rows;
}

static enum t3_status run_part(const struct stage* s, uint32_t part) {
  const struct t3_matrix in = rows_of(s, &s->in.matrix, part);
  struct t3_output out = s->out;
  out.matrix = rows_of(s, &s->out.matrix, part);
  t3_begin(s->gpu, "gemm");
  T3_TRY(t3_gemm(s->gpu, &out, &in, &s->weights, (struct t3_gemm_options){0}));
  T3_TRY(t3_wait_kernels(s->gpu));
  t3_end(s->gpu, "gemm");
  if (is_last(s)) return T3_OK;
  const struct t3_matrix to = rows_of(s, &s->in.matrix, part);
  t3_begin(s->gpu, "send");
  T3_TRY(t3_copy(s->gpu, 0, t3_peer_address(&to, s->number + 1), out.matrix.address,
                 out.matrix.rows * out.matrix.row_stride));
  t3_end(s->gpu, "send");
  return T3_OK;
}

/* Stage s has part p in step s + p. */
static enum t3_status run_in_steps(const struct stage* s) {
  for (uint32_t step = 0; step + 1 < s->stages + s->w->parts; ++step) {
    if (step >= s->number && step - s->number < s->w->parts) T3_TRY(run_part(s, step - s->number));
    T3_TRY(t3_barrier(s->gpu));
  }
  return T3_OK;
}

enum t3_status t3_run_pipeline(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context context = {0};
  struct t3_pipeline w;
  T3_TRY(t3_pipeline_of(run, &w));
  T3_TRY(t3_set_up(&context, hal, run));
  struct stage stage = {.gpu = &context, .w = &w, .number = t3_gpu(&context), .stages = t3_gpus(&context)};
  t3_begin(&context, "setup");
  T3_TRY(allocate(&stage));
  if (w.gated) T3_TRY(map_stage(&stage));
  T3_TRY(t3_barrier(&context));
  t3_end(&context, "setup");

  t3_begin(&context, "total");
  T3_TRY(w.gated ? run_gated(&stage) : run_in_steps(&stage));
  t3_end(&context, "total");
  T3_TRY(t3_remote_unmap_all(&context));
  T3_TRY(t3_hand_over(&context));
  return t3_close(&context);
}
