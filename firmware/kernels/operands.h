/* What kernels expect of their operands in memory. Checks return false when they have refused the kernel. */
#ifndef T3_KERNELS_OPERANDS_H
#define T3_KERNELS_OPERANDS_H

#include <inttypes.h>

#include "t3/check.h"
#include "t3/device.h"
#include "t3/element_bytes.h"
#include "t3/kernel_packet.h"

/* An address in a text. */
#define T3_HEX "0x%" PRIx64

enum { T3_ROWS_MAX = 1 << 30, T3_TILE_ROWS_MAX = 1024 }; /* of columns as well */

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

static inline uint64_t t3_batches_of(const struct t3_kernel_packet* p) { return p->batches == 0 ? 1 : p->batches; }

/* Where the last matrix of a batch starts. */
static inline uint64_t t3_last_of(const struct t3_kernel_packet* p, uint64_t batch) {
  return (t3_batches_of(p) - 1) * batch;
}

static inline uint64_t t3_row_of_out(const struct t3_kernel_packet* p) {
  return (uint64_t)p->n * t3_element_bytes((enum t3_element)p->element);
}

/* All that lies between the first and the last byte. */
static inline struct t3_range t3_range_of(const struct t3_matrices* m) {
  return (struct t3_range){m->address, m->address + t3_bytes_of(m)};
}

/* The output, which every kernel has, and what the packet says of it. `flags` are what this kernel looks at. */
bool t3_check_output(struct t3_check* check, const struct t3_kernel_packet* p, uint16_t flags, bool in_tiles);

/* A field that the kernel does not look at is 0: whoever sets it expects something of it. */
struct t3_unused_field {
  const char* name;
  uint64_t value;
};
bool t3_check_unused(struct t3_check* check, const struct t3_unused_field* fields, uint32_t count);

bool t3_check_batch(struct t3_check* check, const struct t3_kernel_packet* p);

/* What one workgroup writes another one may still have to read. */
bool t3_check_overlap(struct t3_check* check, const struct t3_matrices* written, const struct t3_matrices* other);
/* The matrices of a batch that is written. */
bool t3_check_batch_overlap(struct t3_check* check, const struct t3_matrices* out);

#endif
