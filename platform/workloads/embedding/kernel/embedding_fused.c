/* Pooling and all-to-all in one persistent kernel (GPU-initiated overlap, section 3.2). Its workgroups take bags
 * round-robin, slice by slice. Each result is stored to its owner if links lead there, otherwise to a buffer. The
 * workgroup that has pooled the last bag of a slice notifies the owner by a flag behind the slice; the NIC sends a
 * slice from the buffer. At the end the workgroups poll the flags of all slices, each a part of them. */
#include "t3/arguments/embedding_fused.h"
#include "kernels/operands.h"
#include "pooling.h"
#include "t3/address.h"
#include "t3/places.h"
#include "t3/shmem_device.h"

enum { TIMELINE_ROWS = 32 }; /* the paper's Figure 9 shows so many workgroups */

static struct t3_pooling pooling_of(const struct t3_embedding_fused_arguments* p) {
  struct t3_pooling pooling = T3_POOLING_OF(p);
  pooling.embedding.slice = p->slice;
  return pooling;
}

/* The work on a slice: for other GPUs, or for this one. */
struct slice {
  uint32_t sample, number, owner;
};

/* Samples of other GPUs come first, round-robin over the GPUs so that all routes to them are in use. GPUs with one more
 * sample end with it. Then come this GPU's own samples. */
static uint32_t sample_of(const struct t3_embedding_fused_arguments* p, uint32_t place) {
  const struct t3_places places = {p->gpu, p->gpus, p->gpus_per_row};
  const uint32_t each = p->global_batch / p->gpus, larger = p->global_batch % p->gpus, others = p->gpus - 1;
  const uint32_t others_larger = larger - (p->gpu < larger ? 1 : 0);
  if (place < each * others)
    return (uint32_t)t3_flat_chunk_begin(p->global_batch, t3_other_of(&places, place % others + 1), p->gpus) +
           place / others;
  place -= each * others;
  if (place < others_larger)
    return (uint32_t)t3_flat_chunk_begin(p->global_batch, place + (place >= p->gpu ? 1 : 0), p->gpus) + each;
  return (uint32_t)t3_flat_chunk_begin(p->global_batch, p->gpu, p->gpus) + place - others_larger;
}

/* The bag's place among the GPU's: samples one after the other, tables of each. */
static struct slice slice_of(const struct t3_embedding_fused_arguments* p, const struct t3_embedding* e, uint64_t bag,
                             uint32_t* table) {
  const uint32_t place = (uint32_t)(bag / p->tables_per_gpu);
  const uint32_t sample = p->order == T3_EMBEDDING_FUSED_ARGUMENTS_ORDER_AWARE ? sample_of(p, place) : place;
  *table = (uint32_t)(bag % p->tables_per_gpu);
  return (struct slice){sample, *table / p->slice, t3_embedding_owner(e, sample, p->gpus)};
}

/* The address of a slice's flag on its owner. */
static uint64_t flag_of(const struct t3_embedding_fused_arguments* p, const struct t3_embedding* e,
                        const struct slice* s) {
  const uint64_t row = s->sample - t3_flat_chunk_begin(p->global_batch, s->owner, p->gpus);
  return t3_on_gpu(s->owner, p->ready) +
         ((row * p->gpus + p->gpu) * t3_embedding_slices(e) + s->number) * T3_FLAG_BYTES;
}

/* Whether stores get to the owner. */
static bool is_reached(const struct t3_wave* wave, const struct slice* s) {
  const struct t3_embedding_fused_arguments* p = wave->arguments;
  return p->heap_table == 0 || t3_shmem_ptr(wave->local, p->out, s->owner) != 0;
}

static uint64_t staging_of(const struct t3_embedding_fused_arguments* p, const struct t3_embedding* e,
                           const struct slice* s, uint32_t table) {
  return p->staging + s->sample * t3_embedding_sample_bytes(e) + table * t3_embedding_row_bytes(e);
}

/* Tables of the slice. */
static uint32_t bags_of(const struct t3_embedding_fused_arguments* p, const struct slice* s) {
  const uint32_t left = p->tables_per_gpu - s->number * p->slice;
  return left < p->slice ? left : p->slice;
}

/* Two PUTs with a fence in between, so that the flag is placed behind the data. */
static void send_slice(struct t3_wave* wave, const struct t3_embedding* e, const struct slice* s) {
  const struct t3_embedding_fused_arguments* p = wave->arguments;
  const struct t3_shmem_ctx* shmem = wave->local;
  const uint32_t first = s->number * p->slice;
  const uint64_t out = p->out + t3_embedding_out_offset(e, s->sample, p->gpu, first, p->gpus);
  const uint64_t bytes = bags_of(p, s) * t3_embedding_row_bytes(e);
  const uint64_t flag = t3_on_gpu(p->gpu, flag_of(p, e, s) & T3_LOCAL_MASK);
  if (t3_shmem_putmem_nbi(wave, shmem, out, staging_of(p, e, s, first), bytes, s->owner) == T3_OK &&
      t3_shmem_pe_fence(wave, shmem, s->owner) == T3_OK)
    t3_shmem_uint64_p(wave, shmem, flag, 1, s->owner);
}

