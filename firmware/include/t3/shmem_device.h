/* SHMEM for kernels: one-sided accesses to a symmetric heap (t3/shmem.h) on other GPUs, posted to this GPU's NIC from
 * inside the kernel, as ROC_SHMEM does.
 *
 * Calls and the order of their arguments are those of OpenSHMEM and NVSHMEM; `pe` is a GPU's number. Addresses in the
 * heap are this GPU's own, also where they mean the same place on another GPU. A wave posts in the name of a context;
 * waves that share one alternate, and their messages to one GPU arrive in that order. A put of a later call is placed
 * behind all before it to the same GPU and context. Calls that have posted return when the NIC has been notified; the
 * memory that a put reads stays as it is until t3_shmem_quiet has returned. Data that the wave, or others, have stored
 * there through the cache are not seen by the NIC: store them uncached, and t3_fence.
 *
 * A mistake, such as an address outside of the heap, and a completion with an error end the kernel by t3_fail: what was
 * asked for, the GPU, the address and the syndrome are in the error log. Otherwise calls return T3_OK, or T3_BAD_ACCESS
 * when memory has refused an access to a queue, which is the kernel's failure as well.
 *
 * The kernel's plan shares t3_shmem_heap's table, of table_bytes, in local addresses, and says `doorbells`. */
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

/* What a wave knows of a context: in local memory, where all waves of a workgroup may use it, or on the stack. */
struct t3_shmem_ctx {
  struct t3_shmem_table table;
  uint32_t context;
  struct t3_shmem_queue queues[T3_SHMEM_DEVICE_GPUS_MAX];
};

/* Reads the table at this address. The context is one of the table's. */
enum t3_status t3_shmem_ctx_open(struct t3_wave* wave, uint64_t table, uint32_t context, struct t3_shmem_ctx* shmem);

/* The address by which loads and stores reach `dest` on GPU `pe`, or on this one; 0 where none do. */
uint64_t t3_shmem_ptr(const struct t3_shmem_ctx* shmem, uint64_t dest, uint32_t pe);

/* Writes `bytes` bytes of this GPU's heap at `source` to `dest` on GPU `pe`. */
enum t3_status t3_shmem_putmem_nbi(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint64_t dest,
                                   uint64_t source, uint64_t bytes, uint32_t pe);
/* The same, and behind it the 8 bytes `signal` at `sig_addr` there. */
enum t3_status t3_shmem_putmem_signal_nbi(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint64_t dest,
                                          uint64_t source, uint64_t bytes, uint64_t sig_addr, uint64_t signal,
                                          uint32_t pe);
/* Writes 8 bytes, which are in the message. */
enum t3_status t3_shmem_uint64_p(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint64_t dest, uint64_t value,
                                 uint32_t pe);
/* Reads `bytes` bytes at `source` on GPU `pe` and returns when they are at `dest` in this GPU's heap. */
enum t3_status t3_shmem_getmem(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint64_t dest, uint64_t source,
                               uint64_t bytes, uint32_t pe);
/* Orders what the context posts to GPU `pe`: what follows is placed behind all that it has posted so far. No caller
 * waits: it is an entry of its own, a read of 0 bytes, as ROC_SHMEM flushes the peer's host data path. */
enum t3_status t3_shmem_fence(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint32_t pe);
/* Returns when all that the context has posted so far, to any GPU, has been placed: a read of 0 bytes, then its
 * completion. */
enum t3_status t3_shmem_quiet(struct t3_wave* wave, const struct t3_shmem_ctx* shmem);

#ifdef __cplusplus
}
#endif

#endif
