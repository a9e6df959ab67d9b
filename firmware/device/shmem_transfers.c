/* One-sided calls of kernels: each posts one or two messages to a GPU. */
#include <stdio.h>

#include "shmem_post.h"
#include "t3/shmem_sync.h"

enum { MESSAGES_MAX = 2 };

static struct t3_shmem_message transfer(const struct t3_shmem_ctx* shmem, const char* name, enum t3_nic_opcode opcode,
                                        uint32_t gpu, uint64_t remote, uint64_t local, uint64_t bytes) {
  struct t3_shmem_message message = {.name = name};
  message.head.opcode = (uint8_t)opcode;
  message.head.remote_address = t3_on_gpu(gpu, remote);
  message.head.segments = 1;
  message.segment.address = local;
  message.segment.key = shmem->table.key;
  message.segment.bytes = (uint32_t)bytes;
  return message;
}

struct t3_shmem_message t3_shmem_inline_write(const char* name, uint32_t gpu, uint64_t remote, uint64_t value) {
  struct t3_shmem_message message = {.name = name, .value = value};
  message.head.opcode = T3_NIC_WRITE;
  message.head.flags = T3_NIC_WORK_ENTRY_FLAGS_INLINE;
  message.head.inline_bytes = sizeof value;
  message.head.remote_address = t3_on_gpu(gpu, remote);
  return message;
}

uint64_t t3_shmem_sync_of(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, const char* name) {
  char text[T3_FAILURE_TEXT];
  if ((shmem->table.flags & T3_SHMEM_TABLE_FLAGS_COLLECTIVES) == 0) {
    snprintf(text, sizeof text, "%s: a heap that t3_shmem_init has opened with `collectives` expected", name);
    t3_fail(wave, text);
  }
  return t3_on_gpu(shmem->table.gpu, shmem->table.heap) - t3_shmem_sync_bytes(shmem->table.contexts, shmem->table.gpus);
}

static enum t3_status post_one(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint32_t gpu,
                               const struct t3_shmem_message* message) {
  uint64_t number;
  return t3_shmem_post(wave, shmem, gpu, message, 1, &number);
}

static enum t3_status post_and_await(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint32_t gpu,
                                     const struct t3_shmem_message* message) {
  uint64_t number;
  const enum t3_status posted = t3_shmem_post(wave, shmem, gpu, message, 1, &number);
  return posted != T3_OK ? posted : t3_shmem_await_end(wave, shmem, message->name, gpu, number);
}

enum t3_status t3_shmem_putmem_nbi(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint64_t dest,
                                   uint64_t source, uint64_t bytes, uint32_t pe) {
  static const char name[] = "t3_shmem_putmem_nbi";
  t3_shmem_require_pe(wave, shmem, name, pe);
  t3_shmem_require_heap(wave, shmem, name, dest, bytes);
  t3_shmem_require_heap(wave, shmem, name, source, bytes);
  const struct t3_shmem_message message = transfer(shmem, name, T3_NIC_WRITE, pe, dest, source, bytes);
  return post_one(wave, shmem, pe, &message);
}

/* The result of an add that nobody reads goes to the sink. */
static struct t3_shmem_message add(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, const char* name,
                                   uint32_t gpu, uint64_t remote, uint64_t value) {
  const uint64_t sink = t3_shmem_sync_of(wave, shmem, name);
  struct t3_shmem_message message = transfer(shmem, name, T3_NIC_FETCH_ADD, gpu, remote, sink, sizeof value);
  message.value = value;
  return message;
}

/* The signal would be lost in the data, or be part of it. */
static void require_apart(struct t3_wave* wave, const char* name, uint64_t dest, uint64_t bytes, uint64_t sig_addr) {
  char text[T3_FAILURE_TEXT];
  if (sig_addr + sizeof(uint64_t) <= dest || sig_addr >= dest + bytes) return;
  snprintf(text, sizeof text, "%s with the signal at 0x%llx: outside of its data, 0x%llx bytes at 0x%llx, expected",
           name, (unsigned long long)sig_addr, (unsigned long long)bytes, (unsigned long long)dest);
  t3_fail(wave, text);
}

