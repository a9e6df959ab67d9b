/* What GPUs have pooled for each other, sent by their NICs after a kernel's end: the host posts, as in the left half of
 * GPU-initiated overlap's Figure 3. */
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
/* Behind the kernels' end: sends all and waits until what the others send is here, and all that is sent has ended. */
enum t3_status t3_send_by_host(struct t3_context* gpu, struct t3_host_sends* sends);

#endif
