/* Embedding tables pooled and exchanged: in two steps, as frameworks do it, each result stored where its owner wants it
 * (GPU-initiated overlap, section 3.3), or so in one persistent kernel (3.2). */
#include "t3/arguments/embedding.h"

#include "host_sends.h"
#include "operands.h"
#include "t3/address.h"
#include "t3/arguments/embedding_fused.h"
#include "t3/arguments/exchange.h"
#include "t3/shmem.h"

struct buffers {
  uint64_t tables, indices, offsets, pooled, out; /* pooled: 0 where there is none */
  uint64_t done, ready;                           /* of the persistent kernel's slices; 0 beside others */
  uint64_t staging, arguments;                    /* of a persistent kernel whose results NICs send */
  uint64_t received;                              /* in bulk: what NICs bring */
  struct t3_shmem_heap heap;                      /* that has what NICs send and bring */
  struct t3_host_sends sends;                     /* in bulk: by them */
  uint64_t epoch;                                 /* of the exchange's counters, which are all the same */
};

static bool is_by_nic(const struct t3_job* job) { return job->embedding.gpus_per_node != 0; }

static uint32_t contexts_of(const struct t3_embedding* e, uint32_t gpus) {
  const uint64_t wanted = e->contexts != 0 ? e->contexts : (e->workgroups + 7) / 8;
  return (uint32_t)t3_at_most(wanted, T3_SHMEM_QUEUES_MAX / (gpus - 1));
}

enum { HEAP_ALIGNMENT = 256, RING_ENTRIES = 256 };

static uint64_t in_heap(uint64_t bytes) { return (bytes + HEAP_ALIGNMENT - 1) / HEAP_ALIGNMENT * HEAP_ALIGNMENT; }

/* What a persistent kernel's NIC sends and brings. */
static enum t3_status allocate_slices(struct t3_context* gpu, const struct t3_embedding* e, struct buffers* b) {
  const uint64_t out = t3_embedding_out_bytes(e, 0, gpu->gpus), ready = t3_embedding_ready_bytes(e, 0, gpu->gpus),
                 staging = t3_embedding_pooled_bytes(e);
  const struct t3_shmem_options options = {.heap_bytes = in_heap(out) + in_heap(ready) + in_heap(staging),
                                           .contexts = contexts_of(e, gpu->gpus),
                                           .entries = RING_ENTRIES};
  T3_TRY(t3_shmem_init(gpu, options, &b->heap));
  T3_TRY(t3_shmem_malloc(gpu, &b->heap, out, &b->out));
  T3_TRY(t3_shmem_malloc(gpu, &b->heap, ready, &b->ready));
  return t3_shmem_malloc(gpu, &b->heap, staging, &b->staging);
}

/* What the hosts send: the first GPU receives the most. */
static enum t3_status allocate_bulk(struct t3_context* gpu, const struct t3_job* job, struct buffers* b) {
  const struct t3_embedding* e = &job->embedding;
  const uint64_t pooled = t3_embedding_pooled_bytes(e), received = t3_embedding_out_bytes(e, 0, gpu->gpus);
  const struct t3_shmem_options options = {
      .heap_bytes = in_heap(pooled) + in_heap(received), .contexts = 1, .entries = RING_ENTRIES, .for_host = true};
  T3_TRY(t3_shmem_init(gpu, options, &b->heap));
  T3_TRY(t3_shmem_malloc(gpu, &b->heap, pooled, &b->pooled));
  T3_TRY(t3_shmem_malloc(gpu, &b->heap, received, &b->received));
  T3_TRY(t3_malloc(gpu, received, &b->out));
  b->sends = (struct t3_host_sends){
      .embedding = e, .times = job->host, .heap = &b->heap, .pooled = b->pooled, .received = b->received};
  return t3_prepare_host_sends(gpu, &b->sends);
}

/* What is stored to each other over links. */
static enum t3_status allocate_linked(struct t3_context* gpu, const struct t3_job* job, struct buffers* b) {
  const struct t3_embedding* e = &job->embedding;
  if (job->embedding_method == T3_BULK) T3_TRY(t3_malloc(gpu, t3_embedding_pooled_bytes(e), &b->pooled));
  T3_TRY(t3_malloc(gpu, t3_embedding_out_bytes(e, 0, gpu->gpus), &b->out));
  if (job->embedding_method != T3_FUSED_POOLING) return T3_OK;
  return t3_malloc(gpu, t3_embedding_ready_bytes(e, 0, gpu->gpus), &b->ready);
}

static enum t3_status allocate_results(struct t3_context* gpu, const struct t3_job* job, struct buffers* b) {
  const struct t3_embedding* e = &job->embedding;
  const bool is_fused = job->embedding_method == T3_FUSED_POOLING;
  if (is_fused) {
    T3_TRY(t3_malloc(gpu, t3_embedding_done_bytes(e), &b->done));
    T3_TRY(t3_write_zeros(gpu, b->done, t3_embedding_done_bytes(e)));
  }
  if (!is_by_nic(job)) {
    T3_TRY(allocate_linked(gpu, job, b));
  } else if (is_fused) {
    T3_TRY(allocate_slices(gpu, e, b));
  } else {
    T3_TRY(allocate_bulk(gpu, job, b));
  }
  if (!is_fused) return T3_OK;
  T3_TRY(t3_malloc(gpu, T3_EMBEDDING_FUSED_ARGUMENTS_BYTES, &b->arguments));
  return t3_write_zeros(gpu, b->ready, t3_embedding_ready_bytes(e, 0, gpu->gpus));
}

