/* Driver of a GPU that overlaps a GEMM with the collective on its output (T3, ASPLOS 2024, section 4.4).
 *
 * Calls may be made from handlers, too, while another call waits. What must not overlap is T3_BUSY then: two fills, two
 * barriers, and closing the context.
 *
 * Every call takes a context, returns T3_OK or the code of what went wrong, and leaves the GPU usable. Addresses are
 * the node's: the GPU number in bits 63..44 (t3/address.h). Sizes are in elements unless named bytes. */
#ifndef T3_T3_H
#define T3_T3_H

#include <stdbool.h>
#include <stdint.h>

#include "t3/address.h"
#include "t3/element.h"
#include "t3/enumeration.h"
#include "t3/old_names.h"
#include "t3/row_operations.h"
#include "t3/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct t3_hal;

/* Leaves the calling function with the code of a call that failed. */
#define T3_TRY(call)                                  \
  do {                                                \
    const enum t3_status t3_try_status = (call);      \
    if (t3_try_status != T3_OK) return t3_try_status; \
  } while (0)

/* A timeout without end. */
#define T3_FOREVER UINT64_MAX

enum t3_operation T3_OF_32_BITS { T3_STORE = 1, T3_UPDATE = 2, T3_NOTIFY = 3 };

enum t3_memory_kind T3_OF_32_BITS { T3_CACHED, T3_UNCACHED };

/* The policies of memory_controller.arbitration. */
enum t3_arbitration T3_OF_32_BITS {
  T3_ROUND_ROBIN,
  T3_COMPUTE_FIRST,
  T3_MCA,
  T3_SELECT,
  T3_PLUGIN_POLICY /* the first of the run's libraries of policies; the next one is T3_PLUGIN_POLICY + 1 */
};

/* Special values of `limit` in t3_set_arbitration. T3_LIMIT_BY_BANDS: the policy's default, which is its bands with
 * mca. T3_LIMIT_NONE, mca alone: no limit. */
enum { T3_LIMIT_BY_BANDS = 0, T3_LIMIT_NONE = 255 };

/* Workgroups that can share a chunk in ring kernels: each has a signal counter of its own, and 16 of the 512 are the
 * driver's. */
enum { T3_RING_WORKGROUPS_MAX = 496 };

/* Bytes of a kernel's arguments that a packet has room for. */
enum { T3_ARGUMENT_ROOM = 96 };

struct t3_matrix {
  uint64_t address;
  uint64_t row_stride; /* bytes from one row to the next, a multiple of 32 */
  uint32_t rows, columns;
  enum t3_element element;
  enum t3_memory_kind memory;
};

/* The tiling of a GEMM's output: one tile per workgroup, shared by its wavefronts. */
struct t3_tiling {
  uint32_t rows, columns;
  uint32_t wavefronts; /* 1 to 8 */
};

struct t3_output {
  struct t3_matrix matrix;
  struct t3_tiling tiling;
};

/* A run of consecutive workgroups of an output, numbered row by row. */
struct t3_chunk {
  uint32_t first_workgroup, workgroups;
};

struct t3_dma_options {
  uint32_t updates;          /* accesses per element after which a wavefront tile is complete: 2 in a ring, as many as
                                there are GPUs where all send to one, 1 to 255 */
  uint32_t block_tiles;      /* wavefront tiles per DMA block, 1 to 8 */
  enum t3_operation counted; /* T3_NOTIFY counts updates unless this is T3_STORE, T3_STORE stores unless it is
                                T3_UPDATE: a sum that is complete, and T3_UPDATE updates */
};

/* Several kernels of one shape in one: matrices that many bytes apart. */
struct t3_batch {
  uint32_t matrices; /* 0 and 1: one; at most 65535 */
  uint32_t a_stride, b_stride, out_stride;
};