static void require_operation(struct t3_wave* wave, const char* name, enum t3_shmem_signal_op sig_op) {
  char text[T3_FAILURE_TEXT];
  if (sig_op == T3_SHMEM_SIGNAL_SET || sig_op == T3_SHMEM_SIGNAL_ADD) return;
  snprintf(text, sizeof text, "%s with sig_op %u: T3_SHMEM_SIGNAL_SET or T3_SHMEM_SIGNAL_ADD expected", name,
           (unsigned)sig_op);
  t3_fail(wave, text);
}

enum t3_status t3_shmem_putmem_signal_nbi(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint64_t dest,
                                          uint64_t source, uint64_t bytes, uint64_t sig_addr, uint64_t signal,
                                          enum t3_shmem_signal_op sig_op, uint32_t pe) {
  static const char name[] = "t3_shmem_putmem_signal_nbi";
  uint64_t number;
  t3_shmem_require_pe(wave, shmem, name, pe);
  t3_shmem_require_heap(wave, shmem, name, dest, bytes);
  t3_shmem_require_heap(wave, shmem, name, source, bytes);
  t3_shmem_require_integer(wave, shmem, name, sig_addr);
  require_apart(wave, name, dest, bytes, sig_addr);
  require_operation(wave, name, sig_op);
  const struct t3_shmem_message messages[MESSAGES_MAX] = {transfer(shmem, name, T3_NIC_WRITE, pe, dest, source, bytes),
                                                          sig_op == T3_SHMEM_SIGNAL_SET
                                                              ? t3_shmem_inline_write(name, pe, sig_addr, signal)
                                                              : add(wave, shmem, name, pe, sig_addr, signal)};
  return t3_shmem_post(wave, shmem, pe, messages, MESSAGES_MAX, &number);
}

enum t3_status t3_shmem_uint64_p(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint64_t dest, uint64_t value,
                                 uint32_t pe) {
  static const char name[] = "t3_shmem_uint64_p";
  t3_shmem_require_pe(wave, shmem, name, pe);
  t3_shmem_require_integer(wave, shmem, name, dest);
  const struct t3_shmem_message message = t3_shmem_inline_write(name, pe, dest, value);
  return post_one(wave, shmem, pe, &message);
}

static struct t3_shmem_message get(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, const char* name,
                                   uint64_t dest, uint64_t source, uint64_t bytes, uint32_t pe) {
  t3_shmem_require_pe(wave, shmem, name, pe);
  t3_shmem_require_heap(wave, shmem, name, source, bytes);
  t3_shmem_require_heap(wave, shmem, name, dest, bytes);
  return transfer(shmem, name, T3_NIC_READ, pe, source, dest, bytes);
}

enum t3_status t3_shmem_getmem_nbi(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint64_t dest,
                                   uint64_t source, uint64_t bytes, uint32_t pe) {
  const struct t3_shmem_message message = get(wave, shmem, "t3_shmem_getmem_nbi", dest, source, bytes, pe);
  return post_one(wave, shmem, pe, &message);
}

enum t3_status t3_shmem_getmem(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint64_t dest, uint64_t source,
                               uint64_t bytes, uint32_t pe) {
  const struct t3_shmem_message message = get(wave, shmem, "t3_shmem_getmem", dest, source, bytes, pe);
  return post_and_await(wave, shmem, pe, &message);
}

