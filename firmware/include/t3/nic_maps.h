/* Maps of the DMA engine whose way is the NIC: the Tracker's trigger posts a tile to a queue pair, without a compute
 * unit or the host, and the peer's memory adds it and counts it for its own maps (T3 sections 4.2 and 7; models/nic's
 * opcode accumulate). It is for peers that no link leads to, such as those of other nodes. */
#ifndef T3_NIC_MAPS_H
#define T3_NIC_MAPS_H

#include "t3/nic.h"
#include "t3/registers/dma.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { T3_DMA_QUEUES = T3_DMA_QUEUE_ENTRIES_COUNT };

/* Lends a queue pair to the DMA engine as its queue `dma_queue`, below T3_DMA_QUEUES: from then on the engine alone
 * posts to it. Of the driver's calls t3_nic_post_send and t3_nic_destroy_qp are T3_BUSY then; t3_nic_poll_cq and
 * t3_nic_wait give the completions of entries that have failed, the only ones that have any. T3_INVALID_ARGUMENT: the
 * queue pair has not been created, or no such queue of the engine; T3_BUSY: something has been posted to it since it
 * was created, it is lent already, or the engine's queue is in use; T3_ACCESS_DENIED: it is not ready to send, or
 * kernels post to it. */
enum t3_status t3_dma_lend(struct t3_context* context, uint32_t dma_queue, struct t3_nic_queue* queue);
/* Takes it back, to be destroyed: the engine's entries are in it. T3_INVALID_ARGUMENT: it is not lent, or lent as
 * another queue. T3_BUSY while a chunk is mapped by it. */
enum t3_status t3_dma_take_back(struct t3_context* context, uint32_t dma_queue, struct t3_nic_queue* queue);

struct t3_nic_route {
  uint32_t dma_queue; /* that a queue pair has been lent as, whose peer is the GPU of the map */
  uint32_t lkey;      /* of a region here that has the output */
  uint32_t rkey;      /* of the peer's region that has its output, with T3_NIC_REMOTE_ACCUMULATE */
};

/* t3_dma_map with T3_UPDATE by the NIC. When a tile has had all its updates it is added to the peer's output, to which
 * no link has to lead. What the NIC refuses, or does not get acknowledged, is the code of t3_wait_dma: T3_ACCESS_DENIED
 * for a key that does not permit it, T3_NO_PEER for a peer that is gone, and so on; the error log has the entry and its
 * reason. Returns T3_NO_PEER when there is no NIC; T3_INVALID_ARGUMENT: nothing has been lent as that queue. */
enum t3_status t3_dma_map_nic(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk,
                              uint64_t peer_output, const struct t3_nic_route* route, struct t3_dma_options options);

#ifdef __cplusplus
}
#endif

#endif
