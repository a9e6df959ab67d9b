/* A training pass of a recommendation model, in the order of ASTRA-sim's graph of it (GPU-initiated overlap, section
 * 4.1). The tables' all-to-all overlaps with the bottom perceptron; the interaction waits for it. In the backward pass
 * the all-reduce of each bucket of gradients, and the all-to-all of the tables' gradients, overlap with the computation
 * before them. The steps that need their results wait for them.
 *
 * There are three queues: for computation, for all-to-alls, and for all-reduces. The interaction reads all pooled rows
 * and writes as much, in one pass over memory. Its gradient is its own output: the tables learn as if the loss were
 * half the sum of its squares. */
#include "workloads/embedding/dlrm_layout.h"

#include <stddef.h>

#include "workloads/collective/all_reduce.h"
#include "workloads/embedding/embedding_kernels.h"
#include "workloads/embedding/mlp.h"
#include "workloads/shared/program_steps.h"

enum { EXCHANGE_COUNTERS = 1, LAYERS_MAX = 256 };

struct pass {
  struct t3_context* gpu;
  struct t3_embedding embedding;
  struct t3_dlrm dlrm;
  struct t3_embedding_buffers tables;
  uint64_t features, feature_gradients; /* of this GPU's samples, as large as what is pooled of them */
  struct t3_update_buffers update;
  struct t3_mlp mlp;
  struct t3_all_reduce all_reduce;
  uint32_t exchange_queue, reduce_queue;
  uint64_t exchange_epoch;
  uint64_t gradients_of_features; /* the kernel that gives them */
  uint64_t bucket_ends[LAYERS_MAX];
};

static bool is_fused(const struct pass* p) { return p->embedding.method == T3_FUSED_POOLING; }

static uint32_t bucket_layers(const struct pass* p) {
  return t3_dlrm_bucket_layers(&p->dlrm, p->embedding.element, t3_gpus(p->gpu));
}

/* Returns the counters that each workgroup uses. */
static uint32_t counters_of(const struct pass* p) {
  return EXCHANGE_COUNTERS + t3_all_reduce_counters(p->dlrm.dimensions);
}

/* Returns the pooled rows of this GPU's samples, or their gradients, as rows of each GPU's tables. */
static struct t3_matrix all_features(const struct pass* p, uint64_t address) {
  const struct t3_embedding* e = &p->embedding;
  return (struct t3_matrix){.address = address,
                            .row_stride = t3_embedding_sample_bytes(e),
                            .rows = t3_embedding_samples(e, t3_gpu(p->gpu), t3_gpus(p->gpu)) * t3_gpus(p->gpu),
                            .columns = e->tables_per_gpu * e->dimension,
                            .element = e->element};
}

/* The first of each sample's, as many as the top perceptron takes. */
static struct t3_matrix first_features(const struct pass* p, struct t3_matrix like) {
  like.address = p->features;
  like.row_stride = t3_embedding_sample_bytes(&p->embedding) * t3_gpus(p->gpu);
  const uint64_t columns = like.row_stride / t3_element_bytes(like.element);
  like.columns = (uint32_t)t3_at_most(like.columns, columns);
  return like;
}

/* Publishes the buffers that GPUs have parts of, by their numbers, one for each bucket. */
static void publish_shared(const struct pass* p) {
  const uint32_t layers = t3_dlrm_layers(&p->dlrm), each = bucket_layers(p);
  for (uint32_t bucket = 0; bucket * each < layers; ++bucket) {
    const uint32_t first = bucket * each, count = (uint32_t)t3_at_most(each, layers - first);
    char name[] = "bucket000";
    t3_number_name(name, bucket);
    t3_publish_rows(p->gpu, name, p->mlp.gradients + first * p->mlp.layer_bytes, 1,
                    count * p->mlp.layer_bytes / t3_element_bytes(p->mlp.element), p->mlp.element);
  }
}