/* Results that have been stored at their owner have gone the same way as the flag. */
static void tell_owner(struct t3_wave* wave, const struct t3_embedding* e, const struct slice* s) {
  const struct t3_embedding_fused_arguments* p = wave->arguments;
  const uint64_t ready = 1;
  if (!is_reached(wave, s)) {
    t3_trace_span(wave, "sends a slice", T3_NO_TILE);
    send_slice(wave, e, s);
    return;
  }
  t3_trace_mark(wave, s->owner == p->gpu ? "own slice complete" : "slice of another GPU complete", 0);
  t3_write(wave, flag_of(p, e, s), &ready, sizeof ready);
}

/* Whether this was the last bag of the slice: all others have been counted when their results had left. */
static bool is_last(struct t3_wave* wave, const struct t3_embedding* e, const struct slice* s) {
  const struct t3_embedding_fused_arguments* p = wave->arguments;
  uint64_t before = 0;
  const uint64_t counter = p->done + (s->sample * (uint64_t)t3_embedding_slices(e) + s->number) * T3_FLAG_BYTES;
  return t3_fetch_add_64(wave, counter, 1, &before) && before + 1 == bags_of(p, s);
}

static void compute(struct t3_wave* wave, const struct t3_pooling* pooling, uint64_t bag) {
  const struct t3_embedding_fused_arguments* p = wave->arguments;
  const struct t3_embedding* e = &pooling->embedding;
  uint32_t table = 0;
  const struct slice s = slice_of(p, e, bag, &table);
  t3_trace_span(wave, s.owner == p->gpu ? "own slice" : "slice of another GPU", T3_NO_TILE);
  t3_pool(wave, pooling, table, s.sample);
  const uint64_t at_owner = t3_on_gpu(s.owner, p->out) + t3_embedding_out_offset(e, s.sample, p->gpu, table, p->gpus);
  const bool reached = is_reached(wave, &s);
  t3_store(wave, t3_pooling_sum(e),
           (struct t3_access){.address = reached ? at_owner : staging_of(p, e, &s, table),
                              .rows = 1,
                              .columns = e->dimension,
                              .element = e->element,
                              .uncached = !reached}); /* the NIC reads memory */
  t3_fence(wave);
  if (is_last(wave, e, &s)) tell_owner(wave, e, &s);
}

/* A flag that cannot be read is the kernel's failure. */
static void await_slices(struct t3_wave* wave, const struct t3_embedding* e, uint64_t first, uint64_t step) {
  const struct t3_embedding_fused_arguments* p = wave->arguments;
  const uint64_t flags = t3_embedding_ready_bytes(e, p->gpu, p->gpus) / T3_FLAG_BYTES;
  t3_trace_span(wave, "awaits slices", T3_NO_TILE);
  for (uint64_t flag = first; flag < flags; flag += step)
    if (!t3_wait_value(wave, (struct t3_condition){.address = p->ready + flag * T3_FLAG_BYTES,
                                                   .bytes = T3_FLAG_BYTES,
                                                   .comparison = T3_EQUAL,
                                                   .mask = UINT64_MAX,
                                                   .value = 1}))
      return;
}

/* The workgroups of a slice share a context: whichever is the slice's last one posts it, and it would else be chance
 * how many slices each queue pair takes. Contexts go round the groups, so that few slices have as many as many have. */
static uint32_t context_of(const struct t3_wave* wave) {
  const struct t3_embedding_fused_arguments* p = wave->arguments;
  const uint32_t together = (p->slice + wave->waves - 1) / wave->waves;
  return wave->workgroup / together % p->contexts;
}

/* A workgroup's waves share a context, which lies in local memory. False: the kernel has failed. */
static bool open_heap(struct t3_wave* wave) {
  const struct t3_embedding_fused_arguments* p = wave->arguments;
  if (p->heap_table == 0) return true;
  const bool opened = wave->wave != 0 || t3_shmem_ctx_open(wave, p->heap_table, context_of(wave), wave->local) == T3_OK;
  t3_workgroup_barrier(wave);
  return opened;
}

static void run(struct t3_wave* wave) {
  const struct t3_pooling pooling = pooling_of(wave->arguments);
  const struct t3_embedding* e = &pooling.embedding;
  const uint64_t step = (uint64_t)wave->workgroups * wave->waves,
                 first = (uint64_t)wave->workgroup * wave->waves + wave->wave;
  if (!open_heap(wave)) return;
  for (uint64_t bag = first; bag < (uint64_t)e->global_batch * e->tables_per_gpu; bag += step)
    compute(wave, &pooling, bag);
  t3_fence(wave);
  await_slices(wave, e, first, step);
}

enum { OUT, DONE, READY, STAGING, BUFFERS };

