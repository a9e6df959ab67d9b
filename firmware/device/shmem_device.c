/* Posting is serial for each queue pair: a wave takes numbers of entries by fetch-and-add, waits until the entries that
 * were in their places have ended, writes its own, and in its turn the doorbell record, then rings. All entries are
 * signaled and a completion queue has as many places as the ring, so that completion n is at place n: it has come when
 * the index there is not that of the round before. */
#include "shmem_post.h"

#include <stdio.h>
#include <string.h>

#include "t3/nic_cause.h"
#include "t3/nic_completion.h"
#include "t3/nic_syndrome.h"
#include "t3/registers/nic.h"

enum { ENTRY_BYTES = T3_NIC_WORK_ENTRY_ENTRY_BYTES, COMPLETION_INDEX = 20 };

static const struct t3_shmem_queue* queue_to(const struct t3_shmem_ctx* shmem, uint32_t gpu) {
  return &shmem->queues[gpu];
}

static uint64_t doorbell_of(const struct t3_shmem_ctx* shmem, uint32_t offset, uint32_t stride, uint32_t number) {
  return t3_block_base(shmem->table.gpu, T3_BLOCK_NIC) + offset + (uint64_t)number * stride;
}

static bool read_table(struct t3_wave* wave, uint64_t address, struct t3_shmem_table* table) {
  unsigned char bytes[T3_SHMEM_TABLE_ENTRY_BYTES];
  if (!t3_read(wave, address, T3_SHMEM_TABLE_BYTES, bytes)) return false;
  *table = t3_shmem_table_from(bytes);
  return true;
}

static bool is_on_stack(const void* place) {
  const char here = 0;
  const uintptr_t from = (uintptr_t)place, to = (uintptr_t)&here;
  return (from < to ? to - from : from - to) < T3_WAVE_STACK_BYTES;
}

/* A handle in local memory begins as zeros and is one context's for good: other waves may post by it. */
static void claim(struct t3_wave* wave, uint64_t table, uint32_t context, struct t3_shmem_ctx* shmem) {
  char text[T3_FAILURE_TEXT];
  const bool is_fresh = is_on_stack(shmem) || shmem->claimed == 0;
  if (!is_fresh && (shmem->claimed != table || shmem->context != context)) {
    snprintf(text, sizeof text,
             "t3_shmem_ctx_open of context %u of the table at 0x%llx: the workgroup has opened context %u of the table "
             "at 0x%llx by the same handle, one handle for each expected",
             context, (unsigned long long)table, shmem->context, (unsigned long long)shmem->claimed);
    t3_fail(wave, text);
  }
  shmem->claimed = table;
  shmem->context = context;
}

static void require_context(struct t3_wave* wave, uint64_t address, const struct t3_shmem_table* table,
                            uint32_t context) {
  char text[T3_FAILURE_TEXT];
  if (context < table->contexts && table->gpus <= T3_SHMEM_DEVICE_GPUS_MAX) return;
  snprintf(text, sizeof text,
           "t3_shmem_ctx_open of context %u: the table at 0x%llx has %u, and %u GPUs, at most %d expected", context,
           (unsigned long long)address, table->contexts, table->gpus, (int)T3_SHMEM_DEVICE_GPUS_MAX);
  t3_fail(wave, text);
}

enum t3_status t3_shmem_ctx_open(struct t3_wave* wave, uint64_t table, uint32_t context, struct t3_shmem_ctx* shmem) {
  unsigned char bytes[T3_SHMEM_QUEUE_ENTRY_BYTES];
  struct t3_shmem_table read;
  if (table == 0 || shmem == NULL)
    t3_fail(wave, "t3_shmem_ctx_open: the address of a heap's table and a handle, not 0, expected");
  if (!read_table(wave, table, &read)) return T3_BAD_ACCESS;
  require_context(wave, table, &read, context);
  claim(wave, table, context, shmem);
  shmem->table = read;
  for (uint32_t gpu = 0; gpu < read.gpus; ++gpu) {
    const uint64_t place = 1 + (uint64_t)context * read.gpus + gpu;
    if (!t3_read(wave, table + place * sizeof bytes, T3_SHMEM_QUEUE_BYTES, bytes)) return T3_BAD_ACCESS;
    shmem->queues[gpu] = t3_shmem_queue_from(bytes);
  }
  shmem->opened = T3_SHMEM_CTX_OPENED;
  return T3_OK;
}

