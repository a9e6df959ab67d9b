/* One chunk of a t3_dma_map: its progress by polling, by interrupt, and by a signal to a kernel (T3, ASPLOS 2024,
 * section 4.4: consumers of single chunks). Threads and handlers may call these as those of t3/t3.h. */
#ifndef T3_CHUNK_PROGRESS_H
#define T3_CHUNK_PROGRESS_H

#include "t3/t3.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Signal counters of a GPU that chunks may use: 1 to 15. Counter 0 is the barrier's; ring kernels have those from 16
 * on. */
enum { T3_CHUNK_SIGNAL_FIRST = 1, T3_CHUNK_SIGNALS = 15 };

/* Wavefront tiles of a chunk. With several peers each tile counts once for each of them. */
struct t3_chunk_progress {
  uint64_t done; /* acknowledged by the peer, or final for T3_NOTIFY */
  uint64_t tiles;
};

/* The address of a counter's register on the context's GPU, for the t3_wait_counter of a kernel; 0 for a counter that
 * is not for chunks. */
uint64_t t3_chunk_signal_address(const struct t3_context* context, uint32_t signal);
/* Value of the counter now. Counters only grow: a kernel waits for the value before the map plus 1. */
enum t3_status t3_chunk_signal_value(struct t3_context* context, uint32_t signal, uint64_t* value);

/* t3_dma_map whose chunk adds 1 to the counter when it is complete: T3_CHUNK_SIGNAL_FIRST and the T3_CHUNK_SIGNALS - 1
 * after it, T3_INVALID_ARGUMENT for others. Several chunks may share one. A kernel that waits for it needs no host in
 * between. */
enum t3_status t3_dma_map_signal(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk,
                                 uint64_t peer_output, enum t3_operation operation, struct t3_dma_options options,
                                 uint32_t signal);

/* The same, but the chunk adds 1 when it is complete in this GPU's memory. It may still be on its way to the peer. */
enum t3_status t3_dma_map_ready_signal(struct t3_context* context, const struct t3_output* output,
                                       struct t3_chunk chunk, uint64_t peer_output, enum t3_operation operation,
                                       struct t3_dma_options options, uint32_t signal);

/* Polls: T3_OK when the chunk is complete, T3_BUSY when it is not, with how far it is in `progress` unless that is
 * NULL. T3_INVALID_ARGUMENT when t3_dma_map has not mapped the chunk; the error log says which. */
enum t3_status t3_chunk_status(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk,
                               struct t3_chunk_progress* progress);
/* Waits by interrupt until the chunk is complete. Deadlines are times of the HAL's clock in ns (T3_TIMEOUT); T3_FOREVER
 * is none. T3_INVALID_ARGUMENT as above. Returns what t3_wait_dma would for an access that did not fit its map
 * (T3_MISMATCH, T3_EXCESS) and for the first tile that failed, of whichever chunk: the hardware keeps one such code. */
enum t3_status t3_wait_chunk(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk,
                             uint64_t deadline_ns);

#ifdef __cplusplus
}
#endif

#endif