/* Allocates the same on all GPUs, since they store to each other's buffers: the first one's are the largest. */
static enum t3_status allocate(struct pass* p) {
  struct t3_context* gpu = p->gpu;
  const struct t3_embedding* e = &p->embedding;
  const uint64_t out = t3_embedding_out_bytes(e, 0, t3_gpus(gpu));
  const uint32_t columns = e->tables_per_gpu * e->dimension * t3_gpus(gpu),
                 samples = t3_embedding_samples(e, t3_gpu(gpu), t3_gpus(gpu));
  T3_TRY(t3_allocate_tables(gpu, e, &p->tables));
  T3_TRY(t3_malloc(gpu, out, &p->tables.out));
  T3_TRY(t3_malloc(gpu, out, &p->features));
  T3_TRY(t3_malloc(gpu, out, &p->feature_gradients));
  T3_TRY(is_fused(p) ? t3_prepare_slices(gpu, e, &p->tables)
                     : t3_malloc(gpu, t3_embedding_pooled_bytes(e), &p->tables.pooled));
  T3_TRY(t3_prepare_update(gpu, e, p->dlrm.fused_backward, &p->update));
  T3_TRY(t3_mlp_allocate(gpu, &p->dlrm, e->element, t3_embedding_samples(e, 0, t3_gpus(gpu)), &p->mlp));
  p->mlp.samples = samples;
  t3_mlp_publish(gpu, &p->mlp, (uint32_t)t3_flat_chunk_begin(e->global_batch, t3_gpu(gpu), t3_gpus(gpu)));
  t3_publish_rows(gpu, "out", p->tables.out, samples, columns, e->element);
  publish_shared(p);
  return T3_OK;
}

static enum t3_status set_up(struct pass* p) {
  struct t3_context* gpu = p->gpu;
  const struct t3_embedding* e = &p->embedding;
  const uint64_t bucket = bucket_layers(p) * p->mlp.layer_bytes;
  p->all_reduce =
      (struct t3_all_reduce){.element = e->element, .rings = {.first_counter = t3_first_counter(gpu, counters_of(p))}};
  for (uint32_t d = 0; d < T3_TORUS_DIMENSIONS_MAX; ++d) p->all_reduce.rings.dimensions[d] = p->dlrm.dimensions[d];
  T3_TRY(t3_prepare_all_reduce(gpu, bucket / t3_element_bytes(e->element), &p->all_reduce));
  T3_TRY(t3_read_epoch(gpu, t3_first_counter(gpu, EXCHANGE_COUNTERS), &p->exchange_epoch));
  T3_TRY(t3_queue_create(gpu, (struct t3_queue_options){0}, &p->exchange_queue));
  T3_TRY(t3_queue_create(gpu, (struct t3_queue_options){0}, &p->reduce_queue));
  return t3_barrier(gpu);
}

/* A phase is the time that the program waits in it. */
static enum t3_status await(struct pass* p, uint32_t queue, const char* phase) {
  t3_begin(p->gpu, phase);
  T3_TRY(t3_use_queue(p->gpu, queue));
  T3_TRY(t3_wait_kernels(p->gpu));
  t3_end(p->gpu, phase);
  return t3_use_queue(p->gpu, 0);
}

static enum t3_status queue_exchange(struct pass* p, uint64_t by_table, uint64_t by_sample, bool to_tables) {
  const struct t3_exchange_route route = {.pooled = by_table,
                                          .out = by_sample,
                                          .to_tables = to_tables,
                                          .counter = t3_first_counter(p->gpu, EXCHANGE_COUNTERS),
                                          .epoch = p->exchange_epoch};
  p->exchange_epoch += t3_gpus(p->gpu) - 1;
  T3_TRY(t3_use_queue(p->gpu, p->exchange_queue));
  T3_TRY(t3_queue_exchange(p->gpu, &p->embedding, &route));
  return t3_use_queue(p->gpu, 0);
}

