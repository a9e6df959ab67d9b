/* Buffers of a layer of experts, and the lists of choices, which the router in front of the layer has made. */
#include "workloads/moe/moe_routing.h"
#include "workloads/moe/moe_steps.h"

static enum t3_status allocate_matrix(struct t3_context* gpu, struct t3_matrix* matrix, uint64_t rows, uint32_t columns,
                                      const struct t3_moe* e, enum t3_memory_kind kind) {
  *matrix = (struct t3_matrix){.rows = (uint32_t)rows, .columns = columns, .element = e->element, .memory = kind};
  return t3_matrix_malloc(gpu, matrix);
}

enum { HEAP_ALIGNMENT = 256, RING_ENTRIES = 256 };

static uint64_t heap_bytes_of(uint64_t bytes) { return (bytes + HEAP_ALIGNMENT - 1) / HEAP_ALIGNMENT * HEAP_ALIGNMENT; }

static enum t3_status heap_matrix(struct t3_context* gpu, struct t3_moe_run* r, struct t3_matrix* matrix, uint64_t rows,
                                  uint64_t row_bytes) {
  *matrix = (struct t3_matrix){
      .row_stride = row_bytes, .rows = (uint32_t)rows, .columns = r->moe.inner, .element = r->moe.element};
  return t3_shmem_malloc(gpu, &r->heap, rows * row_bytes, &matrix->address);
}

/* What NICs send from and receive in. */
static enum t3_status allocate_heap(struct t3_context* gpu, struct t3_moe_run* r) {
  const struct t3_moe* e = &r->moe;
  const uint64_t row = t3_moe_token_bytes(e), bytes = t3_moe_result_bytes(e), slots = t3_moe_slots(e),
                 results = (uint64_t)e->tokens * e->top_k;
  const struct t3_shmem_options options = {.heap_bytes = heap_bytes_of(e->tokens * row) + heap_bytes_of(slots * row) +
                                                         heap_bytes_of(r->control.bytes) +
                                                         heap_bytes_of(slots * bytes) + heap_bytes_of(results * bytes),
                                           .contexts = e->contexts,
                                           .entries = RING_ENTRIES,
                                           .collectives = true};
  T3_TRY(t3_shmem_init(gpu, options, &r->heap));
  T3_TRY(heap_matrix(gpu, r, &r->tokens, e->tokens, row));
  T3_TRY(heap_matrix(gpu, r, &r->slots, slots, row));
  T3_TRY(t3_shmem_malloc(gpu, &r->heap, r->control.bytes, &r->data));
  T3_TRY(t3_shmem_malloc(gpu, &r->heap, slots * bytes, &r->products));
  return t3_shmem_malloc(gpu, &r->heap, results * bytes, &r->results);
}

static enum t3_status allocate_linked(struct t3_context* gpu, struct t3_moe_run* r) {
  const struct t3_moe* e = &r->moe;
  const enum t3_memory_kind kind = t3_moe_is_tracked(e) ? T3_UNCACHED : T3_CACHED;
  const uint64_t bytes = t3_moe_result_bytes(e);
  T3_TRY(allocate_matrix(gpu, &r->tokens, e->tokens, e->inner, e, T3_CACHED));
  T3_TRY(allocate_matrix(gpu, &r->slots, t3_moe_slots(e), e->inner, e, kind));
  T3_TRY(t3_malloc(gpu, r->control.bytes, &r->data));
  if (t3_moe_is_tracked(e)) return T3_OK;
  T3_TRY(t3_malloc(gpu, t3_moe_slots(e) * bytes, &r->products));
  return t3_malloc(gpu, (uint64_t)e->tokens * e->top_k * bytes, &r->results);
}

static enum t3_status allocate(struct t3_context* gpu, struct t3_moe_run* r) {
  const struct t3_moe* e = &r->moe;
  const enum t3_memory_kind kind = t3_moe_is_tracked(e) ? T3_UNCACHED : T3_CACHED;
  const uint64_t weights = (uint64_t)t3_moe_local(e, t3_gpus(gpu)) * e->inner;
  T3_TRY(e->gpus_per_node == 0 ? allocate_linked(gpu, r) : allocate_heap(gpu, r));
  T3_TRY(allocate_matrix(gpu, &r->weights, weights, e->hidden, e, T3_CACHED));
  T3_TRY(allocate_matrix(gpu, &r->out, e->tokens, e->hidden, e, kind));
  t3_publish(gpu, "tokens", &r->tokens);
  t3_publish(gpu, "weights", &r->weights);
  t3_publish(gpu, "out", &r->out);
  return T3_OK;
}