static bool is_open(const struct t3_shmem_ctx* shmem) { return shmem != NULL && shmem->opened == T3_SHMEM_CTX_OPENED; }

void t3_shmem_require_open(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, const char* name) {
  char text[T3_FAILURE_TEXT];
  if (is_open(shmem)) return;
  snprintf(text, sizeof text, "%s: a context that t3_shmem_ctx_open has opened expected", name);
  t3_fail(wave, text);
}

uint32_t t3_shmem_my_pe(const struct t3_shmem_ctx* shmem) { return is_open(shmem) ? shmem->table.gpu : 0; }

uint32_t t3_shmem_n_pes(const struct t3_shmem_ctx* shmem) { return is_open(shmem) ? shmem->table.gpus : 0; }

uint64_t t3_shmem_ptr(const struct t3_shmem_ctx* shmem, uint64_t address, uint32_t gpu) {
  return is_open(shmem) && gpu < shmem->table.gpus && queue_to(shmem, gpu)->reached != 0 ? t3_on_gpu(gpu, address) : 0;
}

static bool is_in_heap(const struct t3_shmem_ctx* shmem, uint64_t address, uint64_t bytes) {
  const uint64_t offset = (address & T3_LOCAL_MASK) - shmem->table.heap;
  return t3_gpu_of(address) == shmem->table.gpu && offset < shmem->table.heap_bytes &&
         bytes <= shmem->table.heap_bytes - offset;
}

void t3_shmem_require_pe(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, const char* name, uint32_t gpu) {
  char text[T3_FAILURE_TEXT];
  t3_shmem_require_open(wave, shmem, name);
  if (gpu < shmem->table.gpus && gpu != shmem->table.gpu) return;
  snprintf(text, sizeof text, "%s with GPU %u: another one of %u expected", name, gpu, shmem->table.gpus);
  t3_fail(wave, text);
}

void t3_shmem_require_heap(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, const char* name, uint64_t address,
                           uint64_t bytes) {
  char text[T3_FAILURE_TEXT];
  if (bytes != 0 && bytes <= UINT32_MAX && is_in_heap(shmem, address, bytes)) return;
  snprintf(text, sizeof text, "%s of %llu bytes at 0x%llx: 1 or more in the heap of 0x%llx bytes at 0x%llx expected",
           name, (unsigned long long)bytes, (unsigned long long)address, (unsigned long long)shmem->table.heap_bytes,
           (unsigned long long)t3_on_gpu(shmem->table.gpu, shmem->table.heap));
  t3_fail(wave, text);
}

void t3_shmem_require_integer(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, const char* name,
                              uint64_t address) {
  char text[T3_FAILURE_TEXT];
  t3_shmem_require_heap(wave, shmem, name, address, sizeof(uint64_t));
  if (address % sizeof(uint64_t) == 0) return;
  snprintf(text, sizeof text, "%s of an integer of 8 bytes at 0x%llx: a multiple of 8 expected", name,
           (unsigned long long)address);
  t3_fail(wave, text);
}

static bool read_completion(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint32_t gpu, uint64_t number,
                            struct t3_nic_completion* completion) {
  unsigned char bytes[T3_NIC_COMPLETION_BYTES];
  const uint64_t place = queue_to(shmem, gpu)->completions + number % shmem->table.entries * sizeof bytes;
  const bool cached = (shmem->table.flags & T3_SHMEM_TABLE_FLAGS_CACHED_COMPLETIONS) != 0;
  const bool done =
      cached ? t3_read_cached(wave, place, sizeof bytes, bytes) : t3_read(wave, place, sizeof bytes, bytes);
  if (done) *completion = t3_nic_completion_from(bytes);
  return done;
}

