#include "t3/shmem.h"

#include <stdio.h>
#include <string.h>

#include "allocations.h"
#include "bools.h"
#include "call_errors.h"
#include "context_state.h"
#include "registers.h"
#include "t3/little_endian.h"
#include "t3/registers/links.h"
#include "t3/shmem_queue.h"
#include "t3/shmem_sync.h"
#include "t3/shmem_table.h"
#include "t3_hal.h"

#define ALIGNMENT 256u
#define COUNTERS_BYTES 64u /* ticket and turn, 32 bytes apart */
#define NOWHERE UINT64_MAX
#define NO_PORT 0xFFFFu /* of a route that leads nowhere */

/* The values that each GPU reports to the others. All of them except the key must be equal on all GPUs. */
enum {
  TOLD_HEAP,
  TOLD_BYTES,
  TOLD_CONTEXTS,
  TOLD_ENTRIES,
  TOLD_CACHED,
  TOLD_FOR_HOST,
  TOLD_COLLECTIVES,
  TOLD_KEY,
  TOLD_COUNT
};

static uint64_t round_up(uint64_t value) { return (value + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

/* Returns the number of the queue pair of a context to a GPU. There are gpus - 1 of each context, without its own. */
static uint32_t queue_number(uint32_t context, uint32_t from, uint32_t to, uint32_t gpus) {
  return context * (gpus - 1) + (to < from ? to : to - 1);
}

static uint64_t table_entries(const struct t3_context* context, const struct t3_shmem_options* options) {
  return round_up(T3_SHMEM_TABLE_ENTRY_BYTES +
                  (uint64_t)options->contexts * const_state_of(context)->gpus * T3_SHMEM_QUEUE_ENTRY_BYTES);
}

static uint64_t sync_bytes(const struct t3_context* context, const struct t3_shmem_options* options) {
  return options->collectives ? t3_shmem_sync_bytes(options->contexts, const_state_of(context)->gpus) : 0;
}

static uint64_t bytes_of_queue(uint32_t entries) { return round_up(COUNTERS_BYTES + t3_nic_queue_bytes(entries)); }

static struct t3_fault wrong(const char* argument, const char* expected) {
  return (struct t3_fault){T3_INVALID_ARGUMENT, argument, expected};
}

static struct t3_fault too_much(const char* argument, const char* expected) {
  return (struct t3_fault){T3_CAPACITY, argument, expected};
}

static struct t3_fault check(const struct t3_context* context, const struct t3_shmem_options* options) {
  static const char a_bool[] = "true or false";
  const uint32_t gpus = const_state_of(context)->gpus, entries = options->entries;
  if (options->heap_bytes == 0) return wrong("options.heap_bytes", "1 or more");
  if (options->contexts == 0) return wrong("options.contexts", "1 or more");
  if (entries < 2 || (entries & (entries - 1)) != 0) return wrong("options.entries", "a power of two, 2 or more");
  if (!t3_is_bool(&options->cached_completions)) return wrong("options.cached_completions", a_bool);
  if (!t3_is_bool(&options->for_host)) return wrong("options.for_host", a_bool);
  if (!t3_is_bool(&options->collectives)) return wrong("options.collectives", a_bool);
  if (entries > T3_NIC_ENTRIES_MAX) return too_much("options.entries", "at most T3_NIC_ENTRIES_MAX");
  if (gpus > T3_SHMEM_GPUS_MAX) return too_much("context", "a GPU of at most T3_SHMEM_GPUS_MAX");
  if (options->contexts > T3_SHMEM_QUEUES_MAX || options->contexts * (gpus - 1) > T3_SHMEM_QUEUES_MAX)
    return too_much("options.contexts", "contexts x (gpus - 1) up to T3_SHMEM_QUEUES_MAX");
  return (struct t3_fault){0};
}

/* A failure of what a call has called is the call's own: `text` says what has failed. T3_BUSY and T3_TIMEOUT have no
 * text, because the call may be repeated. */
static enum t3_status fail_as(struct t3_context* context, const char* call, enum t3_status status, const char* text) {
  if (status == T3_OK) return T3_OK;
  const bool is_not_yet = status == T3_BUSY || status == T3_TIMEOUT;
  return t3_refuse(context, call, (struct t3_fault){status, NULL, is_not_yet ? NULL : text});
}

static const char no_agreement[] = "the GPUs do not agree, see the HAL's log",
                  an_open_heap[] = "a heap of t3_shmem_init";

/* One piece of memory: table, queues, counters of the collectives, heap. Its first part ends at the heap. */
static enum t3_status take_memory(struct t3_context* context, const struct t3_shmem_options* options,
                                  struct t3_shmem_heap* heap) {
  heap->queue_count = options->contexts * (state_of(context)->gpus - 1);
  heap->table_bytes = table_entries(context, options) + heap->queue_count * bytes_of_queue(options->entries) +
                      sync_bytes(context, options);
  heap->heap_bytes = round_up(options->heap_bytes);
  if (heap->heap_bytes < options->heap_bytes || heap->heap_bytes > UINT64_MAX - heap->table_bytes)
    return T3_OUT_OF_MEMORY;
  T3_TRY(t3_malloc_for(context, "t3_shmem_init", T3_SHMEM_MEMORY, heap->table_bytes + heap->heap_bytes, &heap->table));
  heap->heap = heap->table + heap->table_bytes;
  return T3_OK;
}

/* Compares the values of another GPU with those of this one; `names` has a name for each. Each difference is a line of
 * the log. */
static enum t3_status compare(const struct t3_context* context, const char* call, uint32_t gpu, const uint64_t* other,
                              const uint64_t* mine, const char* const* names, uint32_t count) {
  const struct t3_state* state = const_state_of(context);
  enum t3_status status = T3_OK;
  for (uint32_t i = 0; i < count; ++i) {
    char line[160];
    if (other[i] == mine[i]) continue;
    (void)snprintf(line, sizeof line, "%s: GPU %u has %s 0x%llx, this GPU 0x%llx: the same expected", call, gpu,
                   names[i], (unsigned long long)other[i], (unsigned long long)mine[i]);
    state->hal->log(state->hal->platform, line);
    status = T3_MISMATCH;
  }
  return status;
}

/* Every GPU has asked for the same, and has its heap at the same place. */
static enum t3_status tell_others(struct t3_context* context, const struct t3_shmem_options* options,
                                  const struct t3_shmem_heap* heap, uint64_t all[][TOLD_COUNT]) {
  static const char call[] = "t3_shmem_init";
  static const char* const names[TOLD_KEY] = {"its heap at local address", "heap_bytes", "contexts",   "entries",
                                              "cached_completions",        "for_host",   "collectives"};
  const uint64_t mine[TOLD_COUNT] = {
      heap->heap & T3_LOCAL_MASK,  heap->heap_bytes,  options->contexts,    options->entries,
      options->cached_completions, options->for_host, options->collectives, heap->key};
  T3_TRY(t3_host_all_gather(context, call, mine, sizeof mine, all));
  for (uint32_t gpu = 0; gpu < state_of(context)->gpus; ++gpu)
    T3_TRY(compare(context, call, gpu, all[gpu], mine, names, TOLD_KEY));
  return T3_OK;
}

/* Whether this GPU's links lead there. */
static enum t3_status read_reached(struct t3_context* context, uint32_t gpu, uint32_t* reached) {
  struct t3_registers links = t3_own_block(context, T3_BLOCK_LINKS);
  const uint32_t route = t3_get32(&links, T3_LINKS_ROUTE_OFFSET + gpu * T3_LINKS_ROUTE_STRIDE);
  const uint32_t port = (route & T3_LINKS_ROUTE_PORT_MASK) >> T3_LINKS_ROUTE_PORT_SHIFT;
  *reached = gpu == state_of(context)->gpu || port != NO_PORT;
  return links.status;
}

static struct t3_shmem_queue queue_for(const struct t3_context* context, const struct t3_shmem_heap* heap,
                                       uint32_t number, uint32_t gpu) {
  const struct t3_state* state = const_state_of(context);
  struct t3_shmem_queue entry = {0};
  if (gpu == state->gpu) return entry;
  const struct t3_nic_queue* queue = &heap->queues[queue_number(number, state->gpu, gpu, state->gpus)];
  entry.send = t3_nic_send_of(queue);
  entry.completions = t3_nic_completions_of(queue);
  entry.record = t3_nic_record_of(queue);
  entry.ticket = queue->memory - COUNTERS_BYTES;
  entry.turn = entry.ticket + COUNTERS_BYTES / 2;
  entry.queue_pair = queue->number;
  entry.completion_queue = queue->completion_queue;
  return entry;
}

static enum t3_status write_zeros(struct t3_context* context, uint64_t address, uint64_t bytes) {
  static const unsigned char zeros[ALIGNMENT];
  const struct t3_hal* hal = state_of(context)->hal;
  for (uint64_t done = 0; done < bytes; done += sizeof zeros)
    T3_TRY(hal->write_memory(hal->platform, address + done, zeros, sizeof zeros));
  return T3_OK;
}

static enum t3_status open_queues(struct t3_context* context, const struct t3_shmem_options* options,
                                  struct t3_shmem_heap* heap) {
  static const unsigned char zeros[COUNTERS_BYTES];
  const struct t3_hal* hal = state_of(context)->hal;
  const uint64_t begin = heap->table + table_entries(context, options);
  for (uint32_t i = 0; i < heap->queue_count; ++i) {
    const uint64_t counters = begin + i * bytes_of_queue(options->entries);
    heap->queues[i] = (struct t3_nic_queue){
        .number = i, .completion_queue = i, .entries = options->entries, .memory = counters + COUNTERS_BYTES};
    T3_TRY(hal->write_memory(hal->platform, counters, zeros, sizeof zeros));
    T3_TRY(t3_nic_create_qp(context, &heap->queues[i]));
    heap->queues[i].is_kernels = !options->for_host;
  }
  return T3_OK;
}

static enum t3_status write_table(struct t3_context* context, const struct t3_shmem_options* options,
                                  const struct t3_shmem_heap* heap, uint64_t all[][TOLD_COUNT]) {
  struct t3_state* state = state_of(context);
  const struct t3_hal* hal = state->hal;
  const struct t3_shmem_table table = {
      .heap = heap->heap & T3_LOCAL_MASK,
      .heap_bytes = heap->heap_bytes,
      .gpus = state->gpus,
      .gpu = state->gpu,
      .contexts = options->for_host ? 0 : options->contexts,
      .entries = options->entries,
      .key = heap->key,
      .flags = (options->cached_completions ? T3_SHMEM_TABLE_FLAGS_CACHED_COMPLETIONS : 0) |
               (options->collectives ? T3_SHMEM_TABLE_FLAGS_COLLECTIVES : 0)};
  uint32_t reached[T3_SHMEM_GPUS_MAX];
  for (uint32_t gpu = 0; gpu < state->gpus; ++gpu) T3_TRY(read_reached(context, gpu, &reached[gpu]));
  unsigned char bytes[T3_SHMEM_TABLE_ENTRY_BYTES] = {0};
  t3_shmem_table_to(&table, bytes);
  T3_TRY(hal->write_memory(hal->platform, heap->table, bytes, sizeof bytes));
  uint64_t address = heap->table;
  for (uint32_t i = 0; i < options->contexts * state->gpus; ++i) {
    const uint32_t gpu = i % state->gpus;
    struct t3_shmem_queue entry = queue_for(context, heap, i / state->gpus, gpu);
    entry.key = (uint32_t)all[gpu][TOLD_KEY];
    entry.reached = reached[gpu];
    memset(bytes, 0, sizeof bytes);
    t3_shmem_queue_to(&entry, bytes);
    T3_TRY(hal->write_memory(hal->platform, address += sizeof bytes, bytes, sizeof bytes));
  }
  hal->order_writes(hal->platform);
  return T3_OK;
}

static enum t3_status connect_queues(struct t3_context* context, const struct t3_shmem_options* options,
                                     const struct t3_shmem_heap* heap) {
  struct t3_state* state = state_of(context);
  for (uint32_t number = 0; number < options->contexts; ++number)
    for (uint32_t gpu = 0; gpu < state->gpus; ++gpu) {
      if (gpu == state->gpu) continue;
      const struct t3_nic_queue* queue = &heap->queues[queue_number(number, state->gpu, gpu, state->gpus)];
      const uint32_t peers = queue_number(number, gpu, state->gpu, state->gpus);
      const struct t3_nic_qp_attr receive = {.qp_state = T3_NIC_QPS_RTR, .dest_gpu = gpu, .dest_qp_num = peers};
      const struct t3_nic_qp_attr send = {.qp_state = T3_NIC_QPS_RTS};
      T3_TRY(t3_nic_modify_qp(context, queue, &receive));
      T3_TRY(t3_nic_modify_qp(context, queue, &send));
    }
  return t3_host_barrier(context); /* peers are ready to receive before anything is sent to them */
}

/* A step of t3_shmem_init, as its failure says it. */
struct opening {
  const char* step;
  bool is_registered; /* the heap, at the NIC */
};

static enum t3_status open_heap(struct t3_context* context, const struct t3_shmem_options* options,
                                struct t3_shmem_heap* heap, struct opening* opening) {
  uint64_t all[T3_SHMEM_GPUS_MAX][TOLD_COUNT];
  const uint64_t sync = sync_bytes(context, options);
  opening->step = "there is no room for table, queues and heap";
  T3_TRY(take_memory(context, options, heap));
  opening->step = "the heap cannot be registered at the NIC";
  if (heap->queue_count != 0)
    T3_TRY(t3_nic_reg_mr(context, heap->heap - sync, sync + heap->heap_bytes, T3_NIC_ALL_ACCESS, &heap->key));
  opening->is_registered = heap->queue_count != 0;
  T3_TRY(write_zeros(context, heap->heap - sync, sync));
  opening->step = no_agreement;
  T3_TRY(tell_others(context, options, heap, all));
  opening->step = "a queue pair cannot be created";
  T3_TRY(open_queues(context, options, heap));
  opening->step = "the table cannot be written";
  T3_TRY(write_table(context, options, heap, all));
  opening->step = "a queue pair cannot be connected";
  return connect_queues(context, options, heap);
}

/* Nothing stays of a heap that has not been opened on all GPUs. */
static void give_up(struct t3_context* context, struct t3_shmem_heap* heap, const struct opening* opening) {
  for (uint32_t i = 0; i < heap->queue_count; ++i)
    if (heap->queues[i].is_open) (void)t3_nic_destroy_qp(context, &heap->queues[i]);
  if (opening->is_registered) (void)t3_nic_dereg_mr(context, heap->key);
  if (heap->table != 0) (void)t3_free_of(context, "t3_shmem_init", T3_SHMEM_MEMORY, heap->table);
}

enum t3_status t3_shmem_init(struct t3_context* context, struct t3_shmem_options options, struct t3_shmem_heap* heap) {
  struct t3_shmem_heap fresh = {0};
  struct opening opening = {0};
  if (!t3_is_open(context)) return T3_INVALID_ARGUMENT;
  if (heap == NULL) return T3_REFUSE(context, "heap", "a place for it");
  const struct t3_fault fault = check(context, &options);
  if (fault.status != T3_OK) return t3_refuse(context, __func__, fault);
  const enum t3_status status = open_heap(context, &options, &fresh, &opening);
  if (status != T3_OK) give_up(context, &fresh, &opening);
  if (status == T3_OK) *heap = fresh;
  return fail_as(context, __func__, status, opening.step);
}

/* Finds the first gap of so many bytes; in `place` the number of pieces before it. NOWHERE: there is none. */
static uint64_t find_gap(const struct t3_shmem_heap* heap, uint64_t bytes, uint32_t* place) {
  uint64_t begin = heap->heap;
  for (*place = 0; *place < heap->piece_count && bytes > heap->pieces[*place].address - begin; ++*place)
    begin = heap->pieces[*place].address + heap->pieces[*place].bytes;
  return bytes <= heap->heap + heap->heap_bytes - begin ? begin : NOWHERE;
}

/* Exchanges what a collective call of the heap does here, and where: local addresses, NOWHERE: nowhere. */
static enum t3_status agree(struct t3_context* context, const char* call, const char* const names[2], uint64_t address,
                            uint64_t bytes) {
  const uint64_t mine[2] = {address == NOWHERE ? address : address & T3_LOCAL_MASK, bytes};
  uint64_t all[T3_SHMEM_GPUS_MAX][2];
  T3_TRY(t3_host_all_gather(context, call, mine, sizeof mine, all));
  for (uint32_t gpu = 0; gpu < state_of(context)->gpus; ++gpu)
    T3_TRY(compare(context, call, gpu, all[gpu], mine, names, 2));
  return T3_OK;
}

enum t3_status t3_shmem_malloc(struct t3_context* context, struct t3_shmem_heap* heap, uint64_t bytes,
                               uint64_t* address) {
  static const char* const names[2] = {"a gap at local address", "bytes"};
  if (heap == NULL || heap->table == 0) return T3_REFUSE(context, "heap", an_open_heap);
  if (bytes == 0) return T3_REFUSE(context, "bytes", "1 or more");
  if (address == NULL) return T3_REFUSE(context, "address", "a place for it");
  uint32_t place = 0;
  const uint64_t begin = find_gap(heap, bytes, &place);
  T3_TRY(fail_as(context, __func__, agree(context, __func__, names, begin, bytes), no_agreement));
  if (begin == NOWHERE) return T3_REFUSE_AS(context, T3_OUT_OF_MEMORY, "bytes", "as many as a gap of the heap has");
  if (heap->piece_count == T3_SHMEM_PIECES_MAX)
    return T3_REFUSE_AS(context, T3_TABLE_FULL, "heap", "fewer than T3_SHMEM_PIECES_MAX live pieces");
  for (uint32_t i = heap->piece_count++; i > place; --i) heap->pieces[i] = heap->pieces[i - 1];
  heap->pieces[place] = (struct t3_shmem_piece){.address = begin, .bytes = round_up(bytes)};
  *address = begin;
  return T3_OK;
}

enum t3_status t3_shmem_free(struct t3_context* context, struct t3_shmem_heap* heap, uint64_t address) {
  static const char* const names[2] = {"a piece at local address", "bytes"};
  if (heap == NULL || heap->table == 0) return T3_REFUSE(context, "heap", an_open_heap);
  uint32_t place = 0;
  while (place < heap->piece_count && heap->pieces[place].address != address) ++place;
  const bool found = place < heap->piece_count;
  const uint64_t begin = found ? address : NOWHERE, bytes = found ? heap->pieces[place].bytes : 0;
  T3_TRY(fail_as(context, __func__, agree(context, __func__, names, begin, bytes), no_agreement));
  if (!found) return T3_REFUSE(context, "address", "where a live piece of the heap begins");
  for (--heap->piece_count; place < heap->piece_count; ++place) heap->pieces[place] = heap->pieces[place + 1];
  return T3_OK;
}

static enum t3_status read_completion(struct t3_context* context, const struct t3_nic_queue* queue, uint32_t number,
                                      struct t3_nic_completion* completion) {
  struct t3_state* state = state_of(context);
  unsigned char bytes[T3_NIC_COMPLETION_BYTES];
  const uint64_t place = number & (queue->entries - 1);
  T3_TRY(state->hal->read_memory(state->hal->platform, t3_nic_completions_of(queue) + place * sizeof bytes, bytes,
                                 sizeof bytes));
  *completion = t3_nic_completion_from(bytes);
  return T3_OK;
}

/* The first failed entry precedes the entries that were flushed for it, if it is still in the ring. */
static enum t3_status cause_of(struct t3_context* context, const struct t3_nic_queue* queue, uint32_t last,
                               struct t3_nic_completion completion) {
  struct t3_nic_completion found = completion;
  for (uint32_t back = 1; back < queue->entries && back <= last && found.syndrome == T3_NIC_FLUSHED; ++back)
    T3_TRY(read_completion(context, queue, last - back, &found));
  return t3_nic_status(found.syndrome != T3_NIC_OK ? &found : &completion);
}

/* Entries complete in order, and an entry that fails flushes all entries after it. The status of the last entry
 * therefore covers all of them. An entry that an aborted wave has written but not announced never completes. */
static enum t3_status await_end(struct t3_context* context, struct t3_nic_queue* queue) {
  struct t3_registers nic = t3_own_block(context, T3_BLOCK_NIC);
  struct t3_nic_completion last;
  if (!queue->is_kernels) return T3_OK;
  queue->is_kernels = false; /* whose kernels have ended: the host takes it over */
  queue->posted = t3_get32(&nic, T3_NIC_POSTED_OFFSET + queue->number * T3_NIC_POSTED_STRIDE);
  T3_TRY(nic.status);
  if (queue->posted == 0) return T3_OK;
  queue->taken = queue->ended = queue->posted - 1;
  T3_TRY(t3_nic_wait(context, queue, &last));
  return last.syndrome == T3_NIC_OK ? T3_OK : cause_of(context, queue, queue->posted - 1, last);
}

static enum t3_status await_all(struct t3_context* context, struct t3_shmem_heap* heap) {
  enum t3_status first = T3_OK;
  for (uint32_t i = 0; i < heap->queue_count; ++i) {
    const enum t3_status ended = await_end(context, &heap->queues[i]);
    if (first == T3_OK) first = ended;
  }
  return first;
}

/* Closes everything; in `ended` the code of the first message that has failed. */
static enum t3_status close_heap(struct t3_context* context, struct t3_shmem_heap* heap, enum t3_status* ended) {
  T3_TRY(t3_host_barrier(context));
  *ended = await_all(context, heap);
  T3_TRY(t3_host_barrier(context)); /* no queue pair is reset while a peer waits for its answers */
  for (uint32_t i = 0; i < heap->queue_count; ++i) T3_TRY(t3_nic_destroy_qp(context, &heap->queues[i]));
  if (heap->queue_count != 0) T3_TRY(t3_nic_dereg_mr(context, heap->key));
  T3_TRY(t3_free_of(context, "t3_shmem_finalize", T3_SHMEM_MEMORY, heap->table));
  *heap = (struct t3_shmem_heap){0};
  return T3_OK;
}

enum t3_status t3_shmem_finalize(struct t3_context* context, struct t3_shmem_heap* heap) {
  enum t3_status ended = T3_OK;
  if (heap == NULL || heap->table == 0) return T3_REFUSE(context, "heap", an_open_heap);
  T3_TRY(fail_as(context, __func__, close_heap(context, heap, &ended), "the heap cannot be closed"));
  return fail_as(context, __func__, ended, "a message of a kernel has failed");
}
