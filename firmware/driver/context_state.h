/* The driver's use of resources that a GPU has a fixed number of. */
#ifndef T3_DRIVER_CONTEXT_STATE_H
#define T3_DRIVER_CONTEXT_STATE_H

#include <stddef.h>

#include "t3/kernel_packet.h"
#include "t3/registers/system.h"
#include "t3/t3.h"

/* "T3VP", what system.identity reads. */
#define T3_IDENTITY UINT32_C(0x54335650)

/* Kernel packets in the ring in memory, a power of two. */
#define T3_QUEUE_ENTRIES 16
#define T3_RING_BYTES (T3_QUEUE_ENTRIES * T3_KERNEL_PACKET_ENTRY_BYTES)

/* The 512 signal counters: T3_SIGNAL_BARRIER, and one per workgroup of the ring kernels. All ring kernels share them,
 * since what a workgroup receives comes from one sender, kernel after kernel. */
#define T3_SIGNAL_RING 16

/* The scratch registers: who has the GPU, and what a closed context has left for the next, since signal counters only
 * grow. A reset clears all of it. */
enum t3_scratch { T3_SCRATCH_OWNER, T3_SCRATCH_BARRIER_ROUNDS, T3_SCRATCH_RING_EPOCH, T3_SCRATCH_RING_WORKGROUPS };
enum t3_owner { T3_OWNER_NONE_SINCE_RESET, T3_OWNER_CONTEXT, T3_OWNER_CLOSED };
#define T3_OWNER_BITS 2                    /* above them, when the context was opened: no two are at the same time */
#define T3_RING_BROKEN (UINT64_C(1) << 32) /* beside the ring workgroups */
#define T3_RINGS_SHIFT 33 /* above it, the rings of packets at the end of memory: they stay until a reset */

/* The register of the system block that has it. */
static inline uint32_t t3_scratch(uint32_t index) {
  return T3_SYSTEM_SCRATCH_OFFSET + index * T3_SYSTEM_SCRATCH_STRIDE;
}

/* "T3 open?": what an open context begins with. */
#define T3_CONTEXT_MAGIC UINT64_C(0x5433206F70656E3F)

/* The handler of an interrupt line. It is NULL when there is none. */
struct t3_vector {
  t3_handler* handler;
  void* argument;
  uint32_t priority;
};

/* Who frees a piece of memory: the program by t3_free, or a part of the driver. */
enum t3_allocation_owner { T3_PROGRAMS_MEMORY, T3_SHMEM_MEMORY };

struct t3_allocation {
  uint64_t address;
  uint64_t bytes : 56; /* more than any memory has */
  uint64_t owner : 8;  /* enum t3_allocation_owner */
};

/* The first kernel that has failed; T3_OK: none has. */
struct t3_kernel_failure {
  enum t3_status code;
  uint64_t number;
};

/* What a call says about its failure: the parameter at fault and what was expected of it, or no parameter and what has
 * failed. */
struct t3_fault {
  enum t3_status status;
  const char *argument, *text;
};

struct t3_queue_state {
  bool is_open, is_changed;             /* changed: t3_set_queue has */
  bool releases;                        /* its kernels release at their end */
  uint64_t base, submitted;             /* its ring of packets; kernels since reset */
  uint64_t first_kernel;                /* the number of those that contexts before this one have submitted */
  uint64_t told;                        /* the number of kernels whose ends have been reported to the handler */
  struct t3_kernel_failure failures[2]; /* not yet reported by t3_wait_kernels to: the program, a handler */
  uint32_t known_failures;              /* as the kernel queue counts them */
  uint64_t looked_at;                   /* kernels that had ended then */
};

/* The contents of a struct t3_context. Its memory is the caller's, of another type. */
struct __attribute__((may_alias)) t3_state {
  uint64_t magic;                  /* what an open one begins with */
  const struct t3_context* itself; /* a copy is none */
  const struct t3_hal* hal;
  uint64_t owner; /* what says in the GPU that this context has it, another number for each */
  uint32_t gpu, gpus;
  uint64_t memory_bytes; /* of every GPU */
  uint32_t ring_workgroups;
  uint32_t enabled_lines;
  struct t3_vector vectors[T3_LINE_COUNT];
  uint32_t masked_lines, raised_lines; /* a bit each; raised: noticed by a wait, not reported to the handler */
  uint32_t running_priority;           /* of the handler that runs, 0: none */
  uint32_t calls;                      /* of the driver that have begun and not returned */
  bool stale;                          /* another context is known to have the GPU, or none since it was reset */
  uint64_t timeout_ns;
  uint64_t heap_begin, heap_end, memory_end; /* what t3_malloc gives out; the driver's own is outside */
  uint64_t rings_end;                        /* the last bytes of memory hold so many queues' rings of packets */
  uint32_t rings;
  struct t3_allocation allocations[T3_ALLOCATIONS_MAX]; /* by address */
  uint32_t allocation_count;
  struct t3_queue_state queues[T3_QUEUES];
  uint32_t queue;                               /* in use */
  struct t3_kernel_wait* kernel_waits;          /* t3_wait_kernels calls that wait now, the latest first */
  uint32_t nic_queues;                          /* queue pairs of the NIC that are not in reset */
  struct t3_allocation nic_rings[T3_NIC_PAIRS]; /* their memory, by number; no bytes: in reset */
  uint64_t barrier_rounds;                      /* since reset */
  uint32_t barrier_round;                       /* of the barrier that a timeout has left */
  bool barrier_told;                            /* the neighbour knows of that round */
  uint64_t ring_epoch, last_ring;               /* the ring kernel in flight, 0: none */
  uint32_t ring_queue;                          /* that it is in */
  bool ring_broken;  /* a ring kernel was aborted: the counters of the GPUs do not agree any more */
  bool ring_refused; /* the latest ring kernel was: neighbours may be in theirs */
  bool filling;      /* a fill's end has not been noticed */
  enum t3_status fill_code;
  bool in_barrier, in_fill;
  uint32_t spill_entries;
  const char* call;                /* that calls others of the driver and is named for them; NULL: none */
  struct t3_fault fault;           /* of the call that is about to return */
  struct t3_call_error last_error; /* of the latest call that has failed; no call: none has, or it has been read */
  bool error_is_open;              /* the platform has been notified of one that has not been read */
};

/* The state of a context. Tests in C++ look at it, too. */
#ifdef __cplusplus
inline t3_state* state_of(t3_context* context) { return reinterpret_cast<t3_state*>(context); }
inline const t3_state* const_state_of(const t3_context* context) { return reinterpret_cast<const t3_state*>(context); }
#else
static inline struct t3_state* state_of(struct t3_context* context) { return (struct t3_state*)context; }
static inline const struct t3_state* const_state_of(const struct t3_context* context) {
  return (const struct t3_state*)context;
}

_Static_assert(sizeof(struct t3_state) <= sizeof(struct t3_context), "a context has room for the state");
_Static_assert(_Alignof(struct t3_state) <= _Alignof(struct t3_context), "a context is aligned as the state");
#endif

/* Whether the context has been filled by t3_init, here and not where it was copied from, and not been closed. */
static inline bool t3_is_open(const struct t3_context* context) {
  return context != NULL && const_state_of(context)->magic == T3_CONTEXT_MAGIC &&
         const_state_of(context)->itself == context;
}

/* Whether another context has the GPU, or none, since it was reset. False when that cannot be read. Once it is known,
 * the context writes nothing any more: every call is T3_STALE. */
bool t3_is_stale(struct t3_context* context);

#endif