struct t3_gemm_options {
  bool transpose_a;           /* a is k x m */
  bool transpose_b;           /* b is n x k */
  bool update;                /* stores of the output are near-memory updates */
  uint32_t first_workgroup;   /* where the order of workgroups starts; it wraps around */
  uint32_t chunks;            /* 0 and 1: the order is that of their numbers. Else one of each of so many chunks (see
                                 t3_chunk_of) in turn, beginning with the chunk of first_workgroup; none of a batch */
  uint32_t group;             /* 0 and 1: the order is as above. Else rows of tiles that are taken together, column by
                                 column; not with chunks or a batch */
  bool group_columns;         /* `group` counts columns of tiles, which are taken together row by row */
  uint32_t max_compute_units; /* 0: all */
  struct t3_batch batch;
  uint32_t split_k;     /* 0 and 1: a workgroup computes a tile. Else so many share it by k, with `update`; no batch */
  uint32_t stages;      /* K tiles of a workgroup that are loaded at a time; 0: as many as the device has room for */
  uint32_t step_ns;     /* of a workgroup from one K tile to the next, beside the matrix lanes' time */
  uint32_t store_bytes; /* bytes that lie together in a store from registers, at most 32. 0: whole sectors */
  uint32_t persistent_workgroups; /* each takes tile after tile; at most 65535. 0: one tile each. No split_k */
};

struct t3_kernel_options {
  uint32_t workgroups;        /* of the grid; 0: as many as the kernel has work for, which ring kernels do not know */
  uint32_t max_compute_units; /* 0: all */
  uint64_t
      argument_memory; /* where the arguments are kept until the kernel has ended, 32-byte aligned; 0: in the packet */
};

struct t3_row_options {
  float factor;
  uint32_t seed; /* what dropout keeps is a function of seed and place */
};

/* Fused attention: out = softmax(factor q k^T) v, and the gradient of q, or those of k and v. */
enum t3_attention_pass T3_OF_32_BITS {
  T3_ATTENTION_FORWARD = 1,
  T3_ATTENTION_BACKWARD_Q = 2,
  T3_ATTENTION_BACKWARD_KV = 3
};

struct t3_attention_operands {
  const struct t3_matrix* qkv;      /* q; k and v beside it in the same rows, each padded to 32 bytes */
  const struct t3_matrix* gradient; /* backward: of the result */
  const struct t3_matrix* result;   /* backward: of the forward pass, rows as far apart as the gradient's */
  struct t3_batch batch;            /* a: qkv, b: gradient and result */
  float factor;
};

struct t3_error {
  enum t3_status code; /* T3_OK: there is none */
  enum t3_block block; /* that reported it */
  uint64_t address;
  uint64_t time_ns;
};

/* What a call has failed with. The texts are constants. */
struct t3_call_error {
  enum t3_status code;  /* T3_OK: there is none */
  const char* call;     /* such as "t3_dma_map" */
  const char* argument; /* the parameter at fault, "" when it is none */
  const char* text;     /* what was expected of the parameter; else what has failed, or the code in words */
};

/* The event that a handler is called for. */
struct t3_interrupt {
  enum t3_line line;
  enum t3_status
      code;        /* how it has ended: the kernel's own, the first failure of a transfer or fill, the log's oldest */
  uint64_t number; /* of the kernel */
  uint32_t queue;  /* of the kernel; the handler begins with it in use */
};

struct t3_context;
typedef void t3_handler(struct t3_context* context, const struct t3_interrupt* interrupt, void* argument);

/* Queues of kernels of a GPU. */
enum { T3_QUEUES = 16 };

/* Scheduling options of a queue of kernels against the other queues. */
struct t3_queue_options {
  uint32_t priority;   /* where there is room for workgroups of several queues, the highest goes first */
  uint64_t cu_mask[8]; /* bit b of word w: compute unit 64 w + b takes workgroups of the queue; all 0: every one does */
};

/* Pieces of memory that a context can give out at a time. */
enum { T3_ALLOCATIONS_MAX = 256 };
/* Queue pairs of a NIC. */
enum { T3_NIC_PAIRS = 64 };

enum { T3_CONTEXT_WORDS = 1024 };

/* A driver's state, in memory that the caller gives: a static variable, a stack, the heap. t3_init fills it, and what
 * it holds is the driver's own. */
struct t3_context {
  uint64_t opaque[T3_CONTEXT_WORDS];
};