/* Finds the cause of a flushed entry: an earlier entry whose completion is not yet overwritten. */
static bool find_cause(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint32_t gpu, uint64_t number,
                       struct t3_nic_completion* completion) {
  struct t3_nic_completion found = *completion;
  for (uint32_t back = 1; back < shmem->table.entries && back <= number; ++back) {
    if (found.syndrome != T3_NIC_FLUSHED || found.cause != T3_NIC_CAUSE_OWN_ENTRY) break;
    if (!read_completion(wave, shmem, gpu, number - back, &found)) return false;
  }
  if (found.syndrome != T3_NIC_OK) *completion = found;
  return true;
}

/* Adds the details that the syndrome does not have: for a flushed entry the queue pair's mistake, otherwise memory's
 * status. */
static void write_more(const struct t3_nic_completion* completion, char* text, size_t size) {
  const enum t3_nic_syndrome cause = (enum t3_nic_syndrome)completion->cause_syndrome;
  *text = 0;
  if (completion->syndrome == T3_NIC_FLUSHED)
    (void)snprintf(text, size, ": %s%s%s", t3_nic_cause_text((enum t3_nic_cause)completion->cause),
                   cause == T3_NIC_OK ? "" : ": ", cause == T3_NIC_OK ? "" : t3_nic_syndrome_text(cause));
  else if (completion->reason != T3_OK)
    (void)snprintf(text, size, ": %s", t3_status_text((enum t3_status)completion->reason));
}

static enum t3_status fail(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, const char* name, uint32_t gpu,
                           uint64_t number, struct t3_nic_completion completion) {
  char text[T3_FAILURE_TEXT], more[T3_FAILURE_TEXT];
  if (!find_cause(wave, shmem, gpu, number, &completion)) return T3_BAD_ACCESS;
  write_more(&completion, more, sizeof more);
  (void)snprintf(
      text, sizeof text, "%s: entry %u of queue pair %u to GPU %u has ended with syndrome %u at 0x%llx: %s%s", name,
      completion.index, completion.queue_pair, gpu, completion.syndrome, (unsigned long long)completion.address,
      t3_nic_syndrome_text((enum t3_nic_syndrome)completion.syndrome), more);
  t3_fail(wave, text);
  return T3_PEER_FAILED;
}

/* Waits until the announced entry of this number has ended. A later entry may use its slot by then. */
enum t3_status t3_shmem_await_end(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, const char* name,
                                  uint32_t gpu, uint64_t number) {
  const uint64_t place = number % shmem->table.entries * T3_NIC_COMPLETION_BYTES;
  struct t3_condition condition;
  condition.address = queue_to(shmem, gpu)->completions + place + COMPLETION_INDEX;
  condition.bytes = 2;
  condition.comparison = T3_NOT_EQUAL;
  condition.mask = UINT16_MAX;
  condition.value = (number - shmem->table.entries) & UINT16_MAX;
  condition.cached = (shmem->table.flags & T3_SHMEM_TABLE_FLAGS_CACHED_COMPLETIONS) != 0;
  struct t3_nic_completion completion;
  if (!t3_wait_value(wave, condition) || !read_completion(wave, shmem, gpu, number, &completion)) return T3_BAD_ACCESS;
  if (completion.syndrome == T3_NIC_OK) return T3_OK;
  return fail(wave, shmem, name, gpu, number, completion);
}

