/* Collective calls of kernels: one wave of each GPU makes them, all by the same context. */
#include <stdio.h>

#include "shmem_post.h"
#include "t3/shmem_sync.h"

enum { COPIED_ELEMENT_BYTES = 2, COPIED_COLUMNS = 2048 };

static uint64_t round_of(uint64_t rounds, uint32_t gpu) { return rounds + (uint64_t)(gpu + 1) * T3_SHMEM_ROUND_BYTES; }

static enum t3_status announce_round(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, const char* name,
                                     uint64_t rounds, uint64_t round) {
  for (uint32_t gpu = 0; gpu < shmem->table.gpus; ++gpu) {
    uint64_t number;
    if (gpu == shmem->table.gpu) continue;
    const struct t3_shmem_message message = t3_shmem_inline_write(name, gpu, round_of(rounds, shmem->table.gpu), round);
    const enum t3_status posted = t3_shmem_post(wave, shmem, gpu, &message, 1, &number);
    if (posted != T3_OK) return posted;
  }
  return T3_OK;
}

static enum t3_status await_round(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint64_t rounds,
                                  uint64_t round) {
  for (uint32_t gpu = 0; gpu < shmem->table.gpus; ++gpu) {
    struct t3_condition condition;
    if (gpu == shmem->table.gpu) continue;
    condition.address = round_of(rounds, gpu);
    condition.bytes = T3_SHMEM_ROUND_BYTES;
    condition.comparison = T3_AT_LEAST;
    condition.mask = UINT64_MAX;
    condition.value = round;
    condition.cached = false;
    if (!t3_wait_value(wave, condition)) return T3_BAD_ACCESS;
  }
  return T3_OK;
}

/* Everything of this GPU is placed before it announces the round. */
enum t3_status t3_shmem_barrier_all(struct t3_wave* wave, const struct t3_shmem_ctx* shmem) {
  static const char name[] = "t3_shmem_barrier_all";
  t3_shmem_require_open(wave, shmem, name);
  const uint64_t rounds =
      t3_shmem_sync_of(wave, shmem, name) + t3_shmem_rounds_offset(shmem->context, shmem->table.gpus);
  uint64_t before = 0;
  t3_fence(wave);
  const enum t3_status placed = t3_shmem_quiet(wave, shmem);
  if (placed != T3_OK) return placed;
  if (!t3_fetch_add_64(wave, rounds, 1, &before)) return T3_BAD_ACCESS;
  const enum t3_status announced = announce_round(wave, shmem, name, rounds, before + 1);
  return announced != T3_OK ? announced : await_round(wave, shmem, rounds, before + 1);
}

/* Past the cache, as the NIC moves the other blocks. */
static void copy(struct t3_wave* wave, uint64_t dest, uint64_t source, uint64_t bytes, uint32_t tile) {
  const uint64_t step = (uint64_t)COPIED_ELEMENT_BYTES * COPIED_COLUMNS;
  for (uint64_t done = 0; done < bytes; done += step) {
    const uint64_t left = bytes - done;
    const struct t3_tile piece = {.index = tile,
                                  .rows = 1,
                                  .columns = (uint32_t)((left < step ? left : step) / COPIED_ELEMENT_BYTES),
                                  .element = T3_BF16};
    struct t3_access access = {.rows = 1, .columns = piece.columns, .element = T3_BF16, .uncached = true};
    access.address = source + done;
    t3_load(wave, piece, access);
    access.address = dest + done;
    t3_store(wave, piece, access);
  }
  t3_fence(wave);
}

static void require_blocks(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, const char* name, uint64_t dest,
                           uint64_t source, uint64_t bytes) {
  char text[T3_FAILURE_TEXT];
  const uint64_t all = bytes <= UINT32_MAX ? bytes * shmem->table.gpus : 0;
  t3_shmem_require_heap(wave, shmem, name, dest, all);
  t3_shmem_require_heap(wave, shmem, name, source, all);
  const bool is_apart = dest + all <= source || source + all <= dest;
  if (is_apart && (dest | source | bytes) % COPIED_ELEMENT_BYTES == 0) return;
  snprintf(text, sizeof text,
           "%s of %u blocks of %llu bytes from 0x%llx to 0x%llx: even numbers, and no common bytes, expected", name,
           shmem->table.gpus, (unsigned long long)bytes, (unsigned long long)source, (unsigned long long)dest);
  t3_fail(wave, text);
}

enum t3_status t3_shmem_alltoallmem(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint64_t dest,
                                    uint64_t source, uint64_t bytes, uint32_t tile) {
  static const char name[] = "t3_shmem_alltoallmem";
  t3_shmem_require_open(wave, shmem, name);
  require_blocks(wave, shmem, name, dest, source, bytes);
  const uint32_t own = shmem->table.gpu, gpus = shmem->table.gpus;
  for (uint32_t i = 1; i < gpus; ++i) {
    const uint32_t gpu = (own + i) % gpus;
    const enum t3_status put = t3_shmem_putmem_nbi(wave, shmem, dest + own * bytes, source + gpu * bytes, bytes, gpu);
    if (put != T3_OK) return put;
  }
  copy(wave, dest + own * bytes, source + own * bytes, bytes, tile);
  return t3_shmem_barrier_all(wave, shmem);
}