/* Takes the GPU over. Returns T3_BUSY while a context has the GPU, this one or another; that context must be closed, or
 * the GPU reset. The context is unchanged unless T3_OK is returned. Calls on a context that is not open return
 * T3_INVALID_ARGUMENT; an open context is recognized by the number that it starts with, also in memory that was never
 * zeroed. */
enum t3_status t3_init(struct t3_context* context, const struct t3_hal* hal);
/* Releases the GPU for another t3_init, which continues where this context has left its neighbours. Returns T3_BUSY
 * while kernels, fills or a barrier are in flight or anything is mapped; the context stays open then. */
enum t3_status t3_close(struct t3_context* context);
/* Every block of the GPU as after power-on, whatever it does; memory keeps its content. Contexts are void after it:
 * what fails in one is T3_STALE, like t3_set_handler, t3_mask, t3_unmask and waits for its kernels, and so is every
 * call behind that; it must not be used beside the next. So are the barriers and ring kernels of the other GPUs with
 * this one: reset them all, then call t3_init on all. */
enum t3_status t3_reset(const struct t3_hal* hal);

/* Sets the longest time of each later wait, in ns. It is T3_FOREVER after t3_init; with 0 calls never wait. An
 * operation that is not over by then continues, and its call returns T3_TIMEOUT: call again, or abort it. */
enum t3_status t3_set_timeout(struct t3_context* context, uint64_t timeout_ns);

/* The number of the context's GPU, how many GPUs there are, and the HAL that t3_init was given, also when it is closed.
 * Of a context of zeros: 0, 0 and NULL. */
uint32_t t3_gpu(const struct t3_context* context);
uint32_t t3_gpus(const struct t3_context* context);
const struct t3_hal* t3_hal_of(const struct t3_context* context);

/* The GPU before this one where GPUs hand on from one to the next by their numbers, whatever links join them: data goes
 * to the previous one and comes from the next (T3 Figure 7). */
uint32_t t3_ring_previous(const struct t3_context* context);

/* Memory comes from the first gap that is large enough, 256-byte aligned. GPUs that call these in the same order get
 * the same local addresses, whatever they map: the driver's own is at the two ends of memory. T3_OUT_OF_MEMORY;
 * T3_TABLE_FULL beyond T3_ALLOCATIONS_MAX pieces. */
enum t3_status t3_malloc(struct t3_context* context, uint64_t bytes, uint64_t* address);
enum t3_status t3_matrix_malloc(struct t3_context* context, struct t3_matrix* matrix);
/* T3_INVALID_ARGUMENT when no piece begins there, as after a first t3_free. T3_BUSY when a queue pair's rings lie in
 * the piece until t3_nic_destroy_qp, or the address is in a symmetric heap (t3_shmem_free, t3_shmem_finalize). Other
 * users of the memory are not asked: kernels, maps and messages must have ended. */
enum t3_status t3_free(struct t3_context* context, uint64_t address);
/* The matrix and the padding of its rows to 32 bytes. Rows that are further apart are T3_INVALID_ARGUMENT: what is
 * between them is another's, so zero one row at a time. After T3_TIMEOUT the fill goes on, and the next one waits for
 * it. */
enum t3_status t3_fill_zero(struct t3_context* context, const struct t3_matrix* matrix);

/* Makes the matrix zero without a write: memory keeps a bit for each 32 bytes that says whether they have been written
 * since, and the first update is a store. Returns T3_TABLE_FULL when there are not enough such bits. Returns T3_BUSY
 * while some of another armed matrix is not written yet. */
enum t3_status t3_arm_zero(struct t3_context* context, const struct t3_matrix* matrix);
/* Gives the armed matrix up, T3_BUSY while somebody is at it: what has not been written holds what memory holds. */
enum t3_status t3_disarm_zero(struct t3_context* context);

