/* Queues as streams: ordered by events, with copies and fills in their order. Queues, barrier packets and the release
 * fence are those of HSA's AQL. The calls are those that HIP and CUDA have for streams:
 *
 * - t3_queue_create (t3/t3.h): hipStreamCreateWithPriority, hipExtStreamCreateWithCUMask
 * - t3_queue_destroy (t3/t3.h): hipStreamDestroy
 * - t3_event_record, t3_event_query, t3_event_wait: hipEventRecord, hipEventQuery, hipEventSynchronize
 * - t3_queue_wait_event: hipStreamWaitEvent
 * - t3_copy, t3_copy_async, t3_fill, t3_fill_async: hipMemcpy(Peer)Async, hipMemsetD32Async
 * - t3_synchronize: hipDeviceSynchronize
 *
 * A GPU has T3_QUEUES queues in hardware. Each created queue is one of them, so that its kernels run beside those of
 * the others; no queue is multiplexed onto another one. Queue 0 exists from t3_init to t3_close.
 *
 * Units. Sizes are in bytes. Deadlines are times of the HAL's clock in ns, and T3_FOREVER is none. They do not depend
 * on t3_set_timeout, which holds for calls without a deadline.
 *
 * Errors. Every call returns T3_OK or a code, and t3_last_error names the parameter at fault. All of them:
 * T3_INVALID_ARGUMENT for a context that is not open, a NULL, or a queue that does not exist or was destroyed; T3_STALE
 * after a reset. Calls that queue something: T3_TIMEOUT when the queue had no room for so long, and nothing is queued.
 *
 * Threads. Handlers may call all of these, also while a call waits. Threads that share a context call one at a time, as
 * for t3/t3.h. */
#ifndef T3_STREAMS_H
#define T3_STREAMS_H

#include "t3/t3.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A point in a queue: behind all kernels that had been queued when the event was recorded. It is plain data, which may
 * be copied, and needs no destruction. An event of zeros has not been recorded. */
struct t3_event {
  uint64_t owner; /* of the context that recorded it; 0: nobody */
  const struct t3_context* context;
  uint64_t kernel; /* number of the last kernel before it; 0: none */
  uint32_t queue;
};

/* Whether kernels of later calls release at their end (AQL's release fence): the last-level cache is written back and
 * emptied before the kernel counts as ended. Then host, DMA engine and peers read what the kernel has stored, without
 * t3_flush_cache. It is off in a new queue; the write-backs take their simulated time when it is on. */
enum t3_status t3_queue_set_release(struct t3_context* context, uint32_t queue, bool release);

/* Records the event behind all that the queue has now. It takes no time and queues nothing. */
enum t3_status t3_event_record(struct t3_context* context, uint32_t queue, struct t3_event* event);
/* T3_OK when the event has happened: all kernels before it have ended, with whatever code (t3_wait_queue reports
 * failures). T3_BUSY when it has not. T3_INVALID_ARGUMENT, here and in the two calls below, for an event that was never
 * recorded or that another context has recorded. */
enum t3_status t3_event_query(struct t3_context* context, const struct t3_event* event);
/* Waits on the host until the event has happened. T3_TIMEOUT behind the deadline; T3_STUCK when it can never happen. */
enum t3_status t3_event_wait(struct t3_context* context, const struct t3_event* event, uint64_t deadline_ns);
/* What is queued behind this call runs when the event has happened. The GPU's dispatcher waits (a barrier packet, AQL's
 * barrier-AND), the host does not. The packet takes a place in the queue and a number among its kernels. An event of
 * the same queue, or one that is known to have happened, queues nothing. */
enum t3_status t3_queue_wait_event(struct t3_context* context, uint32_t queue, const struct t3_event* event);

/* Copies bytes in the order of the queue, by a kernel on the queue's compute units. One of `to` and `from` is in this
 * GPU's memory, the other one there or in a peer's. Addresses are multiples of 32, bytes is a multiple of 4
 * (T3_UNALIGNED). T3_INVALID_ARGUMENT for 0 bytes, or when no end is here; T3_NO_PEER for a GPU that the node has not;
 * T3_BAD_ADDRESS beyond memory; T3_OVERLAP when the ranges overlap. The copy sees what earlier kernels of the queue
 * have stored. It releases at its end, so that what it has written is in memory for everybody. What the host has
 * written is copied from memory unless the cache has older bytes of it (t3_flush_cache). Bytes that a peer's kernels
 * have stored and not released are not seen. t3_copy waits for the copy's end and returns its code; t3_copy_async
 * returns when it is queued (t3_last_launch has its number). */
enum t3_status t3_copy(struct t3_context* context, uint32_t queue, uint64_t to, uint64_t from, uint64_t bytes);
enum t3_status t3_copy_async(struct t3_context* context, uint32_t queue, uint64_t to, uint64_t from, uint64_t bytes);
/* Fills this GPU's memory with a 32-bit word, little-endian, as t3_copy writes it. Errors are those of t3_copy. */
enum t3_status t3_fill(struct t3_context* context, uint32_t queue, uint64_t to, uint32_t word, uint64_t bytes);
enum t3_status t3_fill_async(struct t3_context* context, uint32_t queue, uint64_t to, uint32_t word, uint64_t bytes);

/* Waits until the GPU has done all that this context has ordered: kernels of all queues, fills, and the transfers of
 * complete tiles. It does not wait for chunks whose updates are still to come (t3_wait_dma). Returns the first failure
 * of a queue, in the order of their numbers, as t3_wait_queue does. T3_TIMEOUT behind the deadline; T3_STUCK when the
 * wait can never end. */
enum t3_status t3_synchronize(struct t3_context* context, uint64_t deadline_ns);

#ifdef __cplusplus
}
#endif

#endif
