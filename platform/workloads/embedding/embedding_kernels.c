#include "workloads/embedding/embedding_kernels.h"

#include "t3/arguments/embedding.h"
#include "t3/arguments/embedding_fused.h"
#include "t3/arguments/embedding_update.h"
#include "t3/arguments/embedding_update_fused.h"
#include "t3/arguments/exchange.h"
#include "workloads/shared/program_steps.h"

/* The arguments that all kernels on tables have in common. */
#define TABLES(gpu_, e, b)                                                                                          \
  .tables = (b)->tables, .indices = (b)->indices, .offsets = (b)->offsets, .seed = (e)->seed,                       \
  .tables_per_gpu = (e)->tables_per_gpu, .rows = (e)->rows, .dimension = (e)->dimension,                            \
  .global_batch = (e)->global_batch, .gpu = t3_gpu(gpu_), .gpus = t3_gpus(gpu_), .pooling = (uint16_t)(e)->pooling, \
  .drawn = (e)->drawn, .mean = (e)->mean, .element = (uint8_t)(e)->element

enum t3_status t3_allocate_tables(struct t3_context* gpu, const struct t3_embedding* e,
                                  struct t3_embedding_buffers* b) {
  T3_TRY(t3_malloc(gpu, t3_embedding_table_bytes(e), &b->tables));
  T3_TRY(t3_malloc(gpu, t3_embedding_index_bytes(e), &b->indices));
  T3_TRY(t3_malloc(gpu, t3_embedding_offset_bytes(e), &b->offsets));
  t3_publish_rows(gpu, "tables", b->tables, (uint64_t)e->tables_per_gpu * e->rows, e->dimension, e->element);
  return T3_OK;
}

enum t3_status t3_prepare_slices(struct t3_context* gpu, const struct t3_embedding* e, struct t3_embedding_buffers* b) {
  const uint64_t ready = t3_embedding_ready_bytes(e, 0, t3_gpus(gpu));
  if (b->ready == 0) T3_TRY(t3_malloc(gpu, ready, &b->ready));
  if (b->done == 0) T3_TRY(t3_malloc(gpu, t3_embedding_done_bytes(e), &b->done));
  T3_TRY(t3_malloc(gpu, T3_EMBEDDING_FUSED_ARGUMENTS_BYTES, &b->arguments));
  T3_TRY(t3_write_zeros(gpu, b->done, t3_embedding_done_bytes(e)));
  T3_TRY(t3_write_zeros(gpu, b->ready, ready));
  /* A flag has the size of two elements. */
  t3_publish_rows(gpu, "ready", b->ready, t3_embedding_samples(e, t3_gpu(gpu), t3_gpus(gpu)),
                  2 * (uint64_t)t3_gpus(gpu) * t3_embedding_slices(e), T3_FP32);
  return T3_OK;
}

enum t3_status t3_queue_pooling(struct t3_context* gpu, const struct t3_embedding* e,
                                const struct t3_embedding_buffers* b, uint32_t table) {
  const struct t3_embedding_arguments arguments = {TABLES(gpu, e, b), .pooled = b->pooled,
                                                   .out = b->pooled == 0 ? b->out : 0, .table = table};
  const struct t3_kernel_options options = {.workgroups = T3_POOLING_GRID};
  unsigned char bytes[T3_EMBEDDING_ARGUMENTS_BYTES];
  t3_embedding_arguments_to(&arguments, bytes);
  return t3_run_kernel(gpu, "embedding", bytes, sizeof bytes, options);
}

enum t3_status t3_queue_fused_pooling(struct t3_context* gpu, const struct t3_embedding* e,
                                      const struct t3_embedding_buffers* b) {
  const struct t3_embedding_fused_arguments arguments = {TABLES(gpu, e, b),
                                                         .out = b->out,
                                                         .done = b->done,
                                                         .ready = b->ready,
                                                         .heap_table = b->heap_table,
                                                         .table_bytes = b->heap_table_bytes,
                                                         .staging = b->staging,
                                                         .contexts = b->contexts,
                                                         .slice = e->slice,
                                                         .gpus_per_row = e->gpus_per_row,
                                                         .order = e->oblivious};
  const struct t3_kernel_options options = {.workgroups = e->workgroups, .argument_memory = b->arguments};
  unsigned char bytes[T3_EMBEDDING_FUSED_ARGUMENTS_BYTES];
  t3_embedding_fused_arguments_to(&arguments, bytes);
  return t3_run_kernel(gpu, "embedding_fused", bytes, sizeof bytes, options);
}