/* 0 when there are 2^32 or more, or none. */
uint32_t t3_workgroups(const struct t3_output* output);
/* Returns the chunk; it has no workgroups when there is no such chunk. */
struct t3_chunk t3_chunk_of(const struct t3_output* output, uint32_t index, uint32_t chunks);
/* The chunk that this GPU reaches in step `step` of a reduce-scatter: first the one it sends at once, last its own. */
struct t3_chunk t3_ring_chunk(const struct t3_context* context, const struct t3_output* output, uint32_t step);
/* Returns the address of the same matrix on another GPU that has made the same allocations. No node has a GPU of number
 * 2^20 or more. */
uint64_t t3_peer_address(const struct t3_matrix* matrix, uint32_t gpu);

/* Stores of the chunk go to the peer's memory (T3_STORE or T3_UPDATE) instead of to the local one. The same chunk may
 * be mapped by t3_dma_map as well: that counts what arrives here, from peers. A kernel whose stores there are not of
 * the output's tiles, wavefronts and element type ends with T3_MISMATCH. */
enum t3_status t3_remote_map(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk,
                             uint64_t peer_output, enum t3_operation operation);
/* A wavefront tile of the chunk is sent to the peer by DMA when all its updates have arrived; T3_NOTIFY only marks it
 * complete and needs no peer. When the DMA engine refuses what the Tracker has taken, nothing is mapped. Stores cannot
 * be counted in a T3_CACHED output, whose stores leave the cache at any time. T3_CAPACITY when the Tracker's table in
 * memory is too small, which can grow only while nothing is mapped: map the output with the most tiles first. */
enum t3_status t3_dma_map(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk,
                          uint64_t peer_output, enum t3_operation operation, struct t3_dma_options options);
/* A chunk that t3_dma_map sends goes to this peer as well, by the same operation; each tile is read once. It takes as
 * much room in the DMA engine as a chunk. T3_INVALID_ARGUMENT when the chunk is not mapped, or notified only, or the
 * output has another layout than the map's: wavefronts, tiles, size. T3_BUSY when a tile has been sent. T3_OVERLAP when
 * it goes there already, or has bytes in common with another destination of the chunk. */
enum t3_status t3_dma_map_also(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk,
                               uint64_t peer_output);
/* Room for the Tracker's counts of so many workgroups, tiled as the output, that t3_dma_map has mapped at a time. By
 * itself t3_dma_map makes room for all workgroups of its output, which is too little for chunks of several outputs.
 * T3_BUSY when there is less room and something is mapped. */
enum t3_status t3_reserve_counts(struct t3_context* context, const struct t3_output* output, uint32_t workgroups);
/* Remove the map of one chunk, or all maps. A map is busy from the first access that it counts, or from the start of a
 * kernel that writes its output, until it is complete: T3_BUSY then, and nothing is removed. Each is busy while a
 * kernel is queued that has not begun, which may be about to use any, and all of them while one runs. Otherwise what
 * accesses have met that did not fit a map since there were none: T3_MISMATCH or T3_EXCESS, with the place in the error
 * log. T3_INVALID_ARGUMENT when the chunk is not mapped. */
enum t3_status t3_remote_unmap(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk);
enum t3_status t3_dma_unmap(struct t3_context* context, const struct t3_output* output, struct t3_chunk chunk);
enum t3_status t3_remote_unmap_all(struct t3_context* context);
/* For after a timeout: abort the kernels (t3_abort_kernels), then remove all maps whatever they wait for. Their counts
 * are lost; what still arrives for them is added to memory and logged as aborted. Peers that send here do the same. */
enum t3_status t3_force_unmap_all(struct t3_context* context);
/* Waits until every chunk of t3_dma_map is complete, and returns the error of the first tile that failed. Returns
 * T3_MISMATCH or T3_EXCESS at once when an access did not fit its map, until nothing is mapped. */
enum t3_status t3_wait_dma(struct t3_context* context);
/* Creates a queue besides queue 0, which is open from t3_init on. Kernels of a queue run one after the other. Kernels
 * of several queues run at the same time: they share compute units, cache and memory, and none may write what another
 * one reads or writes. A kernel of workgroups that wait for each other (ring kernels) starts when there is room for all
 * of them. T3_TABLE_FULL when all T3_QUEUES exist. T3_BUSY behind a first t3_dma_map, whose table is where the first
 * queue of that number would be. T3_OUT_OF_MEMORY when the ring's place has been given out. */
