/* SHMEM for kernels: one-sided accesses to a symmetric heap (t3/shmem.h) on other GPUs. The kernel posts them to this
 * GPU's NIC, as with ROC_SHMEM.
 *
 * Calls and the order of their arguments are those of OpenSHMEM and NVSHMEM; `pe` is a GPU's number. An address in the
 * heap is always this GPU's own, also where it denotes the same offset on another GPU. A wave posts through a context.
 * Waves that share a context post one at a time, and their messages to one GPU arrive in that order. A put of a later
 * call is placed behind all before it to the same GPU and context. A call that has posted returns when the NIC has been
 * notified. The memory that a put reads must not change until t3_shmem_quiet has returned. The NIC does not see data
 * that waves have stored there through the cache: store them uncached, and call t3_fence.
 *
 * A mistake, such as an address outside of the heap, ends the kernel by t3_fail; so does a completion with an error.
 * The error log has the request, the GPU, the address and the syndrome. Otherwise a call returns T3_OK. It returns
 * T3_BAD_ACCESS when memory has refused an access to a queue, which also fails the kernel.
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

/* A wave's handle of a context. It is in local memory, where all waves of a workgroup may use it, or on the stack. */
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
/* Does the same, and then writes the 8 bytes `signal` at `sig_addr` there. */
enum t3_status t3_shmem_putmem_signal_nbi(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint64_t dest,
                                          uint64_t source, uint64_t bytes, uint64_t sig_addr, uint64_t signal,
                                          uint32_t pe);
/* Writes 8 bytes, which are in the message. */
enum t3_status t3_shmem_uint64_p(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint64_t dest, uint64_t value,
                                 uint32_t pe);
/* Reads `bytes` bytes at `source` on GPU `pe` and returns when they are at `dest` in this GPU's heap. */
enum t3_status t3_shmem_getmem(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint64_t dest, uint64_t source,
                               uint64_t bytes, uint32_t pe);
/* Orders what the context posts to GPU `pe`: later messages are placed behind all that it has posted so far. The call
 * does not wait. It posts an entry of its own, a read of 0 bytes, as ROC_SHMEM flushes the peer's host data path. */
enum t3_status t3_shmem_fence(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint32_t pe);
/* Returns when all that the context has posted so far, to any GPU, has been placed: a read of 0 bytes, then its
 * completion. */
enum t3_status t3_shmem_quiet(struct t3_wave* wave, const struct t3_shmem_ctx* shmem);

#ifdef __cplusplus
}
#endif

#endif