enum t3_status t3_queue_exchange(struct t3_context* gpu, const struct t3_embedding* e,
                                 const struct t3_exchange_route* route) {
  const struct t3_exchange_arguments arguments = {.pooled = route->pooled,
                                                  .received = route->received,
                                                  .out = route->out,
                                                  .signal_epoch = route->epoch,
                                                  .signal_base = route->counter,
                                                  .global_batch = e->global_batch,
                                                  .columns = e->tables_per_gpu * e->dimension,
                                                  .gpu = t3_gpu(gpu),
                                                  .gpus = t3_gpus(gpu),
                                                  .gpus_per_row = e->gpus_per_row,
                                                  .element = (uint8_t)e->element,
                                                  .direction = route->to_tables
                                                                   ? T3_EXCHANGE_ARGUMENTS_DIRECTION_TO_TABLES
                                                                   : T3_EXCHANGE_ARGUMENTS_DIRECTION_TO_SAMPLES};
  const struct t3_kernel_options options = {.workgroups = t3_ring_workgroups(gpu)};
  unsigned char bytes[T3_EXCHANGE_ARGUMENTS_BYTES];
  t3_exchange_arguments_to(&arguments, bytes);
  return t3_run_kernel(gpu, "exchange", bytes, sizeof bytes, options);
}

/* A step by the whole gradient: any other rate takes as long. */
static const float RATE = 1;

enum t3_status t3_prepare_update(struct t3_context* gpu, const struct t3_embedding* e, bool fused,
                                 struct t3_update_buffers* u) {
  const uint64_t flags = (uint64_t)e->global_batch * T3_FLAG_BYTES;
  const uint64_t bytes = t3_embedding_pooled_bytes(e);
  T3_TRY(t3_malloc(gpu, bytes, &u->gradients));
  t3_publish_rows(gpu, "table_gradients", u->gradients, 1, bytes / t3_element_bytes(e->element), e->element);
  if (!fused) return T3_OK;
  T3_TRY(t3_malloc(gpu, flags, &u->ready));
  T3_TRY(t3_malloc(gpu, T3_EMBEDDING_UPDATE_FUSED_ARGUMENTS_BYTES, &u->arguments));
  t3_publish_rows(gpu, "gradients_ready", u->ready, 1, flags / t3_element_bytes(T3_FP32), T3_FP32);
  return t3_write_zeros(gpu, u->ready, flags);
}

enum t3_status t3_queue_update(struct t3_context* gpu, const struct t3_embedding* e,
                               const struct t3_embedding_buffers* b, const struct t3_update_buffers* u,
                               uint32_t table) {
  const struct t3_embedding_update_arguments arguments = {TABLES(gpu, e, b), .gradients = u->gradients, .rate = RATE,
                                                          .table = table};
  const struct t3_kernel_options options = {.workgroups = T3_POOLING_GRID};
  unsigned char bytes[T3_EMBEDDING_UPDATE_ARGUMENTS_BYTES];
  t3_embedding_update_arguments_to(&arguments, bytes);
  return t3_run_kernel(gpu, "embedding_update", bytes, sizeof bytes, options);
}

enum t3_status t3_queue_fused_update(struct t3_context* gpu, const struct t3_embedding* e,
                                     const struct t3_embedding_buffers* b, const struct t3_update_buffers* u,
                                     uint64_t out) {
  const struct t3_embedding_update_fused_arguments arguments = {
      TABLES(gpu, e, b), .out = out,   .gradients = u->gradients,
      .ready = u->ready, .rate = RATE, .gpus_per_row = e->gpus_per_row};
  const struct t3_kernel_options options = {.workgroups = e->workgroups, .argument_memory = u->arguments};
  unsigned char bytes[T3_EMBEDDING_UPDATE_FUSED_ARGUMENTS_BYTES];
  t3_embedding_update_fused_arguments_to(&arguments, bytes);
  return t3_run_kernel(gpu, "embedding_update_fused", bytes, sizeof bytes, options);
}