static void buffers_of(const struct t3_embedding_fused_arguments* p, uint32_t gpu, struct t3_matrices* all) {
  const struct t3_pooling pooling = pooling_of(p);
  const struct t3_embedding* e = &pooling.embedding;
  all[OUT] = t3_piece("out", p->out, t3_embedding_out_bytes(e, gpu, p->gpus));
  all[DONE] = t3_piece("done", p->done, t3_embedding_done_bytes(e));
  all[READY] = t3_piece("ready", p->ready, t3_embedding_ready_bytes(e, gpu, p->gpus));
  all[STAGING] = t3_piece("staging", p->staging, p->heap_table == 0 ? 0 : t3_embedding_pooled_bytes(e));
}

static bool check_buffers(struct t3_check* check, const struct t3_embedding_fused_arguments* p) {
  struct t3_matrices all[BUFFERS];
  buffers_of(p, p->gpu, all);
  for (const struct t3_matrices* m = all; m < all + BUFFERS && m->row_bytes != 0; ++m) {
    if (!t3_check_piece(check, m)) return false;
    for (const struct t3_matrices* other = all; other < m; ++other)
      if (!t3_check_overlap(check, other, m)) return false;
  }
  const struct t3_pooling pooling = pooling_of(p);
  return t3_check_pooling_beside(check, &pooling, &all[OUT]);
}

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  const struct t3_embedding_fused_arguments* p = launch->arguments;
  const struct t3_pooling pooling = pooling_of(p);
  const struct t3_named_value switches[] = {{"drawn", p->drawn}, {"mean", p->mean}, {"order", p->order}};
  if (!t3_check_pooling(check, &pooling, p->gpus) || !t3_check_switches(check, switches, 3)) return false;
  if (launch->workgroups == 0)
    return t3_refuse(check, T3_BAD_PACKET, "0 workgroups: 1 or more, as many as are to run at once, expected");
  if (p->gpus_per_row != 0 && p->gpus % p->gpus_per_row != 0)
    return t3_refuse(check, T3_BAD_PACKET, "gpus_per_row %u: a divisor of %u GPUs, or 0, expected", p->gpus_per_row,
                     p->gpus);
  if (p->slice - 1 >= p->tables_per_gpu)
    return t3_refuse(check, T3_BAD_PACKET, "slice %u: 1 to %u, the tables of a GPU, expected", p->slice,
                     p->tables_per_gpu);
  if (p->heap_table == 0 ? (p->table_bytes | p->staging | p->contexts) != 0 : p->contexts == 0)
    return t3_refuse(check, T3_BAD_PACKET,
                     "heap_table " T3_HEX ", table_bytes %" PRIu64 ", staging " T3_HEX
                     ", contexts %u: those of a symmetric heap, or 0, expected",
                     p->heap_table, p->table_bytes, p->staging, p->contexts);
  return check_buffers(check, p) && (p->heap_table != 0 || t3_check_reach(check, p->gpu, p->gpus, "out", p->out));
}

/* The first GPU has most of the samples. Device-side networking costs registers. */
static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  const struct t3_embedding_fused_arguments* p = launch->arguments;
  const struct t3_pooling pooling = pooling_of(p);
  struct t3_matrices own[BUFFERS], most[BUFFERS];
  buffers_of(p, p->gpu, own);
  buffers_of(p, 0, most);
  struct t3_plan plan = {
      .name = "fused pooling",
      .workgroups = launch->workgroups,
      .workgroups_per_cu = device->kernels.embedding.workgroups_per_cu,
      .register_bytes = t3_fused_pooling_registers(device->register_bytes, device->kernels.embedding.workgroups_per_cu),
      .waves = t3_pooling_waves(p->dimension),
      .tiles = t3_pooling_tiles(device),
      .together = true,
      .written = {t3_range_of(&own[OUT])},
      .written_count = 1,
      .sent = {t3_local_range(most[OUT])},
      .sent_count = 1,
      .shared = {t3_local_range(most[DONE]), t3_local_range(most[READY])},
      .shared_count = 2,
      .awaits_arrivals = true,
      .stores_here = true,
      .timeline_rows = TIMELINE_ROWS};
  t3_plan_pooling(&plan, &pooling);
  if (p->heap_table == 0) return plan;
  const uint64_t table = p->heap_table & T3_LOCAL_MASK;
  plan.written[plan.written_count++] = t3_range_of(&own[STAGING]);
  plan.shared[plan.shared_count++] = (struct t3_range){table, table + p->table_bytes};
  plan.local_bytes = sizeof(struct t3_shmem_ctx);
  plan.doorbells = true;
  return plan;
}

const struct t3_kernel t3_embedding_fused_kernel = {.name = "embedding_fused",
                                                    .arguments = T3_EMBEDDING_FUSED_ARGUMENTS,
                                                    .reads = "pooling_read",
                                                    .writes = "pooling_write",
                                                    .check = check,
                                                    .plan = plan,
                                                    .run = run};
