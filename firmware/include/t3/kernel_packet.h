/* The 128-byte packet by which the driver asks the compute cluster for a kernel, little endian. The hardware's view is
 * models/compute/kernel_packet.h; a test compares them. */
#ifndef T3_KERNEL_PACKET_H
#define T3_KERNEL_PACKET_H

#include <stdint.h>

#include "t3/kernel_handle.h"

enum t3_kernel_flags {
  T3_KERNEL_UPDATE = 1,      /* stores of out are near-memory updates */
  T3_KERNEL_UNCACHED = 2,    /* loads and stores of out bypass the cache */
  T3_KERNEL_TRANSPOSE_B = 4, /* b is n x k */
  T3_KERNEL_NEAR_MEMORY = 8, /* reduce-scatter updates peer_out instead of storing to peer_staging */
  T3_KERNEL_TRANSPOSE_A = 16 /* a is k x m */
};

/* completion_signal: no counter. */
#define T3_KERNEL_NO_SIGNAL UINT32_C(0xFFFFFFFF)

struct t3_kernel_packet {
  /* What every packet begins with. */
  uint32_t kernel;            /* t3_kernel_handle of its name */
  uint32_t completion_signal; /* counter of the signals block that grows by 1 when the packet has ended */
  uint64_t arguments;         /* 0: the operands follow here */

  uint32_t m, n; /* elements */
  uint64_t out;  /* local address, as all others but peers' */
  union {
    uint64_t a;
    uint64_t peer_out; /* ring: the receiver's out */
  };
  union {
    uint64_t b;
    uint64_t staging; /* reduce-scatter: own receive buffer, laid out as out */
  };
  union {
    uint64_t c;            /* rows, attention: third operand */
    uint64_t peer_staging; /* reduce-scatter: the receiver's */
  };
  union {
    uint64_t signal_epoch; /* ring: value of its signals before this kernel; step s waits for signal_epoch + s */
    float factor;          /* rows, attention */
  };
  uint32_t ldo, lda, ldb; /* bytes from one row to the next */
  union {
    uint32_t ldc;         /* rows: as lda */
    uint32_t signal_base; /* ring: workgroup w counts received steps in signal signal_base + w */
  };
  union {
    uint32_t k;    /* GEMM: elements */
    uint32_t seed; /* rows: of the dropout */
  };
  uint32_t first_workgroup;   /* GEMM: where the order of workgroups starts; it wraps around */
  uint32_t workgroups;        /* GEMM: all of the output's; ring: how many share a chunk, the same on all GPUs */
  uint32_t max_compute_units; /* 0: all */
  uint32_t gpu, gpus;         /* position in the ring and its size */
  uint32_t a_batch, b_batch, out_batch; /* bytes from one matrix of a batch to the next */
  uint16_t tile_rows, tile_columns;
  uint16_t batches; /* GEMM, attention: 0 and 1 mean one */
  uint8_t element;
  uint8_t wavefronts; /* of a GEMM workgroup, 1 to 8 */
  uint8_t operation;  /* rows: enum t3_row_operation; attention: enum t3_attention_pass */
  uint8_t reserved;   /* 0 */
  uint16_t flags;     /* enum t3_kernel_flags */
};

#endif
