/* Rows of matrices that guests load, compute and store, and where other GPUs have something. */
#ifndef GUEST_ROWS_H
#define GUEST_ROWS_H

#include <string.h>

#include "t3/arguments/gemm.h"
#include "t3/device.h"

enum { PEER_ROW = 0x4000, PEER_DATA = 0x5000, COUNTERS = 0x6000 };

/* Eight numbers of a row of a or out. */
static inline struct t3_access row_of(uint64_t matrix, uint32_t row) {
  return (struct t3_access){
      .address = matrix + row * UINT64_C(32), .stride = 32, .rows = 1, .columns = 8, .element = T3_FP32};
}

static const struct t3_tile first = {0, 1, 8, T3_FP32}, second = {1, 1, 8, T3_FP32};

static inline void load_row(struct t3_wave* wave, uint64_t address) {
  t3_load(wave, first, row_of(address, 0));
  t3_wait_tile(wave, first);
}

static inline void compute_first(struct t3_wave* wave) {
  t3_work(wave, &(struct t3_vector_work){.operations = 1, .operands = 1, .tiles = {first}});
}

static inline const struct t3_gemm_arguments* operands_of(const struct t3_wave* wave) { return wave->arguments; }

/* Sets a member to the bytes of an uninitialized structure. */
static inline void unset(bool* member) { memset(member, 0xA5, sizeof *member); }

#endif