static struct t3_shmem_message fetch_add(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, const char* name,
                                         uint64_t fetch, uint64_t dest, uint64_t value, uint32_t pe) {
  t3_shmem_require_pe(wave, shmem, name, pe);
  t3_shmem_require_integer(wave, shmem, name, dest);
  t3_shmem_require_integer(wave, shmem, name, fetch);
  struct t3_shmem_message message = transfer(shmem, name, T3_NIC_FETCH_ADD, pe, dest, fetch, sizeof value);
  message.value = value;
  return message;
}

enum t3_status t3_shmem_uint64_atomic_fetch_add_nbi(struct t3_wave* wave, const struct t3_shmem_ctx* shmem,
                                                    uint64_t fetch, uint64_t dest, uint64_t value, uint32_t pe) {
  const struct t3_shmem_message message =
      fetch_add(wave, shmem, "t3_shmem_uint64_atomic_fetch_add_nbi", fetch, dest, value, pe);
  return post_one(wave, shmem, pe, &message);
}

enum t3_status t3_shmem_uint64_atomic_fetch_add(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint64_t fetch,
                                                uint64_t dest, uint64_t value, uint32_t pe) {
  const struct t3_shmem_message message =
      fetch_add(wave, shmem, "t3_shmem_uint64_atomic_fetch_add", fetch, dest, value, pe);
  return post_and_await(wave, shmem, pe, &message);
}

enum t3_status t3_shmem_uint64_atomic_add(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint64_t dest,
                                          uint64_t value, uint32_t pe) {
  static const char name[] = "t3_shmem_uint64_atomic_add";
  t3_shmem_require_pe(wave, shmem, name, pe);
  t3_shmem_require_integer(wave, shmem, name, dest);
  const struct t3_shmem_message message = add(wave, shmem, name, pe, dest, value);
  return post_one(wave, shmem, pe, &message);
}

/* A read of nothing comes back behind all that was posted before it. */
static enum t3_status post_read_of_nothing(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, const char* name,
                                           uint32_t gpu, uint64_t* number) {
  struct t3_shmem_message message = {.name = name};
  message.head.opcode = T3_NIC_READ;
  message.head.remote_address = t3_on_gpu(gpu, shmem->table.heap);
  return t3_shmem_post(wave, shmem, gpu, &message, 1, number);
}

static enum t3_status post_reads_of_nothing(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, const char* name,
                                            uint64_t* numbers) {
  t3_shmem_require_open(wave, shmem, name);
  for (uint32_t gpu = 0; gpu < shmem->table.gpus; ++gpu) {
    if (gpu == shmem->table.gpu) continue;
    const enum t3_status posted = post_read_of_nothing(wave, shmem, name, gpu, &numbers[gpu]);
    if (posted != T3_OK) return posted;
  }
  return T3_OK;
}

enum t3_status t3_shmem_pe_fence(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint32_t pe) {
  static const char name[] = "t3_shmem_pe_fence";
  uint64_t number;
  t3_shmem_require_pe(wave, shmem, name, pe);
  return post_read_of_nothing(wave, shmem, name, pe, &number);
}

enum t3_status t3_shmem_fence(struct t3_wave* wave, const struct t3_shmem_ctx* shmem) {
  uint64_t numbers[T3_SHMEM_DEVICE_GPUS_MAX];
  return post_reads_of_nothing(wave, shmem, "t3_shmem_fence", numbers);
}

enum t3_status t3_shmem_quiet(struct t3_wave* wave, const struct t3_shmem_ctx* shmem) {
  static const char name[] = "t3_shmem_quiet";
  uint64_t numbers[T3_SHMEM_DEVICE_GPUS_MAX];
  const enum t3_status posted = post_reads_of_nothing(wave, shmem, name, numbers);
  if (posted != T3_OK) return posted;
  for (uint32_t gpu = 0; gpu < shmem->table.gpus; ++gpu) {
    if (gpu == shmem->table.gpu) continue;
    const enum t3_status ended = t3_shmem_await_end(wave, shmem, name, gpu, numbers[gpu]);
    if (ended != T3_OK) return ended;
  }
  return T3_OK;
}
