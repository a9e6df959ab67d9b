/* A kernel that posts to its GPU's NIC, and the program that opens a symmetric heap for it. */
#include <string.h>

#include "guests.h"
#include "t3/address.h"
#include "t3/arguments/posting.h"
#include "t3/shmem.h"
#include "t3/shmem_device.h"

enum { FLAG_BYTES = 64, BYTES_MAX = 2048 };

static bool check(struct t3_check* check, const struct t3_launch* launch) {
  const struct t3_posting_arguments* p = launch->arguments;
  if (p->bytes == 0) return t3_refuse(check, T3_BAD_PACKET, "0 bytes to put, 1 or more expected");
  return true;
}

static struct t3_range at(uint64_t address, uint64_t bytes) {
  return (struct t3_range){address & T3_LOCAL_MASK, (address & T3_LOCAL_MASK) + bytes};
}

static struct t3_plan plan(const struct t3_device* device, const struct t3_launch* launch) {
  (void)device;
  const struct t3_posting_arguments* p = launch->arguments;
  return (struct t3_plan){.name = "posting",
                          .workgroups = 1,
                          .workgroups_per_cu = 1,
                          .waves = 1,
                          .local_bytes = sizeof(struct t3_shmem_ctx),
                          .written = {{p->target, p->target + p->bytes}},
                          .written_count = 1,
                          .shared = {at(p->table, p->table_bytes), at(p->flag, FLAG_BYTES)},
                          .shared_count = 2,
                          .doorbells = true,
                          .awaits_arrivals = true};
}

static void post(struct t3_wave* wave) {
  const struct t3_posting_arguments* p = wave->arguments;
  struct t3_shmem_ctx* shmem = wave->local;
  if (t3_shmem_ctx_open(wave, p->table, 0, shmem) != T3_OK) return;
  if (t3_shmem_putmem_nbi(wave, shmem, p->target, p->source, p->bytes, p->next) != T3_OK) return;
  if (t3_shmem_fence(wave, shmem) != T3_OK) return;
  if (t3_shmem_uint64_p(wave, shmem, p->flag, 1, p->next) != T3_OK) return;
  (void)t3_wait_value(wave, (struct t3_condition){.address = p->flag, .bytes = 8, .mask = UINT64_MAX, .value = 1});
  (void)t3_shmem_quiet(wave, shmem);
}

const struct t3_kernel posting_kernel = {.name = "posting",
                                         .arguments = T3_POSTING_ARGUMENTS,
                                         .reads = "posting_read",
                                         .writes = "posting_write",
                                         .check = check,
                                         .plan = plan,
                                         .run = post};

static void fill(unsigned char* bytes, uint32_t gpu, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) bytes[i] = (unsigned char)(i * 13 + gpu);
}

enum t3_status posting(const struct t3_hal* hal, const struct t3_run* run) {
  (void)run;
  uint64_t bytes = 0, source = 0, target = 0, flag = 0;
  unsigned char data[BYTES_MAX], found[BYTES_MAX];
  const unsigned char none[FLAG_BYTES] = {0};
  struct t3_context gpu = {0};
  struct t3_shmem_heap heap;
  T3_TRY(hal->argument_u64(hal->platform, "bytes", &bytes));
  if (bytes > BYTES_MAX) return T3_INVALID_ARGUMENT;
  T3_TRY(t3_init(&gpu, hal));
  T3_TRY(t3_shmem_init(&gpu, (struct t3_shmem_options){.heap_bytes = 1 << 16, .contexts = 1, .entries = 8}, &heap));
  T3_TRY(t3_shmem_malloc(&gpu, &heap, BYTES_MAX, &source));
  T3_TRY(t3_shmem_malloc(&gpu, &heap, BYTES_MAX, &target));
  T3_TRY(t3_shmem_malloc(&gpu, &heap, FLAG_BYTES, &flag));
  fill(data, t3_gpu(&gpu), bytes);
  T3_TRY(hal->write_memory(hal->platform, source, data, bytes));
  T3_TRY(hal->write_memory(hal->platform, flag, none, sizeof none));
  hal->order_writes(hal->platform);
  T3_TRY(t3_host_barrier(&gpu));
  const struct t3_posting_arguments arguments = {.table = heap.table,
                                                 .table_bytes = heap.table_bytes,
                                                 .source = source,
                                                 .target = target,
                                                 .flag = flag,
                                                 .bytes = bytes & UINT32_MAX,
                                                 .next = (t3_gpu(&gpu) + 1) % t3_gpus(&gpu)};
  unsigned char packed[T3_POSTING_ARGUMENTS_BYTES];
  t3_posting_arguments_to(&arguments, packed);
  T3_TRY(t3_run_kernel(&gpu, "posting", packed, sizeof packed, (struct t3_kernel_options){0}));
  T3_TRY(t3_wait_kernels(&gpu));
  fill(data, (t3_gpu(&gpu) + t3_gpus(&gpu) - 1) % t3_gpus(&gpu), bytes);
  T3_TRY(hal->read_memory(hal->platform, target, found, bytes));
  if (memcmp(data, found, bytes) != 0) return T3_MISMATCH;
  T3_TRY(t3_shmem_finalize(&gpu, &heap));
  return t3_close(&gpu);
}
