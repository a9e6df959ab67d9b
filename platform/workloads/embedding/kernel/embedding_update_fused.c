/* The backward all-to-all and the update of tables in one persistent kernel: what GPU-initiated overlap leaves to
 * future work (section 6). Its workgroups first take this GPU's samples, round-robin over the other GPUs. They store
 * the gradients of each GPU's tables on that GPU, followed by a flag. Then they take the samples of the whole batch in
 * the order of their arrival, and update by each as soon as its flag is set. */
#include "t3/arguments/embedding_update_fused.h"

#include "pooling.h"
#include "t3/address.h"
#include "t3/places.h"

enum { GRADIENT_TILE = 0 };

static struct t3_places places_of(const struct t3_embedding_update_fused_arguments* p) {
  return (struct t3_places){.gpu = p->gpu, .gpus = p->gpus, .gpus_per_row = p->gpus_per_row};
}

/* The GPU whose turn it is, 0 to gpus - 1: the own one is the last to be sent to and the first to be taken. */
static uint32_t receiver(const struct t3_embedding_update_fused_arguments* p, uint64_t turn) {
  const struct t3_places places = places_of(p);
  return turn + 1 == p->gpus ? p->gpu : t3_other_of(&places, (uint32_t)turn + 1);
}
/* Who is that far in front sends to this one in its turn of this number. */
static uint32_t sender(const struct t3_embedding_update_fused_arguments* p, uint64_t turn) {
  const struct t3_places places = places_of(p);
  if (turn == 0) return p->gpu;
  return t3_far_behind(&places, p->gpu, t3_distance_back(&places, t3_distance_of(&places, (uint32_t)turn)));
}

static uint64_t flag_of(const struct t3_embedding_update_fused_arguments* p, uint32_t gpu, uint64_t sample) {
  return t3_on_gpu(gpu, p->ready) + sample * T3_FLAG_BYTES;
}

static uint32_t first_of(const struct t3_embedding* e, uint32_t gpu, uint32_t gpus) {
  return (uint32_t)t3_flat_chunk_begin(e->global_batch, gpu, gpus);
}

/* A sample's gradients, which are as long as what was pooled of it. */
static void send(struct t3_wave* wave, const struct t3_embedding* e, uint32_t own_sample, uint32_t gpu) {
  const struct t3_embedding_update_fused_arguments* p = wave->arguments;
  const uint64_t bytes = t3_embedding_sample_bytes(e), ready = 1;
  const uint32_t sample = first_of(e, p->gpu, p->gpus) + own_sample;
  const struct t3_tile tile = {
      .index = GRADIENT_TILE, .rows = 1, .columns = e->tables_per_gpu * e->dimension, .element = e->element};
  struct t3_access access = {.address = p->out + ((uint64_t)own_sample * p->gpus + gpu) * bytes,
                             .rows = 1,
                             .columns = tile.columns,
                             .element = e->element,
                             .at_once = true};
  t3_trace_span(wave, gpu == p->gpu ? "own gradients" : "sends gradients", T3_NO_TILE);
  t3_load(wave, tile, access);
  access.address = t3_on_gpu(gpu, p->gradients) + sample * bytes;
  t3_store(wave, tile, access);
  t3_fence(wave);
  t3_write(wave, flag_of(p, gpu, sample), &ready, sizeof ready);
}

static bool update(struct t3_wave* wave, const struct t3_pooling* pooling, uint32_t sample) {
  const struct t3_embedding_update_fused_arguments* p = wave->arguments;
  const struct t3_embedding* e = &pooling->embedding;
  t3_trace_span(wave, "updates", T3_NO_TILE);
  if (!t3_wait_value(wave, (struct t3_condition){.address = flag_of(p, p->gpu, sample),
                                                 .bytes = T3_FLAG_BYTES,
                                                 .comparison = T3_EQUAL,
                                                 .mask = UINT64_MAX,
                                                 .value = 1}))
    return false;
  for (uint32_t table = 0; table < e->tables_per_gpu; ++table)
    t3_update_bag(wave, pooling, table, sample,
                  p->gradients + sample * t3_embedding_sample_bytes(e) + table * t3_embedding_row_bytes(e), p->rate);
  return true;
}

