/* The 128-byte packet by which the driver asks the compute cluster for a kernel, little endian. The hardware's view is
 * models/compute/kernel_packet.h; a test compares them. */
#ifndef T3_KERNEL_PACKET_H
#define T3_KERNEL_PACKET_H

#include <stdint.h>

enum t3_kernel_kind {
  T3_KERNEL_GEMM = 1,
  T3_KERNEL_RING_REDUCE_SCATTER = 2,
  T3_KERNEL_RING_ALL_GATHER = 3,
  T3_KERNEL_ROWS = 4,
  T3_KERNEL_ATTENTION = 5
};

enum t3_kernel_flags {
  T3_KERNEL_UPDATE = 1,      /* stores of out are near-memory updates */
  T3_KERNEL_UNCACHED = 2,    /* loads and stores of out bypass the cache */
  T3_KERNEL_TRANSPOSE_B = 4, /* b is n x k */
  T3_KERNEL_NEAR_MEMORY = 8, /* reduce-scatter updates peer_out instead of storing to peer_staging */
  T3_KERNEL_TRANSPOSE_A = 16 /* a is k x m */
};

struct t3_kernel_packet {
  uint8_t kind;
  uint8_t element;
  uint16_t flags;
  uint32_t m, n, k;         /* elements */
  uint64_t a, b, out;       /* local addresses */
  uint32_t lda, ldb, ldo;   /* bytes from one row to the next */
  uint32_t first_workgroup; /* GEMM: where the order of workgroups starts; it wraps around */
  uint32_t workgroups;      /* GEMM: all of the output's; ring: how many share a chunk, the same on all GPUs */
  uint32_t gpu, gpus;       /* position in the ring and its size */
  union {
    uint32_t signal_base; /* ring: workgroup w counts received steps in signal signal_base + w */
    uint32_t ldc;         /* rows: as lda */
  };
  uint64_t peer_out; /* ring: the receiver's out */
  union {
    uint64_t staging; /* reduce-scatter: own receive buffer, laid out as out */
    uint64_t c;       /* rows, attention: third operand */
  };
  union {
    uint64_t peer_staging; /* reduce-scatter: the receiver's */
    uint32_t seed;         /* rows: of the dropout */
  };
  union {
    uint64_t signal_epoch; /* value of those signals before this kernel; step s waits for signal_epoch + s */
    float factor;          /* rows, attention */
  };
  uint32_t max_compute_units; /* 0: all */
  uint16_t tile_rows, tile_columns;
  uint8_t wavefronts;                   /* of a GEMM workgroup, 1 to 8 */
  uint8_t operation;                    /* rows: enum t3_row_operation; attention: enum t3_attention_pass */
  uint16_t batches;                     /* GEMM, attention: 0 and 1 mean one */
  uint32_t a_batch, b_batch, out_batch; /* bytes from one matrix of a batch to the next */
};

#endif
