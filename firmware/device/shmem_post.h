/* What the device side of the symmetric heap posts by. A wave is its caller; a failure ends the kernel. */
#ifndef T3_DEVICE_SHMEM_POST_H
#define T3_DEVICE_SHMEM_POST_H

#include "t3/nic_opcode.h"
#include "t3/nic_segment.h"
#include "t3/nic_work_entry.h"
#include "t3/shmem_device.h"

#define T3_SHMEM_CTX_OPENED UINT64_C(0x4E45504F58544353) /* "SCTXOPEN" */

/* A message to a GPU. */
struct t3_shmem_message {
  const char* name; /* of the call, for the timeline and the text of a failure */
  struct t3_nic_work_entry head;
  struct t3_nic_segment segment;
  uint64_t value; /* inline where there is no segment; what a fetch-and-add adds */
};

/* Each ends the kernel by t3_fail with one line unless its condition holds. The context is open. */
void t3_shmem_require_open(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, const char* name);
/* The context is open, and the GPU another one of its GPUs. */
void t3_shmem_require_pe(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, const char* name, uint32_t gpu);
/* 1 byte or more, and all of them in this GPU's heap. */
void t3_shmem_require_heap(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, const char* name, uint64_t address,
                           uint64_t bytes);
/* 8 bytes of this GPU's heap at a multiple of 8. */
void t3_shmem_require_integer(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, const char* name,
                              uint64_t address);

/* Posts `count` messages, one directly behind the other, and returns the last one's number. */
enum t3_status t3_shmem_post(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, uint32_t gpu,
                             const struct t3_shmem_message* messages, uint32_t count, uint64_t* last);
/* Waits until the announced entry of this number has ended. A later entry may use its slot by then. */
enum t3_status t3_shmem_await_end(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, const char* name,
                                  uint32_t gpu, uint64_t number);
/* A write of 8 bytes that are in the message. */
struct t3_shmem_message t3_shmem_inline_write(const char* name, uint32_t gpu, uint64_t remote, uint64_t value);
/* Address of the heap's counters on this GPU (t3/shmem_sync.h). Ends the kernel where the heap has none. */
uint64_t t3_shmem_sync_of(struct t3_wave* wave, const struct t3_shmem_ctx* shmem, const char* name);

#endif