static void run(struct t3_wave* wave) {
  const struct t3_embedding_update_fused_arguments* p = wave->arguments;
  const struct t3_pooling pooling = T3_POOLING_OF(p);
  const struct t3_embedding* e = &pooling.embedding;
  const uint64_t step = (uint64_t)wave->workgroups * wave->waves,
                 first = (uint64_t)wave->workgroup * wave->waves + wave->wave;
  const uint64_t rounds = t3_embedding_samples(e, 0, p->gpus), own = t3_embedding_samples(e, p->gpu, p->gpus);
  for (uint64_t turn = first; turn < own * p->gpus; turn += step)
    send(wave, e, (uint32_t)(turn / p->gpus), receiver(p, turn % p->gpus));
  t3_fence(wave);
  for (uint64_t turn = first; turn < rounds * p->gpus; turn += step) {
    const uint32_t gpu = sender(p, turn % p->gpus), row = (uint32_t)(turn / p->gpus);
    if (row < t3_embedding_samples(e, gpu, p->gpus) && !update(wave, &pooling, first_of(e, gpu, p->gpus) + row)) return;
  }
}

enum { GRADIENTS, OUT, READY, BUFFERS };

static void buffers_of(const struct t3_embedding_update_fused_arguments* p, struct t3_matrices* all) {
  const struct t3_pooling pooling = T3_POOLING_OF(p);
  const struct t3_embedding* e = &pooling.embedding;
  all[GRADIENTS] = t3_piece("gradients", p->gradients, t3_embedding_pooled_bytes(e));
  all[OUT] = t3_piece("out", p->out, t3_embedding_out_bytes(e, p->gpu, p->gpus));
  all[READY] = t3_piece("ready", p->ready, (uint64_t)p->global_batch * T3_FLAG_BYTES);
}

static bool check_buffers(struct t3_check* check, const struct t3_embedding_update_fused_arguments* p) {
  const struct t3_pooling pooling = T3_POOLING_OF(p);
  struct t3_matrices all[BUFFERS];
  buffers_of(p, all);
  for (const struct t3_matrices* m = all; m < all + BUFFERS; ++m) {
    if (!t3_check_update(check, &pooling, m)) return false;
    for (const struct t3_matrices* other = all; other < m; ++other)
      if (!t3_check_overlap(check, other, m)) return false;
  }
  return t3_check_reach(check, p->gpu, p->gpus, "gradients", p->gradients);
}

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  const struct t3_embedding_update_fused_arguments* p = launch->arguments;
  const struct t3_pooling pooling = T3_POOLING_OF(p);
  const struct t3_named_value switches[] = {{"drawn", p->drawn}, {"mean", p->mean}};
  if (!t3_check_pooling(check, &pooling, p->gpus) || !t3_check_switches(check, switches, 2)) return false;
  if (p->gpus_per_row != 0 && p->gpus % p->gpus_per_row != 0)
    return t3_refuse(check, T3_BAD_PACKET, "gpus_per_row %u: a divisor of %u GPUs, or 0, expected", p->gpus_per_row,
                     p->gpus);
  if (launch->workgroups == 0)
    return t3_refuse(check, T3_BAD_PACKET, "0 workgroups: 1 or more, as many as are to run at once, expected");
  return check_buffers(check, p);
}

static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  const struct t3_embedding_update_fused_arguments* p = launch->arguments;
  const struct t3_pooling pooling = T3_POOLING_OF(p);
  struct t3_matrices all[BUFFERS];
  buffers_of(p, all);
  struct t3_plan plan = {
      .name = "fused embedding update",
      .workgroups = launch->workgroups,
      .workgroups_per_cu = device->kernels.embedding.workgroups_per_cu,
      .register_bytes = t3_fused_pooling_registers(device->register_bytes, device->kernels.embedding.workgroups_per_cu),
      .waves = t3_pooling_waves(p->dimension),
      .tiles = T3_POOLING_UPDATE_TILES,
      .together = true,
      .written = {t3_range_of(&all[GRADIENTS])},
      .written_count = 1,
      .read = {t3_range_of(&all[OUT])},
      .read_count = 1,
      .sent = {t3_local_range(all[GRADIENTS])},
      .sent_count = 1,
      .shared = {t3_local_range(all[READY])},
      .shared_count = 1,
      .awaits_arrivals = true,
      .stores_here = true};
  t3_plan_update(&plan, &pooling);
  return plan;
}

const struct t3_kernel t3_embedding_update_fused_kernel = {.name = "embedding_update_fused",
                                                           .arguments = T3_EMBEDDING_UPDATE_FUSED_ARGUMENTS,
                                                           .reads = "update_read",
                                                           .writes = "update_write",
                                                           .check = check,
                                                           .plan = plan,
                                                           .run = run};