static enum t3_status write_words(struct t3_context* gpu, uint64_t address, const uint32_t* words, uint64_t count) {
  unsigned char bytes[T3_MOE_LINE];
  for (uint64_t first = 0; first < count; first += T3_MOE_LINE_WORDS) {
    const uint64_t some = t3_at_most(count - first, T3_MOE_LINE_WORDS);
    for (uint64_t i = 0; i < some; ++i) t3_put_number(bytes + i * T3_MOE_WORD, T3_MOE_WORD, words[first + i]);
    T3_TRY(t3_hal_of(gpu)->write_memory(t3_hal_of(gpu)->platform, address + first * T3_MOE_WORD, bytes,
                                        some * T3_MOE_WORD));
  }
  return T3_OK;
}

/* Puts a token's choices into their experts' lists while these have slots, else into the list of those dropped. */
static enum t3_status list_token(struct t3_context* gpu, struct t3_moe_run* r, uint32_t token, uint32_t* sent) {
  const struct t3_moe* e = &r->moe;
  uint32_t experts[T3_MOE_CHOICES_MAX], kept = 0;
  t3_moe_choices(e, (uint64_t)t3_gpu(gpu) * e->tokens + token, experts);
  for (uint32_t choice = 0; choice < e->top_k; ++choice) {
    const uint32_t id = token * e->top_k + choice, expert = experts[choice];
    const bool fits = sent[expert] < e->slots;
    const uint64_t list = fits ? r->control.sends + expert * t3_moe_list_bytes(e) : r->control.lost;
    const uint32_t place = fits ? sent[expert]++ : sent[e->experts]++;
    kept |= (uint32_t)fits << choice;
    T3_TRY(write_words(gpu, r->data + list + (uint64_t)place * T3_MOE_WORD, &id, 1));
  }
  return write_words(gpu, r->data + r->control.kept + (uint64_t)token * T3_MOE_WORD, &kept, 1);
}

static enum t3_status list_choices(struct t3_context* gpu, struct t3_moe_run* r) {
  uint32_t sent[T3_MOE_EXPERTS_MAX + 1] = {0};
  for (uint32_t token = 0; token < r->moe.tokens; ++token) T3_TRY(list_token(gpu, r, token, sent));
  r->lost = sent[r->moe.experts];
  T3_TRY(write_words(gpu, r->data + r->control.sent, sent, UINT64_C(1) + r->moe.experts));
  t3_hal_of(gpu)->order_writes(t3_hal_of(gpu)->platform);
  return T3_OK;
}

enum { MASK_WORD = 64 };

static struct t3_queue_options units(uint32_t first, uint32_t end) {
  struct t3_queue_options options = {0};
  for (uint32_t unit = first; unit < end; ++unit) options.cu_mask[unit / MASK_WORD] |= UINT64_C(1) << unit % MASK_WORD;
  return options;
}

/* Communication has compute units of its own, or, where the Tracker counts, goes first on all of them. */
static enum t3_status open_queues(struct t3_context* gpu, struct t3_moe_run* r) {
  const uint32_t all = r->moe.compute_units, apart = r->moe.communication_units;
  if (r->moe.mechanism == T3_MOE_BULK) return T3_OK;
  if (t3_moe_is_tracked(&r->moe))
    return t3_queue_create(gpu, (struct t3_queue_options){.priority = 1}, &r->communication_queue);
  T3_TRY(t3_queue_create(gpu, units(0, all - apart), &r->compute_queue));
  return t3_queue_create(gpu, units(all - apart, all), &r->communication_queue);
}

static enum t3_status zero_sums(struct t3_context* gpu, const struct t3_moe_run* r) {
  t3_begin(gpu, "zeroing");
  T3_TRY(t3_fill_zero(gpu, &r->out));
  t3_end(gpu, "zeroing");
  return T3_OK;
}

enum t3_status t3_moe_prepare(struct t3_context* gpu, struct t3_moe_run* r) {
  r->control = t3_moe_control_of(&r->moe, t3_gpus(gpu));
  T3_TRY(allocate(gpu, r));
  T3_TRY(open_queues(gpu, r));
  T3_TRY(t3_write_zeros(gpu, r->data, r->control.bytes));
  T3_TRY(list_choices(gpu, r));
  for (uint32_t i = 0; i < T3_MOE_COUNTERS; ++i)
    T3_TRY(t3_read_epoch(gpu, t3_moe_counter_of(gpu, &r->moe, i), &r->epoch[i]));
  if (!t3_moe_is_tracked(&r->moe)) return T3_OK;
  T3_TRY(zero_sums(gpu, r));
  T3_TRY(t3_moe_map_sums(gpu, r));
  return r->moe.padded ? t3_moe_map_slots(gpu, r) : T3_OK;
}
