/* The host's side of a symmetric heap for kernels (OpenSHMEM 1.5, NVSHMEM). The GPUs are joined by NICs alone, or by
 * NICs and links. Kernels use it by t3/shmem_device.h.
 *
 * A PE is a GPU: t3_gpu and t3_gpus return the program's own number and their count. The calls are collective: the
 * programs of all GPUs make the same calls in the same order, and each call waits for the others. An address is this
 * GPU's own; the same piece has the same local address on every GPU.
 *
 * t3_shmem_init opens queue pairs to all others, exchanges keys over the hosts' network and writes a table to memory. A
 * kernel receives the table's address as an argument. The table also lists the GPUs that kernels' loads and stores
 * reach: those that this GPU's links have a route to.
 *
 * Units. Sizes are in bytes.
 *
 * Errors. A call returns T3_OK or a code, and t3_last_error names call and parameter. All of them: T3_INVALID_ARGUMENT
 * for a NULL, a heap that is not open, or an option out of its range; T3_TIMEOUT when the other programs have not come
 * within the time of t3_set_timeout, and T3_STUCK when they never can; T3_STALE after a reset. A refusal of a parameter
 * does not wait for the other programs. What a call returns besides is said there.
 *
 * Threads. One thread of a program makes these calls, one at a time, and no handler does: they wait for the programs of
 * the other GPUs. Handlers run meanwhile. A heap belongs to the driver during a call. */
#ifndef T3_SHMEM_H
#define T3_SHMEM_H

#include "t3/nic.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  T3_SHMEM_GPUS_MAX = 16,
  T3_SHMEM_QUEUES_MAX = T3_NIC_COMPLETION_BASE_COUNT,
  T3_SHMEM_PIECES_MAX = 64 /* live pieces of a heap */
};

struct t3_shmem_options {
  uint64_t heap_bytes; /* 1 or more; rounded up to 256 */
  uint32_t contexts;   /* each has a queue pair to each other GPU: contexts x (gpus - 1) up to T3_SHMEM_QUEUES_MAX */
  uint32_t entries;    /* of the rings of each: a power of two, 2 or more */
  bool cached_completions; /* kernels read completions through the cache; only where the NIC's writes invalidate it */
  bool for_host;           /* the queue pairs are the host's, for t3_nic_post_send, and kernels find no context */
  bool collectives; /* kernels call t3_shmem_barrier_all, t3_shmem_alltoallmem, T3_SHMEM_SIGNAL_ADD or an add without
                       result. Their counters take 32 + 8 x contexts x (gpus + 1) bytes more */
};

/* A live piece of a heap: its address on this GPU, and its bytes, a multiple of 256. */
struct t3_shmem_piece {
  uint64_t address, bytes;
};

/* An open heap. The program reads `table`, `table_bytes`, `heap`, `heap_bytes`; the rest is the driver's. */
struct t3_shmem_heap {
  uint64_t table;            /* for t3_shmem_ctx_open */
  uint64_t table_bytes;      /* table, queues, tickets and counters, from `table` on: a kernel's plan shares these */
  uint64_t heap, heap_bytes; /* the heap's address on this GPU and its size */
  uint32_t key;              /* of the heap at this GPU's NIC: lkey here, rkey for peers */
  uint32_t piece_count;
  struct t3_shmem_piece pieces[T3_SHMEM_PIECES_MAX]; /* by address */
  uint32_t queue_count;
  struct t3_nic_queue queues[T3_SHMEM_QUEUES_MAX];
};

/* Opens a heap, like shmem_init. Its memory is the driver's: t3_free of any address in it is T3_BUSY. When the call
 * fails nothing of the heap stays. T3_CAPACITY: more GPUs, queue pairs or entries than there may be. T3_OUT_OF_MEMORY:
 * no room in this GPU's memory. T3_MISMATCH: another GPU asks for something else, or has other addresses; the HAL's log
 * says which GPU and what. T3_BUSY: one of the queue pairs from 0 on, or its completion queue, is in use.
 * T3_BAD_ADDRESS: there are several GPUs, and this one has no NIC. */
enum t3_status t3_shmem_init(struct t3_context* context, struct t3_shmem_options options, struct t3_shmem_heap* heap);
/* Allocates from the first gap of the heap that is large enough, like nvshmem_malloc. The piece is 256-byte aligned and
 * not zeroed. T3_OUT_OF_MEMORY: no gap is large enough. T3_TABLE_FULL: T3_SHMEM_PIECES_MAX pieces are live.
 * T3_MISMATCH: another GPU asks for another size or has other pieces, as above. */
enum t3_status t3_shmem_malloc(struct t3_context* context, struct t3_shmem_heap* heap, uint64_t bytes,
                               uint64_t* address);
/* Frees a piece by the address that t3_shmem_malloc has given here, like nvshmem_free. No kernel or message of any GPU
 * may use it any more. T3_INVALID_ARGUMENT: no live piece begins at the address, on any GPU. T3_MISMATCH: another GPU
 * frees another piece, as above. */
enum t3_status t3_shmem_free(struct t3_context* context, struct t3_shmem_heap* heap, uint64_t address);
/* Closes the heap with all its pieces, like shmem_finalize. To be called when no kernel on any GPU uses it any more.
 * Waits until all posted messages have ended. Everything is closed even if a message has ended with an error that no
 * t3_shmem_quiet has reported. The code is then t3_nic_status of the first such syndrome. */
enum t3_status t3_shmem_finalize(struct t3_context* context, struct t3_shmem_heap* heap);

#ifdef __cplusplus
}
#endif

#endif
