/* The driver of the GPU's NIC: memory regions, queue pairs, posting, completions. The words are those of verbs, as
 * libibverbs of rdma-core has them: reg_mr, create_qp, modify_qp, post_send, poll_cq, lkey, rkey. The NIC's registers
 * are in t3/registers/nic.h, what lies in memory in t3/nic_work_entry.h, t3/nic_segment.h and t3/nic_completion.h.
 *
 * Addresses and units. All is about memory of this GPU, by addresses as t3_malloc returns them. Sizes are in bytes.
 *
 * Queue pairs. A queue pair has a completion queue of its own here, with as many entries, and all entries that are
 * posted are signaled: without writes with immediate from its peer, completion n is that of entry n. It has one user:
 * the host by these calls, with one struct t3_nic_queue, or kernels (t3/shmem_device.h).
 *
 * Errors. Every call returns T3_OK or a code, and t3_last_error names the parameter at fault. All of them:
 * T3_INVALID_ARGUMENT for a NULL, a number out of its range, or a queue that has not been created or was destroyed;
 * T3_ACCESS_DENIED for posts to and polls of a queue pair of kernels; T3_BAD_ADDRESS on a GPU without a NIC; T3_STALE
 * after a reset. What a call returns besides is said there.
 *
 * Threads. Handlers may call all of these, also while a call waits. Threads that share a context call one at a time, as
 * for t3/t3.h. A struct t3_nic_queue belongs to the driver during a call, and must not be copied between calls. */
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

/* Registers `bytes` bytes, 1 or more, from `address` on, like ibv_reg_mr. `access` is a sum of the rights above. The
 * key in `key` is both lkey and rkey of the region: messages here and messages of peers name it. T3_INVALID_ARGUMENT:
 * no bytes, or an unknown right. T3_BAD_ADDRESS: not all of it is this GPU's memory. T3_TABLE_FULL: the NIC's table of
 * regions is full. */
enum t3_status t3_nic_reg_mr(struct t3_context* context, uint64_t address, uint64_t bytes, uint32_t access,
                             uint32_t* key);
/* Invalidates the key, like ibv_dereg_mr. Later requests with it are refused, and so is the rest of a peer's message
 * that is being placed. T3_INVALID_ARGUMENT: no valid key. */
enum t3_status t3_nic_dereg_mr(struct t3_context* context, uint32_t key);

enum { T3_NIC_ENTRIES_MAX = 32768, T3_NIC_RECORD_BYTES = 64 };

/* A queue pair with its completion queue of the same size. The caller chooses number, completion queue, entries and
 * memory; the rest is the driver's. Its rings and its doorbell record stay in that memory until t3_nic_destroy_qp:
 * t3_free of it is T3_BUSY until then. */
