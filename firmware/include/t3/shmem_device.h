/* SHMEM for kernels: one-sided accesses to a symmetric heap (t3/shmem.h) on other GPUs. The kernel posts them to this
 * GPU's NIC, as with ROC_SHMEM. Names and orders of arguments are those of OpenSHMEM 1.5 and NVSHMEM; before them come
 * the wave and its context.
 *
 * PEs and addresses. A PE is a GPU's number; calls that send take another GPU than this one. An address in the heap is
 * always this GPU's own, also where it denotes the same offset on another GPU. Sizes are in bytes.
 *
 * Waves. Any wave may call, by an open context. Waves that share a context post one at a time, and their messages to
 * one GPU are placed in that order. Messages of different contexts have no order. Collective calls say who makes them.
 *
 * Completion. A call that has posted returns when the NIC has been notified. What a put reads must not change, and what
 * a get or a fetch-and-add brings must not be used, until t3_shmem_quiet has returned. The NIC reads memory, not the
 * cache: store its data uncached, and call t3_fence before the put.
 *
 * Errors. A mistake ends the kernel by t3_fail with T3_ABORTED. The error log has the call, what was found and what was
 * expected. Mistakes of all calls are a handle that is not open, an address outside of the heap or not aligned as said,
 * no bytes, and this GPU or one that there is not as `pe`. A completion with an error ends the kernel as well; the log
 * has GPU, address and syndrome. Otherwise a call returns T3_OK. It returns T3_BAD_ACCESS when memory has refused an
 * access to a queue, which also fails the kernel. docs/guides/drivers/nic-errors.md has all texts.
 *
 * The kernel's plan shares t3_shmem_heap's table, of table_bytes, in local addresses, and sets `doorbells`. */
#ifndef T3_SHMEM_DEVICE_H
#define T3_SHMEM_DEVICE_H

#include "t3/address.h"
#include "t3/device.h"
#include "t3/shmem_queue.h"
#include "t3/shmem_table.h"
#include "t3/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { T3_SHMEM_DEVICE_GPUS_MAX = 16 };

/* A handle of a context. It is on a wave's stack, or in local memory, where all waves of the workgroup may use it. */
struct t3_shmem_ctx {
  uint64_t opened, claimed; /* the library's: whether it is open, and the table that it is or will be open for */
  struct t3_shmem_table table;
  uint32_t context;
  struct t3_shmem_queue queues[T3_SHMEM_DEVICE_GPUS_MAX];
};

/* Opens a handle of one of the contexts that the table at this address lists (t3_shmem_options.contexts). A handle in
 * local memory has one context: opening it for another one ends the kernel. All other calls with a handle that is not
 * open end the kernel. */
enum t3_status t3_shmem_ctx_open(struct t3_wave* wave, uint64_t table, uint32_t context, struct t3_shmem_ctx* shmem);

/* The number of this GPU, and how many GPUs have the heap; both 0 while the handle is not open. */
uint32_t t3_shmem_my_pe(const struct t3_shmem_ctx* shmem);
uint32_t t3_shmem_n_pes(const struct t3_shmem_ctx* shmem);

/* The address by which loads and stores reach `dest` on GPU `pe`, or on this one. 0: none do, or the handle is not
 * open. */
uint64_t t3_shmem_ptr(const struct t3_shmem_ctx* shmem, uint64_t dest, uint32_t pe);

/* Writes `bytes` bytes of this GPU's heap at `source` to `dest` on GPU `pe`. */
enum t3_status t3_shmem_putmem_nbi(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint64_t dest,
                                   uint64_t source, uint64_t bytes, uint32_t pe);

/* What a put does with its signal: NVSHMEM_SIGNAL_SET and NVSHMEM_SIGNAL_ADD. */
enum t3_shmem_signal_op T3_OF_32_BITS { T3_SHMEM_SIGNAL_SET, T3_SHMEM_SIGNAL_ADD };

