/* Embedding tables pooled and exchanged: in two steps, as frameworks do it, each result stored where its owner wants it
 * (GPU-initiated overlap, section 3.3), or so in one persistent kernel (3.2). */
#include "t3/shmem.h"
#include "workloads/embedding/embedding_kernels.h"
#include "workloads/embedding/host_sends.h"
#include "workloads/shared/program_steps.h"

struct run {
  struct t3_embedding_buffers buffers;
  struct t3_shmem_heap heap;  /* that has what NICs send and bring */
  struct t3_host_sends sends; /* in bulk: by them */
  uint64_t epoch;             /* of the exchange's counters, which are all the same */
};

static bool is_by_nic(const struct t3_embedding* e) { return e->gpus_per_node != 0; }

static uint32_t contexts_of(const struct t3_embedding* e, uint32_t gpus) {
  const uint64_t wanted = e->contexts != 0 ? e->contexts : e->workgroups;
  return (uint32_t)t3_at_most(wanted, T3_SHMEM_QUEUES_MAX / (gpus - 1));
}

enum { HEAP_ALIGNMENT = 256, RING_ENTRIES = 256 };

static uint64_t in_heap(uint64_t bytes) { return (bytes + HEAP_ALIGNMENT - 1) / HEAP_ALIGNMENT * HEAP_ALIGNMENT; }

/* Allocates the buffers that a persistent kernel's NIC sends from and receives in. */
static enum t3_status allocate_slices(struct t3_context* gpu, const struct t3_embedding* e, struct run* r) {
  struct t3_embedding_buffers* b = &r->buffers;
  const uint64_t out = t3_embedding_out_bytes(e, 0, t3_gpus(gpu)), ready = t3_embedding_ready_bytes(e, 0, t3_gpus(gpu)),
                 staging = t3_embedding_pooled_bytes(e);
  const struct t3_shmem_options options = {.heap_bytes = in_heap(out) + in_heap(ready) + in_heap(staging),
                                           .contexts = contexts_of(e, t3_gpus(gpu)),
                                           .entries = RING_ENTRIES};
  T3_TRY(t3_shmem_init(gpu, options, &r->heap));
  T3_TRY(t3_shmem_malloc(gpu, &r->heap, out, &b->out));
  T3_TRY(t3_shmem_malloc(gpu, &r->heap, ready, &b->ready));
  T3_TRY(t3_shmem_malloc(gpu, &r->heap, staging, &b->staging));
  b->heap_table = r->heap.table;
  b->heap_table_bytes = r->heap.table_bytes;
  b->contexts = options.contexts;
  return T3_OK;
}

/* Allocates the buffers for the nodes' CPUs: the first GPU receives most. */
static enum t3_status allocate_bulk(struct t3_context* gpu, const struct t3_embedding* e, struct run* r) {
  struct t3_embedding_buffers* b = &r->buffers;
  const uint64_t pooled = t3_embedding_pooled_bytes(e), received = t3_embedding_out_bytes(e, 0, t3_gpus(gpu));
  const struct t3_shmem_options options = {
      .heap_bytes = in_heap(pooled) + in_heap(received), .contexts = 1, .entries = RING_ENTRIES, .for_host = true};
  T3_TRY(t3_shmem_init(gpu, options, &r->heap));
  T3_TRY(t3_shmem_malloc(gpu, &r->heap, pooled, &b->pooled));
  T3_TRY(t3_shmem_malloc(gpu, &r->heap, received, &b->received));
  T3_TRY(t3_malloc(gpu, received, &b->out));
  r->sends = (struct t3_host_sends){.embedding = e,
                                    .times = {e->host_kernel_end_ns, e->host_post_ns, e->host_launch_ns},
                                    .heap = &r->heap,
                                    .pooled = b->pooled,
                                    .received = b->received};
  return t3_prepare_host_sends(gpu, &r->sends);
}

/* Allocates the buffers for stores over links. */
static enum t3_status allocate_linked(struct t3_context* gpu, const struct t3_embedding* e,
                                      struct t3_embedding_buffers* b) {
  if (e->method == T3_BULK) T3_TRY(t3_malloc(gpu, t3_embedding_pooled_bytes(e), &b->pooled));
  return t3_malloc(gpu, t3_embedding_out_bytes(e, 0, t3_gpus(gpu)), &b->out);
}