/* Results are on their way, or will be: who pools and sends in one kernel does not wait. */
static enum t3_status pool(struct pass* p) {
  const struct t3_embedding* e = &p->embedding;
  if (is_fused(p)) {
    T3_TRY(t3_use_queue(p->gpu, p->exchange_queue));
    T3_TRY(t3_queue_fused_pooling(p->gpu, e, &p->tables));
    return t3_use_queue(p->gpu, 0);
  }
  for (uint32_t table = 0; table < e->tables_per_gpu; ++table) T3_TRY(t3_queue_pooling(p->gpu, e, &p->tables, table));
  T3_TRY(await(p, 0, "pooling"));
  return queue_exchange(p, p->tables.pooled, p->tables.out, false);
}

static enum t3_status interact(struct pass* p) {
  const struct t3_matrix pooled = all_features(p, p->tables.out), features = all_features(p, p->features);
  const struct t3_matrix bottom = t3_mlp_input(&p->mlp, p->dlrm.bottom_layers), beside = first_features(p, bottom);
  struct t3_matrix a = bottom, out = bottom;
  a.columns = out.columns = beside.columns;
  T3_TRY(t3_rows(p->gpu, T3_ROWS_SCALE, &features, &pooled, NULL, NULL, (struct t3_row_options){.factor = 1}));
  return t3_rows(p->gpu, T3_ROWS_ADD, &out, &a, &beside, NULL, (struct t3_row_options){0});
}

static enum t3_status forward(struct pass* p) {
  const struct t3_dlrm* d = &p->dlrm;
  T3_TRY(pool(p));
  for (uint32_t layer = 0; layer < d->bottom_layers; ++layer) T3_TRY(t3_mlp_queue_forward(p->gpu, &p->mlp, layer));
  T3_TRY(await(p, 0, "bottom"));
  T3_TRY(await(p, p->exchange_queue, "all_to_all"));
  T3_TRY(interact(p));
  for (uint32_t layer = d->bottom_layers; layer < t3_dlrm_layers(d); ++layer)
    T3_TRY(t3_mlp_queue_forward(p->gpu, &p->mlp, layer));
  return await(p, 0, "top");
}

/* Layers from the last one on, of which so many have been queued before. */
static enum t3_status queue_backward(struct pass* p, uint32_t queued, uint32_t until) {
  const uint32_t layers = t3_dlrm_layers(&p->dlrm), each = bucket_layers(p);
  for (uint32_t i = queued; i < until; ++i) {
    T3_TRY(t3_mlp_queue_backward(p->gpu, &p->mlp, layers - 1 - i));
    if ((i + 1) % each == 0 || i + 1 == layers) p->bucket_ends[i / each] = t3_last_kernel(p->gpu);
  }
  return T3_OK;
}

/* All-reduces of buckets that are complete when so many layers are, from the first one that is not queued yet on. */
static enum t3_status queue_all_reduces(struct pass* p, uint32_t* bucket, uint32_t complete) {
  const uint32_t layers = t3_dlrm_layers(&p->dlrm), each = bucket_layers(p);
  for (; *bucket * each < layers; ++*bucket) {
    const uint32_t first = *bucket * each, end = (uint32_t)t3_at_most((uint64_t)first + each, layers);
    if (end > complete) break;
    const uint64_t bytes = (end - first) * p->mlp.layer_bytes;
    T3_TRY(t3_wait_kernel(p->gpu, p->bucket_ends[*bucket]));
    T3_TRY(t3_use_queue(p->gpu, p->reduce_queue));
    T3_TRY(t3_queue_all_reduce(p->gpu, &p->all_reduce, p->mlp.gradients + first * p->mlp.layer_bytes,
                               bytes / t3_element_bytes(p->mlp.element)));
    T3_TRY(t3_use_queue(p->gpu, 0));
  }
  return T3_OK;
}

/* The way back to the tables, and with it their update where both are one kernel. */
static enum t3_status send_back(struct pass* p) {
  T3_TRY(t3_wait_kernel(p->gpu, p->gradients_of_features));
  if (!p->dlrm.fused_backward) return queue_exchange(p, p->update.gradients, p->feature_gradients, true);
  T3_TRY(t3_use_queue(p->gpu, p->exchange_queue));
  T3_TRY(t3_queue_fused_update(p->gpu, &p->embedding, &p->tables, &p->update, p->feature_gradients));
  return t3_use_queue(p->gpu, 0);
}

