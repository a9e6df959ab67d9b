/* The driver of the GPU's NIC: memory regions, queue pairs, posting, completions. Its registers are in
 * t3/registers/nic.h, what lies in memory in t3/nic_work_entry.h, t3/nic_segment.h and t3/nic_completion.h.
 *
 * All is about memory of this GPU, by addresses as t3_malloc returns them. A GPU without a NIC answers T3_BAD_ADDRESS.
 * A queue pair has a completion queue of its own here, with as many entries, and all entries that are posted are
 * signaled: without writes with immediate from its peer, completion n is that of entry n.
 *
 * A queue pair has one user: the host by these calls, with one struct t3_nic_queue, or kernels (t3/shmem_device.h). Of
 * a queue pair of kernels the host's posts and polls are T3_ACCESS_DENIED. */
#ifndef T3_NIC_H
#define T3_NIC_H

#include "t3/nic_cause.h"
#include "t3/nic_completion.h"
#include "t3/nic_opcode.h"
#include "t3/nic_syndrome.h"
#include "t3/nic_tile.h"
#include "t3/registers/nic.h"
#include "t3/t3.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The access rights of a region. Messages of this NIC may always read from it. */
enum {
  T3_NIC_LOCAL_WRITE = T3_NIC_REGION_ACCESS_LOCAL_WRITE_MASK,
  T3_NIC_REMOTE_READ = T3_NIC_REGION_ACCESS_REMOTE_READ_MASK,
  T3_NIC_REMOTE_WRITE = T3_NIC_REGION_ACCESS_REMOTE_WRITE_MASK,
  T3_NIC_REMOTE_ATOMIC = T3_NIC_REGION_ACCESS_REMOTE_ATOMIC_MASK,
  T3_NIC_REMOTE_ACCUMULATE = T3_NIC_REGION_ACCESS_REMOTE_ACCUMULATE_MASK,
  T3_NIC_ALL_ACCESS =
      T3_NIC_LOCAL_WRITE | T3_NIC_REMOTE_READ | T3_NIC_REMOTE_WRITE | T3_NIC_REMOTE_ATOMIC | T3_NIC_REMOTE_ACCUMULATE
};

/* Registers memory and returns its key, local and remote in one. */
enum t3_status t3_nic_reg_mr(struct t3_context* context, uint64_t address, uint64_t bytes, uint32_t access,
                             uint32_t* key);
/* Invalidates the key. Later requests with it are refused. */
enum t3_status t3_nic_dereg_mr(struct t3_context* context, uint32_t key);

enum { T3_NIC_ENTRIES_MAX = 32768, T3_NIC_RECORD_BYTES = 64 };

/* A queue pair with its completion queue of the same size. The caller chooses number, completion queue, entries and
 * memory. Its rings and its doorbell record stay in that memory until the queue pair is reset: t3_free of it is T3_BUSY
 * until then. */
struct t3_nic_queue {
  uint32_t number;           /* queue pair */
  uint32_t completion_queue; /* that no other queue pair has */
  uint32_t entries;          /* of either ring: a power of two up to T3_NIC_ENTRIES_MAX */
  uint32_t receives;         /* the driver's: receive entries posted since it was created */
  uint64_t memory;           /* of t3_malloc, 64-byte aligned, t3_nic_queue_bytes(entries) */
  /* Counts since the queue pair was created: posted entries, entries known to have ended, and taken completions. The
   * latter include those of peers' writes with immediate. */
  uint32_t posted, ended, taken;
  bool is_open;    /* the driver's: between t3_nic_create_qp and t3_nic_reset_qp */
  bool is_kernels; /* the driver's: kernels post to it */
  bool is_lent;    /* the driver's: to the DMA engine, see t3/nic_maps.h */
};