enum t3_status t3_queue_create(struct t3_context* context, struct t3_queue_options options, uint32_t* queue);
/* Destroys a queue of t3_queue_create, whose number may come back for a later one. T3_BUSY while it has kernels
 * (t3_wait_queue first), or while it is the queue in use. Its events (t3/streams.h) have happened. */
enum t3_status t3_queue_destroy(struct t3_context* context, uint32_t queue);
/* Queue 0's as well, which has neither priority nor mask at first. T3_BUSY while the queue has kernels. */
enum t3_status t3_set_queue(struct t3_context* context, uint32_t queue, struct t3_queue_options options);
/* Selects the queue for kernels from now on. t3_wait_kernels, t3_last_kernel, t3_wait_kernel and t3_abort_kernels refer
 * to this queue. Ring kernels run one after the other, whatever their queues, since they use the same counters. */
enum t3_status t3_use_queue(struct t3_context* context, uint32_t queue);
/* Kernels run in the order of the calls, which return before they do; a failed one does not keep the next from running.
 * T3_TIMEOUT when there was no room in the queue: the kernel is not in it. */
enum t3_status t3_gemm(struct t3_context* context, const struct t3_output* output, const struct t3_matrix* a,
                       const struct t3_matrix* b, struct t3_gemm_options options);
/* Any kernel of the GPU by its name, with its arguments as they are to lie in memory, which t3_<name>_arguments_to of
 * their generated header writes. T3_CAPACITY when there are more than T3_ARGUMENT_ROOM bytes and no memory for them,
 * T3_UNALIGNED or T3_BAD_ADDRESS when that is not in this GPU's memory, T3_INVALID_ARGUMENT in a queue's ring of
 * packets. It is the kernel's until it has ended. */
enum t3_status t3_run_kernel(struct t3_context* context, const char* kernel, const void* arguments, uint32_t bytes,
                             struct t3_kernel_options options);
/* Operands that the operation has no use for are NULL. `out` is T3_CACHED, here and in t3_attention; operands are read
 * through the cache, whatever their kind. */
enum t3_status t3_rows(struct t3_context* context, enum t3_row_operation operation, const struct t3_matrix* out,
                       const struct t3_matrix* a, const struct t3_matrix* b, const struct t3_matrix* c,
                       struct t3_row_options options);
/* `output` has the rows and columns of q, its tiling those of the tiles of scores; in backward passes it is laid out as
 * qkv. */
enum t3_status t3_attention(struct t3_context* context, enum t3_attention_pass pass, const struct t3_output* output,
                            const struct t3_attention_operands* operands);
/* A ring kernel is queued when the one before it has ended. One that is refused (T3_BAD_PACKET) counts as never queued,
 * so that a right one may follow; neighbours that are in theirs wait for it, or all abort and reset.
 *
 * `staging` receives the neighbour's chunks; without it they are updated near memory in `output` itself, which is
 * T3_UNCACHED and which every GPU must have finished writing (t3_flush_cache, t3_barrier). */
enum t3_status t3_ring_reduce_scatter(struct t3_context* context, const struct t3_output* output,
                                      const struct t3_matrix* staging);
/* Does the same between the GPUs of each node alone, by consecutive numbers. The output has as many chunks as a node
 * has GPUs; chunk p is summed at GPU p of the node. Returns T3_INVALID_ARGUMENT when nodes of this size do not hold all
 * GPUs. */
enum t3_status t3_node_reduce_scatter(struct t3_context* context, const struct t3_output* output,
                                      const struct t3_matrix* staging, uint32_t gpus_per_node);
enum t3_status t3_ring_all_gather(struct t3_context* context, const struct t3_output* output);
/* Waits until all kernels queued before the call have ended. Returns the code of the first one that has failed since
 * the last call that reported a failure. A failure that a handler was called for is reported here too, and so it is to
 * each of several concurrent calls. The call does not wait for packets that a program announces itself, but it reports
 * the first of them that has failed by then. */