/* Puts like t3_shmem_putmem_nbi. When the data are placed, it sets the 8 bytes at `sig_addr` there to `signal`, or adds
 * to them. `sig_addr` is a multiple of 8 outside of the data. t3_wait_value waits for a signal here. ADD: the heap has
 * `collectives`. */
enum t3_status t3_shmem_putmem_signal_nbi(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint64_t dest,
                                          uint64_t source, uint64_t bytes, uint64_t sig_addr, uint64_t signal,
                                          enum t3_shmem_signal_op sig_op, uint32_t pe);
/* Writes 8 bytes, which are in the message, to `dest`, a multiple of 8. */
enum t3_status t3_shmem_uint64_p(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint64_t dest, uint64_t value,
                                 uint32_t pe);

/* Reads `bytes` bytes at `source` on GPU `pe` to `dest` in this GPU's heap, where they are after t3_shmem_quiet. */
enum t3_status t3_shmem_getmem_nbi(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint64_t dest,
                                   uint64_t source, uint64_t bytes, uint32_t pe);
/* Does the same and returns when they are there. */
enum t3_status t3_shmem_getmem(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint64_t dest, uint64_t source,
                               uint64_t bytes, uint32_t pe);

/* Adds to the 8 bytes at `dest` on GPU `pe`, at once between all other accesses to them. What was there before is at
 * `fetch` in this GPU's heap after t3_shmem_quiet (shmem_uint64_atomic_fetch_add_nbi). Both are multiples of 8. The
 * peer's near-memory units have to be on. Fetch-and-add is the NIC's one atomic operation. */
enum t3_status t3_shmem_uint64_atomic_fetch_add_nbi(struct t3_wave* wave, const struct t3_shmem_ctx* shmem,
                                                    uint64_t fetch, uint64_t dest, uint64_t value, uint32_t pe);
/* Does the same and returns when the old value is at `fetch`. */
enum t3_status t3_shmem_uint64_atomic_fetch_add(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint64_t fetch,
                                                uint64_t dest, uint64_t value, uint32_t pe);
/* Adds, and nobody learns what was there before. The heap has `collectives`. */
enum t3_status t3_shmem_uint64_atomic_add(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint64_t dest,
                                          uint64_t value, uint32_t pe);

/* Orders what the context posts to each GPU: later messages are placed behind all that it has posted so far. The call
 * does not wait. It posts an entry of its own to each GPU, a read of 0 bytes, as ROC_SHMEM flushes the peer's host data
 * path. */
enum t3_status t3_shmem_fence(struct t3_wave* wave, const struct t3_shmem_ctx* shmem);
/* Does the same for GPU `pe` alone, an extension. */
enum t3_status t3_shmem_pe_fence(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint32_t pe);
/* Returns when all that the context has posted so far, to any GPU, has been placed, and all that it has read has come:
 * a read of 0 bytes from each GPU, then its completion. */
enum t3_status t3_shmem_quiet(struct t3_wave* wave, const struct t3_shmem_ctx* shmem);

/* Waits until all GPUs have called it. Before that, all that the context has posted, and the wave's stores, are placed
 * everywhere. One wave of each GPU calls it, all by contexts of one number. The heap has `collectives`. */
enum t3_status t3_shmem_barrier_all(struct t3_wave* wave, const struct t3_shmem_ctx* shmem);
/* Sends block g of `source` to GPU g, where it becomes block t3_shmem_my_pe of `dest`. A block has `bytes` bytes, an
 * even number; both arrays have one block for each GPU, in this GPU's heap, at even addresses, without common bytes.
 * The call ends as t3_shmem_barrier_all and is made as it is: `source` may then change, and `dest` is complete. Before
 * the call no GPU may use its `dest` any more. This GPU's own block goes through `tile`, one of the wave's tiles, which
 * it overwrites. */
enum t3_status t3_shmem_alltoallmem(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint64_t dest,
                                    uint64_t source, uint64_t bytes, uint32_t tile);

#ifdef __cplusplus
}
#endif

#endif