static inline uint64_t t3_nic_queue_bytes(uint32_t entries) { return T3_NIC_RECORD_BYTES + (uint64_t)entries * 96; }
/* The addresses of its parts. */
static inline uint64_t t3_nic_record_of(const struct t3_nic_queue* queue) { return queue->memory; }
static inline uint64_t t3_nic_send_of(const struct t3_nic_queue* queue) { return queue->memory + T3_NIC_RECORD_BYTES; }
static inline uint64_t t3_nic_completions_of(const struct t3_nic_queue* queue) {
  return t3_nic_send_of(queue) + (uint64_t)queue->entries * 64;
}

/* Writes empty rings and takes the queue pair from reset to init. T3_BUSY when it is in another state, or another queue
 * pair has the completion queue; T3_OVERLAP when another queue pair has some of the memory, T3_INVALID_ARGUMENT when it
 * is not all of one piece that t3_malloc has given. Calls with a queue that has not been created, or was reset:
 * T3_INVALID_ARGUMENT. */
enum t3_status t3_nic_create_qp(struct t3_context* context, struct t3_nic_queue* queue);
/* Joins it with the peer's queue pair, which joins with this one: ready to receive and to send. T3_BUSY when it is not
 * in init. */
enum t3_status t3_nic_connect(struct t3_context* context, const struct t3_nic_queue* queue, uint32_t peer,
                              uint32_t peer_queue_pair);
/* One of T3_NIC_STATE_NOW_... */
enum t3_status t3_nic_query_qp(struct t3_context* context, const struct t3_nic_queue* queue, uint32_t* state);
/* Discards all entries and leaves the queue pair uninitialized, so that it can be created again. Returns T3_BUSY while
 * the DMA engine owns it. */
enum t3_status t3_nic_reset_qp(struct t3_context* context, struct t3_nic_queue* queue);

struct t3_nic_message {
  enum t3_nic_opcode opcode;
  uint64_t remote_address;
  uint32_t remote_key;
  uint32_t immediate;      /* of a write with immediate */
  bool fence;              /* begins when all reads and fetch-and-adds before it have ended */
  const void* inline_data; /* of a write: these bytes, and nothing local; else NULL */
  uint64_t local_address;  /* what a write brings, where the result of a read or of a fetch-and-add of 8 bytes goes */
  uint32_t local_key;
  uint32_t bytes; /* of inline data up to T3_NIC_INLINE_BYTES; 0: a message of nothing, without local memory */
  uint64_t addend;
  struct t3_nic_tile tile; /* of an accumulate: rows of both sides; local_address and bytes say where and how many */
};

enum { T3_NIC_INLINE_BYTES = 32 };

/* Posts one message. Writes the entry, then the doorbell record, then rings. T3_BUSY while the ring is full:
 * completions have to be taken; or while the DMA engine has the queue pair. T3_ACCESS_DENIED: it is not connected, or
 * kernels post to it. T3_BAD_VALUE: somebody else has posted to it, and this entry has overwritten one of theirs. */
enum t3_status t3_nic_post_send(struct t3_context* context, struct t3_nic_queue* queue,
                                const struct t3_nic_message* message);
/* Posts `count` more receive entries, 1 or more, for peers' writes with immediate. Each such write takes one. */
enum t3_status t3_nic_post_recv(struct t3_context* context, struct t3_nic_queue* queue, uint32_t count);
/* Takes the completions that have come, `most` of them at most, 1 or more. `count` is how many it has taken; T3_OK
 * when there is none. */
enum t3_status t3_nic_poll_cq(struct t3_context* context, struct t3_nic_queue* queue, uint32_t most,
                              struct t3_nic_completion* completions, uint32_t* count);
/* Waits by the NIC's interrupt until there is a completion, and takes it. */
enum t3_status t3_nic_wait(struct t3_context* context, struct t3_nic_queue* queue,
                           struct t3_nic_completion* completion);

/* The code of a call that fails for how its entry has ended: the reason in it, or what its syndrome means. */
enum t3_status t3_nic_status(const struct t3_nic_completion* completion);

#ifdef __cplusplus
}
#endif

#endif