enum t3_status t3_wait_kernels(struct t3_context* context);
/* Number of the kernel that the most recent call has queued; 0 when there is none. */
uint64_t t3_last_kernel(const struct t3_context* context);
/* Waits until this kernel has ended, and returns its own code. Returns T3_INVALID_ARGUMENT when it was never queued or
 * 256 more have ended since. */
enum t3_status t3_wait_kernel(struct t3_context* context, uint64_t number);
/* Ends all kernels that are queued with T3_ABORTED and waits until they touch memory no more. Kernels queued later run;
 * ring kernels do not (T3_ABORTED) when one was among the aborted, or the latest one was refused: see t3_reset. */
enum t3_status t3_abort_kernels(struct t3_context* context);
/* Sets the number of workgroups that share a chunk in ring kernels. It must be equal on all GPUs; after t3_init it is
 * one per compute unit. Returns T3_BUSY for another number once a ring kernel has been queued, until t3_reset: each
 * workgroup has a counter, which continues from earlier ring kernels. */
enum t3_status t3_set_ring_workgroups(struct t3_context* context, uint32_t workgroups);
uint32_t t3_ring_workgroups(const struct t3_context* context);

/* Waits until all stores of kernels are in memory, where the driver, the DMA engine and peers read them. The cache is
 * empty then, so kernels see others' writes. */
enum t3_status t3_flush_cache(struct t3_context* context);
/* T3_BAD_VALUE when the policy has no such limit: the error log says which ones it has. */
enum t3_status t3_set_arbitration(struct t3_context* context, enum t3_arbitration policy, uint32_t limit);

/* Returns when every GPU of the node has called it, whatever links join them. After T3_TIMEOUT the next call goes on
 * with the same barrier. T3_PEER_FAILED instead of T3_STUCK or T3_TIMEOUT when the GPU that signals to this one has
 * been reset since it first did and this GPU has not: see t3_reset. */
enum t3_status t3_barrier(struct t3_context* context);

/* An all-gather between the programs of all GPUs, over the hosts' own network, which needs no links: `all` gets the
 * `bytes` bytes at `mine` of each, up to 1 MiB, by the GPUs' numbers. All come to the same exchanges in the same order:
 * T3_MISMATCH on each when they differ in name or bytes. T3_TIMEOUT: the next call goes on with the same exchange. */
enum t3_status t3_host_all_gather(struct t3_context* context, const char* name, const void* mine, uint64_t bytes,
                                  void* all);
/* Meets the programs of all GPUs by an exchange: the barrier of GPUs that no links join. */
enum t3_status t3_host_barrier(struct t3_context* context);

/* Has the handler called when the line is raised, with the argument; NULL: no more. A handler runs between two calls of
 * the driver or of the HAL, or while one waits, and may call the driver. Handlers of a priority above its own interrupt
 * it; 1 is the lowest. The kernel queue's is called once for each kernel that ends from now on, a queue's in their
 * order; the error log's as long as there is an entry; the others once or more for all that has happened meanwhile.
 * Waits go on as without handlers. */
enum t3_status t3_set_handler(struct t3_context* context, enum t3_line line, uint32_t priority, t3_handler* handler,
                              void* argument);
/* Stops calls of the line's handler. Events that occur meanwhile are reported when the line is unmasked. */
enum t3_status t3_mask(struct t3_context* context, enum t3_line line);
enum t3_status t3_unmask(struct t3_context* context, enum t3_line line);

/* Returns what the latest call of this context that failed has failed with, and clears it. A failure is open until it
 * is read here or the program returns its code; a run with an open one fails, unless the run file has allow_errors.
 * T3_TIMEOUT and T3_BUSY open nothing: the same call may succeed later. They do when they are the code of a kernel or
 * transfer that was waited for. */
struct t3_call_error t3_last_error(struct t3_context* context);

/* Takes the oldest entry out of the error log. */
enum t3_status t3_next_error(struct t3_context* context, struct t3_error* error);
/* t3_status_text() in t3/status.h says a code in words. */

#ifdef __cplusplus
}
#endif

#endif
