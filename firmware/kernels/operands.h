/* Checks of kernels' operands in memory. They return false when they have refused the kernel. */
#ifndef T3_KERNELS_OPERANDS_H
#define T3_KERNELS_OPERANDS_H

#include <inttypes.h>

#include "t3/address.h"
#include "t3/check.h"
#include "t3/device.h"
#include "t3/element_bytes.h"

/* An address in a text. */
#define T3_HEX "0x%" PRIx64

enum { T3_ROWS_MAX = 1 << 30, T3_TILE_ROWS_MAX = 1024 }; /* of columns as well */
enum { T3_PEERS_MAX = 256 };                             /* GPUs of kernels that send to all others */

/* A matrix that a kernel reads or writes, or a batch of them. */
struct t3_matrices {
  const char* name;
  uint64_t address, rows, row_bytes, stride; /* of the first */
  uint64_t batch, count;                     /* bytes from one to the next */
};

static inline bool t3_unaligned(uint64_t value) { return value % 32 != 0; }

/* Bytes from the start of a matrix to the end of its last row. Rows are at most 2^30 and strides below 2^32: nothing
 * wraps. */
static inline uint64_t t3_extent(uint64_t rows, uint64_t stride, uint64_t row_bytes) {
  return (rows - 1) * stride + row_bytes;
}

/* From the first byte of a batch to its last. */
static inline uint64_t t3_bytes_of(const struct t3_matrices* m) {
  return (m->count - 1) * m->batch + t3_extent(m->rows, m->stride, m->row_bytes);
}

/* The memory of a GPU has these bytes of an operand. */
bool t3_check_held(struct t3_check* check, uint64_t gpu, const char* name, uint64_t address, uint64_t bytes);

/* It is aligned, its rows do not overlap, and it is in this GPU's memory. */
bool t3_check_matrix(struct t3_check* check, const struct t3_matrices* matrix);

/* Bytes in one piece, as an operand. */
static inline struct t3_matrices t3_piece(const char* name, uint64_t address, uint64_t bytes) {
  return (struct t3_matrices){name, address, 1, bytes, 0, 0, 1};
}
/* It is aligned, and in this GPU's memory. */
bool t3_check_piece(struct t3_check* check, const struct t3_matrices* piece);

/* The kernel runs on the GPU that its arguments say, one of 2 to T3_PEERS_MAX. */
bool t3_check_place(struct t3_check* check, uint32_t gpu, uint32_t gpus);
/* Stores to where the same lies on all other GPUs get there. */
bool t3_check_reach(struct t3_check* check, uint32_t gpu, uint32_t gpus, const char* name, uint64_t sent);

/* An output as its kernel's arguments say it is. */
struct t3_output_operand {
  uint64_t address;
  uint32_t rows, columns;
  uint32_t stride; /* bytes from one row to the next */
  uint8_t element; /* enum t3_element */
};

/* Matrices of one shape, bytes from one to the next. */
struct t3_batch_operand {
  uint16_t batches; /* 0 and 1 mean one */
  uint32_t out, first, second;
};

static inline uint64_t t3_batches_of(uint16_t batches) { return batches == 0 ? 1 : batches; }

static inline uint64_t t3_row_bytes_of(uint32_t columns, uint8_t element) {
  return (uint64_t)columns * t3_element_bytes((enum t3_element)element);
}

/* All that lies between the first and the last byte. */
static inline struct t3_range t3_range_of(const struct t3_matrices* m) {
  return (struct t3_range){m->address, m->address + t3_bytes_of(m)};
}

/* Returns the same piece on any GPU, without the GPU number. */
static inline struct t3_range t3_local_range(struct t3_matrices piece) {
  piece.address &= T3_LOCAL_MASK;
  return t3_range_of(&piece);
}

bool t3_check_output(struct t3_check* check, const struct t3_output_operand* out);
/* In tiles of this size. */
bool t3_check_tiles(struct t3_check* check, const struct t3_output_operand* out, uint32_t rows, uint32_t columns);

struct t3_named_value {
  const char* name;
  uint64_t value;
};
/* Refuses arguments that have no meaning with the others and are not 0: the caller expects an effect of them. */
bool t3_check_unused(struct t3_check* check, const struct t3_named_value* fields, uint32_t count);
/* 0 or 1. */
bool t3_check_switches(struct t3_check* check, const struct t3_named_value* fields, uint32_t count);

bool t3_check_batch(struct t3_check* check, const struct t3_output_operand* out, const struct t3_batch_operand* batch);

/* Each of so many counters is one that there is, and none the barrier's. */
bool t3_check_counters(struct t3_check* check, uint32_t first, uint64_t count);

/* A grid has fewer than 2^32 workgroups. */
bool t3_check_workgroups(struct t3_check* check, uint64_t workgroups);

/* Refuses an overlap: one workgroup could write what another one has yet to read. */
bool t3_check_overlap(struct t3_check* check, const struct t3_matrices* written, const struct t3_matrices* other);
/* Pieces that a kernel reads beside what it writes. */
bool t3_check_pieces_beside(struct t3_check* check, const struct t3_matrices* pieces, uint32_t count,
                            const struct t3_matrices* written);
/* The matrices of a batch that is written. */
bool t3_check_batch_overlap(struct t3_check* check, const struct t3_matrices* out);

#endif