static void write_entry(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint32_t gpu, uint64_t number,
                        const struct t3_shmem_message* message) {
  unsigned char bytes[ENTRY_BYTES] = {0};
  struct t3_nic_work_entry head = message->head;
  head.flags |= T3_NIC_WORK_ENTRY_FLAGS_SIGNALED;
  head.index = (uint16_t)number;
  head.queue_pair = queue_to(shmem, gpu)->queue_pair;
  head.remote_key = queue_to(shmem, gpu)->key;
  t3_nic_work_entry_to(&head, bytes);
  unsigned char* const tail = bytes + T3_NIC_WORK_ENTRY_BYTES;
  const bool adds = head.opcode == T3_NIC_FETCH_ADD;
  if (head.segments != 0) t3_nic_segment_to(&message->segment, tail + (adds ? T3_NIC_SEGMENT_ENTRY_BYTES : 0));
  if (adds || head.inline_bytes != 0) t3_put_number(tail, sizeof message->value, message->value);
  t3_write(wave, queue_to(shmem, gpu)->send + number % shmem->table.entries * ENTRY_BYTES, bytes, ENTRY_BYTES);
}

static bool await_turn(struct t3_wave* wave, const struct t3_shmem_queue* queue, enum t3_comparison comparison,
                       uint64_t number) {
  struct t3_condition condition;
  condition.address = queue->turn;
  condition.bytes = 8;
  condition.comparison = comparison;
  condition.mask = UINT64_MAX;
  condition.value = number;
  condition.cached = false;
  return t3_wait_value(wave, condition);
}

/* In its turn: record, room for completions, doorbell, and whose turn it is next. */
static enum t3_status announce(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint32_t gpu, uint64_t first,
                               uint64_t end) {
  const struct t3_shmem_queue* const queue = queue_to(shmem, gpu);
  unsigned char count[4], taken[4], turn[8];
  if (!await_turn(wave, queue, T3_EQUAL, first)) return T3_BAD_ACCESS;
  t3_put_number(count, sizeof count, end);
  t3_put_number(turn, sizeof turn, end);
  t3_write(wave, queue->record, count, sizeof count);
  t3_fence(wave);
  if (end > shmem->table.entries) {
    t3_put_number(taken, sizeof taken, end - shmem->table.entries);
    t3_write(wave, doorbell_of(shmem, T3_NIC_CONSUMED_OFFSET, T3_NIC_CONSUMED_STRIDE, queue->completion_queue), taken,
             sizeof taken);
  }
  t3_write(wave, doorbell_of(shmem, T3_NIC_DOORBELL_OFFSET, T3_NIC_DOORBELL_STRIDE, queue->queue_pair), count,
           sizeof count);
  t3_write(wave, queue->turn, turn, sizeof turn);
  t3_fence(wave);
  return T3_OK;
}

/* Waits until the previous entry in the slot of this number has ended. When that entry is announced, the one before it
 * in the slot has ended, so no completion there is older. */
static enum t3_status await_room(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, const char* name, uint32_t gpu,
                                 uint64_t number) {
  if (number < shmem->table.entries) return T3_OK;
  const uint64_t before = number - shmem->table.entries;
  if (!await_turn(wave, queue_to(shmem, gpu), T3_AT_LEAST, before + 1)) return T3_BAD_ACCESS;
  return t3_shmem_await_end(wave, shmem, name, gpu, before);
}

enum t3_status t3_shmem_post(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint32_t gpu,
                             const struct t3_shmem_message* messages, uint32_t count, uint64_t* last) {
  uint64_t first = 0;
  if (!t3_fetch_add_64(wave, queue_to(shmem, gpu)->ticket, count, &first)) return T3_BAD_ACCESS;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t number = first + i;
    const enum t3_status room = await_room(wave, shmem, messages[i].name, gpu, number);
    if (room != T3_OK) return room;
    write_entry(wave, shmem, gpu, number, &messages[i]);
  }
  t3_fence(wave);
  *last = first + count - 1;
  t3_trace_mark(wave, messages->name, messages->head.opcode == T3_NIC_WRITE ? messages->head.remote_address : 0);
  return announce(wave, shmem, gpu, first, first + count);
}