static enum t3_status update_tables(struct pass* p) {
  const struct t3_embedding* e = &p->embedding;
  T3_TRY(await(p, p->exchange_queue, "all_to_all_back"));
  if (p->dlrm.fused_backward) return T3_OK;
  for (uint32_t table = 0; table < e->tables_per_gpu; ++table)
    T3_TRY(t3_queue_update(p->gpu, e, &p->tables, &p->update, table));
  return await(p, 0, "update");
}

static enum t3_status update_weights(struct pass* p) {
  const uint32_t layers = t3_dlrm_layers(&p->dlrm), gpus = t3_gpus(p->gpu);
  const struct t3_matrix weights = t3_mlp_rows(&p->mlp, p->mlp.weights, layers, gpus),
                         gradients = t3_mlp_rows(&p->mlp, p->mlp.gradients, layers, gpus);
  T3_TRY(await(p, p->reduce_queue, "all_reduce"));
  T3_TRY(t3_rows(p->gpu, T3_ROWS_ADD, &weights, &weights, &gradients, NULL, (struct t3_row_options){0}));
  return await(p, 0, "optimizer");
}

static enum t3_status backward(struct pass* p) {
  const struct t3_dlrm* d = &p->dlrm;
  const struct t3_matrix features = all_features(p, p->features), gradients = all_features(p, p->feature_gradients);
  const struct t3_matrix result = t3_mlp_input(&p->mlp, t3_dlrm_layers(d)), errors = t3_mlp_error(&p->mlp);
  uint32_t bucket = 0;
  T3_TRY(t3_rows(p->gpu, T3_ROWS_SCALE, &errors, &result, NULL, NULL, (struct t3_row_options){.factor = -1}));
  T3_TRY(queue_backward(p, 0, d->top_layers));
  T3_TRY(t3_rows(p->gpu, T3_ROWS_SCALE, &gradients, &features, NULL, NULL, (struct t3_row_options){.factor = 1}));
  p->gradients_of_features = t3_last_kernel(p->gpu);
  T3_TRY(queue_backward(p, d->top_layers, t3_dlrm_layers(d)));
  t3_begin(p->gpu, "top_back");
  T3_TRY(queue_all_reduces(p, &bucket, d->top_layers));
  T3_TRY(send_back(p));
  t3_end(p->gpu, "top_back");
  t3_begin(p->gpu, "bottom_back");
  T3_TRY(queue_all_reduces(p, &bucket, t3_dlrm_layers(d)));
  T3_TRY(t3_wait_kernels(p->gpu));
  t3_end(p->gpu, "bottom_back");
  T3_TRY(update_tables(p));
  return update_weights(p);
}

enum t3_status t3_run_dlrm(const struct t3_hal* hal, const struct t3_run* run) {
  struct t3_context context = {0};
  struct pass pass = {.gpu = &context};
  T3_TRY(t3_embedding_of(run, &pass.embedding));
  T3_TRY(t3_dlrm_of(run, &pass.dlrm));
  T3_TRY(t3_set_up(&context, hal, run));
  T3_TRY(t3_set_ring_workgroups(
      &context, (uint32_t)t3_at_most(t3_ring_workgroups(&context), T3_RING_WORKGROUPS_MAX / counters_of(&pass))));
  t3_begin(&context, "setup");
  T3_TRY(allocate(&pass));
  T3_TRY(set_up(&pass));
  t3_end(&context, "setup");

  t3_begin(&context, "total");
  t3_begin(&context, "forward");
  T3_TRY(forward(&pass));
  t3_end(&context, "forward");
  t3_begin(&context, "backward");
  T3_TRY(backward(&pass));
  t3_end(&context, "backward");
  t3_end(&context, "total");
  T3_TRY(t3_hand_over(&context));
  return t3_close(&context);
}
