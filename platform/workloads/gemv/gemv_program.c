/* A matrix times a vector on each GPU and the all-reduce of the results: one kernel after the other, or in one. */
#include "t3/arguments/gemv.h"

#include "t3/arguments/collective.h"
#include "t3/arguments/gemv_all_reduce.h"
#include "t3/collective_staging.h"
#include "workloads/gemv/gemv_layout.h"
#include "workloads/shared/program_steps.h"

enum { COUNTERS_OF_A_WORKGROUP = 2 };

struct buffers {
  uint64_t matrix, vector, out;
  uint64_t staging;        /* in bulk: of the all-reduce */
  uint64_t partial, ready; /* fused */
  uint64_t epochs[COUNTERS_OF_A_WORKGROUP];
};

static struct t3_collective all_reduce_of(const struct t3_gemv* g) {
  return (struct t3_collective){
      .op = T3_ALL_REDUCE, .algorithm = T3_DIRECT, .element = g->element, .elements = g->rows};
}

static uint32_t fused_workgroups(const struct t3_gemv* g, uint32_t gpus) {
  return t3_gemv_workgroups(g, t3_gemv_slices_owned(g, gpus));
}

static enum t3_status allocate_fused(struct t3_context* gpu, const struct t3_gemv* g, struct buffers* b) {
  const uint64_t flags = t3_all_peer_flag_bytes(t3_gpus(gpu), fused_workgroups(g, t3_gpus(gpu)), T3_GEMV_FLAG_KINDS);
  T3_TRY(t3_malloc(gpu, t3_gemv_partial_bytes(g, t3_gpus(gpu)), &b->partial));
  T3_TRY(t3_malloc(gpu, flags, &b->ready));
  return t3_write_zeros(gpu, b->ready, flags);
}

/* Allocates the same on all GPUs, since they store to each other's buffers. */
static enum t3_status allocate(struct t3_context* gpu, const struct t3_gemv* g, struct buffers* b) {
  const struct t3_collective all_reduce = all_reduce_of(g);
  *b = (struct buffers){0};
  T3_TRY(t3_malloc(gpu, t3_gemv_matrix_bytes(g), &b->matrix));
  T3_TRY(t3_malloc(gpu, t3_gemv_vector_bytes(g), &b->vector));
  T3_TRY(t3_malloc(gpu, t3_gemv_out_bytes(g), &b->out));
  if (g->fused)
    T3_TRY(allocate_fused(gpu, g, b));
  else
    T3_TRY(t3_malloc(gpu, t3_staging_bytes(&all_reduce, t3_gpus(gpu)), &b->staging));
  t3_publish_rows(gpu, "matrix", b->matrix, g->rows, g->columns, g->element);
  t3_publish_rows(gpu, "vector", b->vector, 1, g->columns, g->element);
  t3_publish_rows(gpu, "out", b->out, 1, g->rows, g->element);
  return T3_OK;
}

static uint32_t first_counter(const struct t3_context* gpu) { return t3_first_counter(gpu, COUNTERS_OF_A_WORKGROUP); }

static enum t3_status read_epochs(const struct t3_context* gpu, struct buffers* b) {
  for (uint32_t i = 0; i < COUNTERS_OF_A_WORKGROUP; ++i)
    T3_TRY(t3_read_epoch(gpu, first_counter(gpu) + i * t3_ring_workgroups(gpu), &b->epochs[i]));
  return T3_OK;
}

static enum t3_status multiply(struct t3_context* gpu, const struct t3_gemv* g, const struct buffers* b) {
  const struct t3_gemv_arguments arguments = {.matrix = b->matrix,
                                              .vector = b->vector,
                                              .out = b->out,
                                              .rows = g->rows,
                                              .columns = g->columns,
                                              .slice = g->slice,
                                              .element = (uint8_t)g->element};
  unsigned char bytes[T3_GEMV_ARGUMENTS_BYTES];
  t3_gemv_arguments_to(&arguments, bytes);
  return t3_run_phase(gpu, "gemv", "gemv", bytes, sizeof bytes, t3_gemv_workgroups(g, t3_gemv_slices(g)));
}

static enum t3_status all_reduce(struct t3_context* gpu, const struct t3_gemv* g, const struct buffers* b) {
  const struct t3_collective_arguments arguments = {.out = b->out,
                                                    .staging = b->staging,
                                                    .elements = g->rows,
                                                    .signal_epoch = b->epochs[0],
                                                    .between_epoch = b->epochs[1],
                                                    .signal_base = first_counter(gpu),
                                                    .gpu = t3_gpu(gpu),
                                                    .gpus = t3_gpus(gpu),
                                                    .op = T3_ALL_REDUCE,
                                                    .algorithm = T3_DIRECT,
                                                    .element = (uint8_t)g->element};
  unsigned char bytes[T3_COLLECTIVE_ARGUMENTS_BYTES];
  t3_collective_arguments_to(&arguments, bytes);
  return t3_run_phase(gpu, "all_reduce", "collective", bytes, sizeof bytes, t3_ring_workgroups(gpu));
}

static enum t3_status run_fused(struct t3_context* gpu, const struct t3_gemv* g, const struct buffers* b) {
  const struct t3_gemv_all_reduce_arguments arguments = {.matrix = b->matrix,
                                                         .vector = b->vector,
                                                         .out = b->out,
                                                         .partial = b->partial,
                                                         .ready = b->ready,
                                                         .rows = g->rows,
                                                         .columns = g->columns,
                                                         .slice = g->slice,
                                                         .gpu = t3_gpu(gpu),
                                                         .gpus = t3_gpus(gpu),
                                                         .element = (uint8_t)g->element};
  unsigned char bytes[T3_GEMV_ALL_REDUCE_ARGUMENTS_BYTES];
  t3_gemv_all_reduce_arguments_to(&arguments, bytes);
  return t3_run_phase(gpu, "gemv", "gemv_all_reduce", bytes, sizeof bytes, fused_workgroups(g, t3_gpus(gpu)));
}

static enum t3_status run_phases(struct t3_context* gpu, const struct t3_gemv* g, const struct buffers* b) {
  if (g->fused) return run_fused(gpu, g, b);
  T3_TRY(multiply(gpu, g, b));
  return all_reduce(gpu, g, b);
}

enum t3_status t3_run_gemv(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context context = {0};
  struct t3_gemv g;
  struct buffers buffers;
  T3_TRY(t3_gemv_of(run, &g));
  T3_TRY(t3_set_up(&context, hal, run));
  T3_TRY(t3_set_ring_workgroups(
      &context, (uint32_t)t3_at_most(t3_ring_workgroups(&context), T3_RING_WORKGROUPS_MAX / COUNTERS_OF_A_WORKGROUP)));
  t3_begin(&context, "setup");
  T3_TRY(allocate(&context, &g, &buffers));
  T3_TRY(read_epochs(&context, &buffers));
  T3_TRY(t3_barrier(&context));
  t3_end(&context, "setup");

  t3_begin(&context, "total");
  T3_TRY(run_phases(&context, &g, &buffers));
  t3_end(&context, "total");
  T3_TRY(t3_hand_over(&context));
  return t3_close(&context);
}
