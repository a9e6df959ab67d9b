#include "workgroup_flags.h"

#include "t3/address.h"

/* The workgroup's first one. */
static uint64_t first_of(const struct t3_wave* wave, const struct t3_peer_flags* flags, uint32_t kind) {
  return flags->ready + ((uint64_t)kind * wave->workgroups + wave->workgroup) * t3_peer_flag_bytes(flags->gpus);
}

void t3_tell_peer(struct t3_wave* wave, const struct t3_peer_flags* flags, uint32_t kind, uint32_t gpu) {
  const uint8_t ready = 1;
  t3_write(wave, t3_on_gpu(gpu, first_of(wave, flags, kind) + flags->gpu), &ready, sizeof ready);
}

/* The bytes of other GPUs in the word that begins with flag `first`. */
static uint64_t of_others(const struct t3_peer_flags* flags, uint32_t first, uint64_t flag) {
  uint64_t all = 0;
  for (uint32_t i = 0; i < T3_PEER_FLAG_WORD && first + i < flags->gpus; ++i)
    if (first + i != flags->gpu) all |= flag << 8 * i;
  return all;
}

/* Lanes of a wavefront poll together. */
static bool await_word(struct t3_wave* wave, const struct t3_peer_flags* flags, uint32_t kind, uint32_t first) {
  const struct t3_condition condition = {.address = first_of(wave, flags, kind) + first,
                                         .bytes = T3_PEER_FLAG_WORD,
                                         .comparison = T3_EQUAL,
                                         .mask = of_others(flags, first, UINT8_MAX),
                                         .value = of_others(flags, first, 1)};
  return condition.mask == 0 || t3_wait_value(wave, condition);
}

bool t3_await_peers(struct t3_wave* wave, const struct t3_peer_flags* flags, uint32_t kind) {
  for (uint32_t first = 0; first < flags->gpus; first += T3_PEER_FLAG_WORD)
    if (!await_word(wave, flags, kind, first)) return false;
  return true;
}