/* The same on all GPUs, since they store to each other's `out`: the first one's is the largest. */
static enum t3_status allocate(struct t3_context* gpu, const struct t3_job* job, struct buffers* b) {
  const struct t3_embedding* e = &job->embedding;
  const uint32_t gpus = gpu->gpus;
  *b = (struct buffers){0};
  T3_TRY(t3_malloc(gpu, t3_embedding_table_bytes(e), &b->tables));
  T3_TRY(t3_malloc(gpu, t3_embedding_index_bytes(e), &b->indices));
  T3_TRY(t3_malloc(gpu, t3_embedding_offset_bytes(e), &b->offsets));
  T3_TRY(allocate_results(gpu, job, b));
  t3_publish_rows(gpu, "tables", b->tables, (uint64_t)e->tables_per_gpu * e->rows, e->dimension, e->element);
  if (b->ready != 0) /* a flag has the size of two elements */
    t3_publish_rows(gpu, "ready", b->ready, t3_embedding_samples(e, gpu->gpu, gpus),
                    2 * (uint64_t)gpus * t3_embedding_slices(e), T3_FP32);
  t3_publish_rows(gpu, "out", b->out, t3_embedding_samples(e, gpu->gpu, gpus),
                  (uint64_t)gpus * e->tables_per_gpu * e->dimension, e->element);
  return T3_OK;
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

static enum t3_status exchange(struct t3_context* gpu, const struct t3_embedding* e, struct buffers* b) {
  const struct t3_exchange_arguments arguments = {.pooled = b->pooled,
                                                  .received = b->received,
                                                  .out = b->out,
                                                  .signal_epoch = b->epoch,
                                                  .signal_base = t3_first_counter(gpu, 1),
                                                  .global_batch = e->global_batch,
                                                  .columns = e->tables_per_gpu * e->dimension,
                                                  .gpu = gpu->gpu,
                                                  .gpus = gpu->gpus,
                                                  .gpus_per_row = e->gpus_per_row,
                                                  .element = (uint8_t)e->element};
  const struct t3_kernel_options options = {.workgroups = gpu->ring_workgroups};
  unsigned char bytes[T3_EXCHANGE_ARGUMENTS_BYTES];
  t3_exchange_arguments_to(&arguments, bytes);
  t3_begin(gpu, "all_to_all");
  if (b->received != 0) T3_TRY(t3_send_by_host(gpu, &b->sends));
  T3_TRY(t3_run_kernel(gpu, "exchange", bytes, sizeof bytes, options));
  T3_TRY(t3_wait_kernels(gpu));
  t3_end(gpu, "all_to_all");
  return T3_OK;
}

static enum t3_status pool_fused(struct t3_context* gpu, const struct t3_embedding* e, const struct buffers* b) {
  const struct t3_embedding_fused_arguments arguments = {.tables = b->tables,
                                                         .indices = b->indices,
                                                         .offsets = b->offsets,
                                                         .out = b->out,
                                                         .done = b->done,
                                                         .ready = b->ready,
                                                         .heap_table = b->heap.table,
                                                         .table_bytes = b->heap.table_bytes,
                                                         .staging = b->staging,
                                                         .contexts = b->staging == 0 ? 0 : contexts_of(e, gpu->gpus),
                                                         .seed = e->seed,
                                                         .tables_per_gpu = e->tables_per_gpu,
                                                         .rows = e->rows,
                                                         .dimension = e->dimension,
                                                         .global_batch = e->global_batch,
                                                         .slice = e->slice,
                                                         .gpu = gpu->gpu,
                                                         .gpus = gpu->gpus,
                                                         .gpus_per_row = e->gpus_per_row,
                                                         .pooling = (uint16_t)e->pooling,
                                                         .drawn = e->drawn,
                                                         .mean = e->mean,
                                                         .element = (uint8_t)e->element,
                                                         .order = e->oblivious};
  const struct t3_kernel_options options = {.workgroups = e->workgroups, .argument_memory = b->arguments};
  unsigned char bytes[T3_EMBEDDING_FUSED_ARGUMENTS_BYTES];
  t3_embedding_fused_arguments_to(&arguments, bytes);
  t3_begin(gpu, "pooling");
  T3_TRY(t3_run_kernel(gpu, "embedding_fused", bytes, sizeof bytes, options));
  T3_TRY(t3_wait_kernels(gpu));
  t3_end(gpu, "pooling");
  return T3_OK;
}

/* When all GPUs are here, all that they have stored has arrived. */
static enum t3_status await_peers(struct t3_context* gpu) {
  t3_begin(gpu, "arrival");
  T3_TRY(t3_barrier(gpu));
  t3_end(gpu, "arrival");
  return T3_OK;
}

static enum t3_status run(struct t3_context* gpu, const struct t3_job* job, struct buffers* b) {
  const struct t3_embedding* e = &job->embedding;
  if (job->embedding_method == T3_FUSED_POOLING) return pool_fused(gpu, e, b);
  T3_TRY(pool(gpu, e, b));
  return job->embedding_method == T3_BULK ? exchange(gpu, e, b) : await_peers(gpu);
}

enum t3_status t3_run_embedding(const struct t3_hal* hal, const struct t3_job* job) {
  struct t3_context context = {0};
  struct buffers buffers;
  T3_TRY(t3_set_up(&context, hal, job));
  t3_begin(&context, "setup");
  T3_TRY(allocate(&context, job, &buffers));
  T3_TRY(t3_read_epoch(&context, t3_first_counter(&context, 1), &buffers.epoch));
  T3_TRY(is_by_nic(job) ? t3_meet_hosts(&context) : t3_barrier(&context));
  t3_end(&context, "setup");

  t3_begin(&context, "total");
  T3_TRY(run(&context, job, &buffers));
  t3_end(&context, "total");
  T3_TRY(t3_hand_over(&context));
  if (is_by_nic(job)) T3_TRY(t3_shmem_close(&context, &buffers.heap));
  return t3_close(&context);
}
