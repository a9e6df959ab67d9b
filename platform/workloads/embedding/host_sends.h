/* Sends by the NICs of the results that GPUs have pooled for each other, after a kernel's end. The node's CPU posts
 * them, as in the left half of GPU-initiated overlap's Figure 3. */
#ifndef T3_HOST_SENDS_H
#define T3_HOST_SENDS_H

#include "t3/shmem.h"
#include "workloads/embedding/embedding_layout.h"
#include "workloads/shared/host_times.h"

struct t3_host_sends {
  const struct t3_embedding* embedding;
  struct t3_host_times times;
  struct t3_shmem_heap* heap;       /* of one context, that has both buffers */
  uint64_t pooled, received;        /* {global_batch, columns}; {gpus, this GPU's samples, columns}, on all GPUs */
  uint32_t keys[T3_SHMEM_GPUS_MAX]; /* of all heaps */
};

/* Exchanges keys and makes queue pairs ready to receive, before the GPUs meet. */
enum t3_status t3_prepare_host_sends(struct t3_context* gpu, struct t3_host_sends* sends);
/* Called after the kernels' end. Sends all, and waits until the others' results have arrived and all sends have
 * ended. */
enum t3_status t3_send_by_host(struct t3_context* gpu, struct t3_host_sends* sends);

#endif
