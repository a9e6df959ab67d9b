/* Embedding tables pooled and exchanged: in two steps, as frameworks do it, or each result stored where its owner wants
 * it (GPU-initiated overlap, section 3.3). */
#include "t3/arguments/embedding.h"

#include "operands.h"
#include "t3/arguments/exchange.h"
#include "t3/registers/signals.h"

struct buffers {
  uint64_t tables, indices, offsets, pooled, out; /* pooled: 0 where there is none */
  uint64_t epoch;                                 /* of the exchange's counters */
};

static void publish(const struct t3_context* gpu, const char* name, uint64_t address, uint64_t rows, uint64_t columns,
                    enum t3_element element) {
  const struct t3_buffer buffer = {.name = name,
                                   .address = address,
                                   .row_stride = columns * t3_element_bytes(element),
                                   .rows = (uint32_t)rows,
                                   .columns = (uint32_t)columns,
                                   .element = (uint32_t)element};
  gpu->hal->publish(gpu->hal->platform, &buffer);
}

/* The same on all GPUs, since they store to each other's `out`: the first one's is the largest. */
static enum t3_status allocate(struct t3_context* gpu, const struct t3_job* job, struct buffers* b) {
  const struct t3_embedding* e = &job->embedding;
  const uint32_t gpus = gpu->gpus;
  *b = (struct buffers){0};
  T3_TRY(t3_malloc(gpu, t3_embedding_table_bytes(e), &b->tables));
  T3_TRY(t3_malloc(gpu, t3_embedding_index_bytes(e), &b->indices));
  T3_TRY(t3_malloc(gpu, t3_embedding_offset_bytes(e), &b->offsets));
  if (job->embedding_method == T3_BULK) T3_TRY(t3_malloc(gpu, t3_embedding_pooled_bytes(e), &b->pooled));
  T3_TRY(t3_malloc(gpu, t3_embedding_out_bytes(e, 0, gpus), &b->out));
  publish(gpu, "tables", b->tables, (uint64_t)e->tables_per_gpu * e->rows, e->dimension, e->element);
  publish(gpu, "out", b->out, t3_embedding_samples(e, gpu->gpu, gpus),
          (uint64_t)gpus * e->tables_per_gpu * e->dimension, e->element);
  return T3_OK;
}

/* The last counters are for kernels that are not the driver's ring kernels. */
static uint32_t first_counter(const struct t3_context* gpu) { return T3_SIGNALS_VALUE_COUNT - gpu->ring_workgroups; }

/* While no GPU can have signalled yet. All of the kernel's counters are the same. */
static enum t3_status read_epoch(const struct t3_context* gpu, struct buffers* b) {
  const uint64_t values = t3_block_base(gpu->gpu, T3_BLOCK_SIGNALS) + T3_SIGNALS_VALUE_OFFSET;
  return gpu->hal->read64(gpu->hal->platform, values + (uint64_t)T3_SIGNALS_VALUE_STRIDE * first_counter(gpu),
                          &b->epoch);
}

static enum t3_status queue_pooling(struct t3_context* gpu, const struct t3_embedding* e, const struct buffers* b,
                                    uint32_t table) {
  const struct t3_embedding_arguments arguments = {.tables = b->tables,
                                                   .indices = b->indices,
                                                   .offsets = b->offsets,
                                                   .pooled = b->pooled,
                                                   .out = b->pooled == 0 ? b->out : 0,
                                                   .seed = e->seed,
                                                   .table = table,
                                                   .tables_per_gpu = e->tables_per_gpu,
                                                   .rows = e->rows,
                                                   .dimension = e->dimension,
                                                   .global_batch = e->global_batch,
                                                   .gpu = gpu->gpu,
                                                   .gpus = gpu->gpus,
                                                   .pooling = (uint16_t)e->pooling,
                                                   .drawn = e->drawn,
                                                   .mean = e->mean,
                                                   .element = (uint8_t)e->element};
  const struct t3_kernel_options options = {.workgroups = T3_POOLING_GRID};
  unsigned char bytes[T3_EMBEDDING_ARGUMENTS_BYTES];
  t3_embedding_arguments_to(&arguments, bytes);
  return t3_run_kernel(gpu, "embedding", bytes, sizeof bytes, options);
}

/* The queue runs one kernel after the other, as a stream does. */
static enum t3_status pool(struct t3_context* gpu, const struct t3_embedding* e, const struct buffers* b) {
  t3_begin(gpu, "pooling");
  for (uint32_t table = 0; table < e->tables_per_gpu; ++table) T3_TRY(queue_pooling(gpu, e, b, table));
  T3_TRY(t3_wait_kernels(gpu));
  t3_end(gpu, "pooling");
  return T3_OK;
}

static enum t3_status exchange(struct t3_context* gpu, const struct t3_embedding* e, const struct buffers* b) {
  const struct t3_exchange_arguments arguments = {.pooled = b->pooled,
                                                  .out = b->out,
                                                  .signal_epoch = b->epoch,
                                                  .signal_base = first_counter(gpu),
                                                  .global_batch = e->global_batch,
                                                  .columns = e->tables_per_gpu * e->dimension,
                                                  .gpu = gpu->gpu,
                                                  .gpus = gpu->gpus,
                                                  .element = (uint8_t)e->element};
  const struct t3_kernel_options options = {.workgroups = gpu->ring_workgroups};
  unsigned char bytes[T3_EXCHANGE_ARGUMENTS_BYTES];
  t3_exchange_arguments_to(&arguments, bytes);
  t3_begin(gpu, "all_to_all");
  T3_TRY(t3_run_kernel(gpu, "exchange", bytes, sizeof bytes, options));
  T3_TRY(t3_wait_kernels(gpu));
  t3_end(gpu, "all_to_all");
  return T3_OK;
}

/* When all GPUs are here, all that they have stored has arrived. */
static enum t3_status await_peers(struct t3_context* gpu) {
  t3_begin(gpu, "arrival");
  T3_TRY(t3_barrier(gpu));
  t3_end(gpu, "arrival");
  return T3_OK;
}

enum t3_status t3_run_embedding(const struct t3_hal* hal, const struct t3_job* job) {
  struct t3_context context = {0};
  struct buffers buffers;
  const struct t3_embedding* e = &job->embedding;
  T3_TRY(t3_set_up(&context, hal, job));
  t3_begin(&context, "setup");
  T3_TRY(allocate(&context, job, &buffers));
  T3_TRY(read_epoch(&context, &buffers));
  T3_TRY(t3_barrier(&context));
  t3_end(&context, "setup");

  t3_begin(&context, "total");
  T3_TRY(pool(&context, e, &buffers));
  T3_TRY(job->embedding_method == T3_BULK ? exchange(&context, e, &buffers) : await_peers(&context));
  t3_end(&context, "total");
  T3_TRY(t3_hand_over(&context));
  return t3_close(&context);
}
