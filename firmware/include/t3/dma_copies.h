/* Copies by the DMA engine, without compute units: bytes of this GPU's memory go to any GPU, and a flag behind them.
 * A kernel that polls the flag (t3_wait_value) or the host of any GPU then finds all bytes in memory.
 *
 * Each of the engine's queues (system file: dma.copy_queues) does one copy after the other; the queues work at once.
 * Their counterpart is a copy engine of a GPU, such as those behind hipMemcpyPeerAsync (SDMA) and cudaMemcpyPeerAsync.
 * The engine reads memory, not the last-level cache: release or flush first what kernels have stored (t3/streams.h).
 *
 * Errors. All calls: T3_INVALID_ARGUMENT for a context that is not open; T3_STALE after a reset. */
#ifndef T3_DMA_COPIES_H
#define T3_DMA_COPIES_H

#include "t3/t3.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An integer in memory of any GPU that a copy writes when its bytes are in the target's memory. Zeros: none. */
struct t3_dma_flag {
  uint64_t address; /* a multiple of bytes */
  uint32_t bytes;   /* 1, 2, 4 or 8 */
  uint64_t value;
};

struct t3_dma_copy {
  uint64_t to, from, bytes;
  struct t3_dma_flag flag;
  /* Traffic attribution of the DRAM accesses of both ends: enum t3_traffic_class (t3/traffic_class.h). 0: control. */
  uint8_t reads, writes;
};

/* The queues of the engine, numbered from 0. */
enum t3_status t3_dma_copy_queues(struct t3_context* context, uint32_t* queues);
/* Queues a copy and returns. Addresses are multiples of 32, bytes is a multiple of 4, a flag's address is a multiple of
 * its bytes (T3_UNALIGNED). T3_BAD_ADDRESS beyond memory, or when `from` is not here; T3_NO_PEER when no link leads to
 * `to`; T3_OVERLAP when the ranges overlap; T3_INVALID_ARGUMENT for 0 bytes, another width of a flag, or a queue that
 * there is not; T3_BUSY when the queue has as many copies as it holds (dma.copies). */
enum t3_status t3_queue_dma_copy(struct t3_context* context, uint32_t queue, const struct t3_dma_copy* copy);
/* Waits until all copies of all queues have ended: their targets' memories have answered. Returns the first failure of
 * a transfer (T3_NO_PEER, T3_BAD_ADDRESS), T3_TIMEOUT or T3_STUCK. */
enum t3_status t3_wait_dma_copies(struct t3_context* context);

#ifdef __cplusplus
}
#endif

#endif