struct t3_nic_queue {
  uint32_t number;           /* of the queue pair, below T3_NIC_PAIRS: verbs' qp_num */
  uint32_t completion_queue; /* below T3_NIC_COMPLETION_BASE_COUNT, one that no other queue pair has */
  uint32_t entries;          /* of either ring: a power of two up to T3_NIC_ENTRIES_MAX */
  uint32_t receives;         /* the driver's: receive entries posted since it was created */
  uint64_t memory;           /* of t3_malloc, 64-byte aligned, t3_nic_queue_bytes(entries) */
  /* Counts since the queue pair was created: posted entries, entries known to have ended, and taken completions. The
   * latter include those of peers' writes with immediate. */
  uint32_t posted, ended, taken;
  bool is_open;    /* the driver's: between t3_nic_create_qp and t3_nic_destroy_qp */
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

/* The states of a queue pair, by verbs' short names: reset, init, ready to receive, ready to send, error. */
enum t3_nic_qp_state T3_OF_32_BITS {
  T3_NIC_QPS_RESET = T3_NIC_STATE_NOW_RESET,
  T3_NIC_QPS_INIT = T3_NIC_STATE_NOW_INIT,
  T3_NIC_QPS_RTR = T3_NIC_STATE_NOW_READY_TO_RECEIVE,
  T3_NIC_QPS_RTS = T3_NIC_STATE_NOW_READY_TO_SEND,
  T3_NIC_QPS_ERR = T3_NIC_STATE_NOW_ERROR
};

/* What t3_nic_modify_qp changes: of verbs' struct ibv_qp_attr, what this NIC has. */
struct t3_nic_qp_attr {
  enum t3_nic_qp_state qp_state;
  uint32_t dest_gpu;    /* to T3_NIC_QPS_RTR: the peer's GPU. An address handle says that in verbs. */
  uint32_t dest_qp_num; /* to T3_NIC_QPS_RTR: number of the peer's queue pair */
};

/* Writes empty rings and takes the queue pair from reset to init, which are two calls in verbs. T3_UNALIGNED: its
 * memory is not 64-byte aligned. T3_INVALID_ARGUMENT: its memory is not all of one piece of t3_malloc. T3_OVERLAP:
 * another queue pair has some of the memory. T3_BUSY: it is in another state, or another queue pair has the completion
 * queue. */
enum t3_status t3_nic_create_qp(struct t3_context* context, struct t3_nic_queue* queue);
/* Takes the queue pair to another state, like ibv_modify_qp. To T3_NIC_QPS_RTR it goes from init, and is the peer's
 * from then on, whose own queue pair names this one. To T3_NIC_QPS_RTS it goes from there. To T3_NIC_QPS_ERR it goes
 * from any state, and all its entries are flushed. T3_NO_PEER: there is no such GPU. T3_BUSY: it is not in the state
 * before. T3_BAD_VALUE: the NIC refuses it, and the error log says why. */
enum t3_status t3_nic_modify_qp(struct t3_context* context, const struct t3_nic_queue* queue,
                                const struct t3_nic_qp_attr* attr);
/* Reads the state, one of enum t3_nic_qp_state, also of a queue pair that has not been created. */
enum t3_status t3_nic_query_qp(struct t3_context* context, const struct t3_nic_queue* queue, uint32_t* state);
/* Discards all entries and takes the queue pair to reset, so that it can be created again and its memory be freed.
 * T3_BUSY while the DMA engine has it (t3/nic_maps.h). */
enum t3_status t3_nic_destroy_qp(struct t3_context* context, struct t3_nic_queue* queue);

/* A message: what struct ibv_send_wr with one scatter/gather element is in verbs. */
struct t3_nic_message {
  enum t3_nic_opcode opcode;
  uint64_t remote_address;
  uint32_t rkey;           /* of the peer's region that has remote_address */
  uint32_t immediate;      /* of a write with immediate */
  bool fence;              /* begins when all reads and fetch-and-adds before it have ended */
  const void* inline_data; /* of a write: these bytes, and nothing local; else NULL */
  uint64_t local_address;  /* what a write brings, where the result of a read or of a fetch-and-add of 8 bytes goes */
  uint32_t lkey;           /* of a region here that has local_address */
  uint32_t bytes;          /* of inline data up to T3_NIC_INLINE_BYTES; 0: a message of nothing, without local memory */
  uint64_t addend;         /* of a fetch-and-add */
  struct t3_nic_tile tile; /* of an accumulate: rows of both sides; local_address and bytes say where and how many */
};

enum { T3_NIC_INLINE_BYTES = 32 };

/* Posts one message, like ibv_post_send: writes the entry, then the doorbell record, then rings. It returns before
 * anything is sent. T3_BUSY: the ring is full, so that completions have to be taken, or the DMA engine has the queue
 * pair. T3_CAPACITY: more than T3_NIC_INLINE_BYTES inline. T3_ACCESS_DENIED: it is not ready to send, or kernels post
 * to it. T3_BAD_VALUE: somebody else has posted to it, and this entry has overwritten one of theirs. */
enum t3_status t3_nic_post_send(struct t3_context* context, struct t3_nic_queue* queue,
                                const struct t3_nic_message* message);
/* Posts `count` more receive entries, 1 or more, for peers' writes with immediate. Each such write takes one. They have
 * no buffers, other than those of ibv_post_recv. */
enum t3_status t3_nic_post_recv(struct t3_context* context, struct t3_nic_queue* queue, uint32_t count);
/* Takes the completions that have come, `most` of them at most, 1 or more, like ibv_poll_cq. `completions` has room for
 * as many; `count` is how many it has taken. T3_OK when there is none, and whatever has failed: each completion says
 * how its entry has ended (t3_nic_status). */
enum t3_status t3_nic_poll_cq(struct t3_context* context, struct t3_nic_queue* queue, uint32_t most,
                              struct t3_nic_completion* completions, uint32_t* count);
/* Waits by the NIC's interrupt until there is a completion, and takes it. T3_TIMEOUT after the time of t3_set_timeout,
 * T3_STUCK when none can come any more. */
enum t3_status t3_nic_wait(struct t3_context* context, struct t3_nic_queue* queue,
                           struct t3_nic_completion* completion);

/* The code of a call that fails for how its entry has ended: the reason in it, or what its syndrome means. It needs no
 * context. T3_INVALID_ARGUMENT for NULL. */
enum t3_status t3_nic_status(const struct t3_nic_completion* completion);

#ifdef __cplusplus
}
#endif

#endif
