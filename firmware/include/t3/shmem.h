/* The host's side of a symmetric heap for kernels. The GPUs are joined by NICs alone, or by NICs and links. Kernels use
 * it by t3/shmem_device.h.
 *
 * All GPUs make the same calls in the same order. t3_shmem_init opens queue pairs to all others, exchanges keys over
 * the hosts' network and writes a table to memory. A kernel receives the table's address as an argument. The table also
 * lists the GPUs that kernels' loads and stores reach: those that this GPU's links have a route to. */
#ifndef T3_SHMEM_H
#define T3_SHMEM_H

#include "t3/nic.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { T3_SHMEM_GPUS_MAX = 16, T3_SHMEM_QUEUES_MAX = T3_NIC_COMPLETION_BASE_COUNT };

struct t3_shmem_options {
  uint64_t heap_bytes;
  uint32_t contexts; /* each has a queue pair to each other GPU: contexts x (gpus - 1) up to T3_SHMEM_QUEUES_MAX */
  uint32_t entries;  /* of the rings of each: a power of two, 2 or more */
  bool cached_completions; /* kernels read completions through the cache; only where the NIC's writes invalidate it */
  bool for_host;           /* the queue pairs are the host's, for t3_nic_post_send, and kernels find no context */
};

struct t3_shmem_heap {
  uint64_t table;       /* for t3_shmem_ctx_open */
  uint64_t table_bytes; /* table, queues and tickets, from `table` on: a kernel's plan shares these */
  uint64_t heap, heap_bytes;
  uint64_t used;
  uint32_t key;
  uint32_t queue_count;
  struct t3_nic_queue queues[T3_SHMEM_QUEUES_MAX];
};

/* T3_CAPACITY: more GPUs or queue pairs than there may be. T3_MISMATCH: another GPU asks for something else, or has
 * other addresses; the HAL's log says which GPU and what. */
enum t3_status t3_shmem_init(struct t3_context* context, struct t3_shmem_options options, struct t3_shmem_heap* heap);
/* A piece of the heap, 256-byte aligned, at the same local address on all GPUs. T3_MISMATCH: another GPU asks for
 * another piece, as above. */
enum t3_status t3_shmem_malloc(struct t3_context* context, struct t3_shmem_heap* heap, uint64_t bytes,
                               uint64_t* address);
/* Closes the heap. To be called when no kernel on any GPU uses it any more. Waits until all posted messages have ended.
 * Everything is closed even if a message has ended with an error that no t3_shmem_quiet has reported. The code is then
 * t3_nic_status of the first such syndrome. */
enum t3_status t3_shmem_finalize(struct t3_context* context, struct t3_shmem_heap* heap);

#ifdef __cplusplus
}
#endif

#endif