/* Allocates the same on all GPUs, since they store to each other's `out`: the first one's is the largest. */
static enum t3_status allocate(struct t3_context* gpu, const struct t3_embedding* e, struct run* r) {
  struct t3_embedding_buffers* b = &r->buffers;
  const bool is_fused = e->method == T3_FUSED_POOLING;
  *r = (struct run){0};
  T3_TRY(t3_allocate_tables(gpu, e, b));
  if (is_fused) T3_TRY(t3_malloc(gpu, t3_embedding_done_bytes(e), &b->done));
  if (!is_by_nic(e)) {
    T3_TRY(allocate_linked(gpu, e, b));
  } else if (is_fused) {
    T3_TRY(allocate_slices(gpu, e, r));
  } else {
    T3_TRY(allocate_bulk(gpu, e, r));
  }
  if (is_fused) T3_TRY(t3_prepare_slices(gpu, e, b));
  t3_publish_rows(gpu, "out", b->out, t3_embedding_samples(e, t3_gpu(gpu), t3_gpus(gpu)),
                  (uint64_t)t3_gpus(gpu) * e->tables_per_gpu * e->dimension, e->element);
  return T3_OK;
}

/* The queue runs one kernel after the other, as a stream does. */
static enum t3_status pool(struct t3_context* gpu, const struct t3_embedding* e, const struct run* r) {
  t3_begin(gpu, "pooling");
  if (e->method == T3_FUSED_POOLING) {
    T3_TRY(t3_queue_fused_pooling(gpu, e, &r->buffers));
  } else {
    for (uint32_t table = 0; table < e->tables_per_gpu; ++table) T3_TRY(t3_queue_pooling(gpu, e, &r->buffers, table));
  }
  T3_TRY(t3_wait_kernels(gpu));
  t3_end(gpu, "pooling");
  return T3_OK;
}

static enum t3_status exchange(struct t3_context* gpu, const struct t3_embedding* e, struct run* r) {
  const struct t3_exchange_route route = {.pooled = r->buffers.pooled,
                                          .received = r->buffers.received,
                                          .out = r->buffers.out,
                                          .counter = t3_first_counter(gpu, 1),
                                          .epoch = r->epoch};
  t3_begin(gpu, "all_to_all");
  if (route.received != 0) T3_TRY(t3_send_by_host(gpu, &r->sends));
  T3_TRY(t3_queue_exchange(gpu, e, &route));
  T3_TRY(t3_wait_kernels(gpu));
  t3_end(gpu, "all_to_all");
  return T3_OK;
}

/* When all GPUs have arrived here, all their stores have arrived. */
static enum t3_status await_peers(struct t3_context* gpu) {
  t3_begin(gpu, "arrival");
  T3_TRY(t3_barrier(gpu));
  t3_end(gpu, "arrival");
  return T3_OK;
}

static enum t3_status run_phases(struct t3_context* gpu, const struct t3_embedding* e, struct run* r) {
  T3_TRY(pool(gpu, e, r));
  if (e->method == T3_FUSED_POOLING) return T3_OK;
  return e->method == T3_BULK ? exchange(gpu, e, r) : await_peers(gpu);
}

enum t3_status t3_run_embedding(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context context = {0};
  struct t3_embedding e;
  struct run state;
  T3_TRY(t3_embedding_of(run, &e));
  T3_TRY(t3_set_up(&context, hal, run));
  t3_begin(&context, "setup");
  T3_TRY(allocate(&context, &e, &state));
  T3_TRY(t3_read_epoch(&context, t3_first_counter(&context, 1), &state.epoch));
  T3_TRY(is_by_nic(&e) ? t3_host_barrier(&context) : t3_barrier(&context));
  t3_end(&context, "setup");

  t3_begin(&context, "total");
  T3_TRY(run_phases(&context, &e, &state));
  t3_end(&context, "total");
  T3_TRY(t3_hand_over(&context));
  if (is_by_nic(&e)) T3_TRY(t3_shmem_finalize(&context, &state.heap));
  return t3_close(&context);
}
