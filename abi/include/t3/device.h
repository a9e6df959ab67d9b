/* The device API: what a kernel's program may do on a compute unit.
 *
 * A kernel is a grid of workgroups. The compute cluster starts them in order wherever there is room, and runs `run` of
 * the kernel's description once for each wave of a workgroup: straight-line C on a stack of T3_WAVE_STACK_BYTES.
 *
 * Data are in tiles, numbered 0 to plan.tiles - 1, which are a wave's own. In a timing-only run there are no data, and
 * the program does not notice. A tile has the rows, columns and elements with which it was loaded or computed, and is
 * used with these; loading it, or a product that overwrites it, may give it others, and so does work where nothing but
 * work has computed it. It is zeros then, but for what is loaded or computed. Loads and stores return at once. What
 * uses a tile waits until all that is loaded into it has come; t3_fence waits until memory has taken the wave's stores
 * and updates. Matrix and vector work occupies the compute unit, after what it does already, and returns when it is
 * done. All other time is memory's: what a program computes between two calls takes none.
 *
 * A program may use its stack, its arguments and its workgroup's local memory, and nothing that another workgroup
 * writes: on which compute unit it runs and when is not its business. It has no mutable data of its own outside. It
 * makes no calls that block. Each of a kernel's functions begins in the host's standard floating-point environment; one
 * that changes it (rounding mode, denormal numbers, exceptions) puts it back before it calls the device and before it
 * ends: the kernel is aborted otherwise, or refused. One that ends in no call and never returns ends the run
 * (limits.firmware_s). */
#ifndef T3_DEVICE_H
#define T3_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "t3/element.h"
#include "t3/enumeration.h"
#include "t3/kernel.h"
#include "t3/kernel_parameters.h"
#include "t3/old_names.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  T3_WAVE_STACK_BYTES = 16384,
  T3_WORKGROUPS_PER_CU_MAX = 1 << 20,
  T3_WAVES_MAX = 65536,   /* of a workgroup */
  T3_TILES_MAX = 4096,    /* of a wave */
  T3_ACCESSES_MAX = 4096, /* loads, stores and updates of a wave in flight */
  T3_RESIDENT_WAVES_MAX = 1 << 18,
  T3_RESIDENT_TILES_MAX = 1 << 22, /* of all workgroups that run at once */
  T3_TILE_ELEMENTS_MAX = 1 << 26,
  T3_RESIDENT_ELEMENTS_MAX = 1 << 28, /* of tiles at once, in a functional run */
  T3_TIMELINE_ROWS_MAX = 1024,
  T3_SECTOR_BYTES = 32 /* that memory reads and writes at a time */
};

/* The machine's properties that programs depend on. */
struct t3_device {
  uint32_t compute_units;
  uint32_t tile_rows, tile_columns;     /* of the largest GEMM tile of which workgroups_per_cu fit */
  uint32_t workgroups_per_cu;           /* of GEMM and attention */
  uint32_t slab_depth, prefetch_slabs;  /* of the K dimension at a time; slabs loaded ahead */
  uint32_t register_bytes, local_bytes; /* of a compute unit, which its workgroups share */
  double clock_GHz;                     /* of the compute units */
  double vector_elements_per_cycle;     /* vector operations of a compute unit */
  double link_GBps;                     /* of a link; the same on all GPUs. 0: not known */
  double hand_on_ns;                    /* of a workgroup, from a signal to its next store; the same on all GPUs */
  double by_switch_ns;                 /* from a load by the switch to its data's arrival by it; the same on all GPUs */
  struct t3_kernel_parameters kernels; /* tuning of the kernels: the system file's section `kernels` */
};

/* A matrix in registers. Its elements have one type in memory and may have another here, fp32 on one of both sides. */
struct t3_tile {
  uint32_t index;
  uint32_t rows, columns;
  enum t3_element element;
};

enum { T3_WHOLE_WORKGROUP = 0xFF };

/* The tile of an output that a store belongs to: Tracker and output map go by it. */
struct t3_wavefront_tile {
  bool named;
  uint8_t wavefront; /* or T3_WHOLE_WORKGROUP */
  uint32_t workgroup;
};

/* Rows in memory, and the part of a tile that they are loaded into or stored from. Rows that are stored or updated do
 * not overlap. */
struct t3_access {
  uint64_t address, stride; /* of the first byte; bytes from one row to the next: multiples of an element's */
  uint32_t rows, columns;   /* elements */
  enum t3_element element;  /* in memory */
  uint32_t row, column;     /* of the tile, where the part begins */
  bool uncached;            /* bypasses the last-level cache */
  bool at_once; /* of a store: leaves without alternating at the port with the wave's stores before it. A copy's data
                   have paced themselves on their way in */
  struct t3_wavefront_tile of;
};

/* A product's operands as the matrix unit takes them: m x k times k x n. Tiles may be smaller, at the edges, and not
 * larger: the time is that of the full size. */
struct t3_product {
  struct t3_tile sum, a, b;
  uint32_t m, n, k;
  bool transpose_a, transpose_b; /* a is k x m, b is n x k */
  bool adds;                     /* to what the sum holds; otherwise it is overwritten */
  uint32_t step_ns; /* after the product, while others may use the lanes: barriers, and the issue of what comes next */
};

enum { T3_OPERANDS_MAX = 4 };

/* Vector work on fp32 tiles. In a functional run `compute` is called with their elements, row by row without gaps, when
 * the work is done, on a stack that is large enough for anything. They are its until it returns. */
struct t3_vector_work {
  double operations; /* of one lane each; none and no step_ns: it is done at once */
  uint32_t operands;
  struct t3_tile tiles[T3_OPERANDS_MAX];
  void (*compute)(const void* argument, float* const* operands); /* NULL: time alone */
  const void* argument;
  uint32_t step_ns; /* after the operations, while others may use the lanes: instructions that wait for each other */
};

struct t3_counter {
  uint64_t address;       /* of its register */
  uint64_t threshold;     /* of a wait: the value that it waits for */
  struct t3_range stored; /* of a signal: where the workgroup's stores before it went, from the first byte on to the
                             last, in memory of the GPU that is signalled, which the plan sends to; empty when it says
                             nothing about them */
};

/* An integer in memory of any GPU, that all may count with. */
struct t3_integer {
  uint64_t address; /* a multiple of bytes */
  uint32_t bytes;   /* 4 or 8 */
  uint64_t addend;  /* what is beyond these bytes is lost, of the sum too */
  void* old;        /* of as many bytes: what was there before */
  bool* done;       /* set by the call */
};

enum { T3_BYTES_MAX = 64 };

/* Bytes in memory of any GPU, all within one block of T3_BYTES_MAX that begins at a multiple of it. */
struct t3_bytes {
  uint64_t address;
  uint32_t bytes;      /* 1 to T3_BYTES_MAX */
  bool cached;         /* of a read: through the last-level cache */
  void* read;          /* of a read: where they go */
  const void* written; /* of a write: where they come from */
  bool* done;          /* of a read: set by the call */
};

enum t3_comparison T3_OF_32_BITS { T3_EQUAL, T3_NOT_EQUAL, T3_AT_LEAST };

/* A condition on an integer in memory. Its bits of `mask` are compared with `value` as unsigned numbers. */
struct t3_condition {
  uint64_t address; /* a multiple of bytes, on any GPU */
  uint32_t bytes;   /* 1, 2, 4 or 8 */
  enum t3_comparison comparison;
  uint64_t mask, value; /* of as many bytes; the value has no bits that the mask has not */
  bool cached;          /* reads go through the last-level cache, where a copy may have gone stale */
};

struct t3_poll {
  struct t3_condition condition;
  bool* done; /* set by the call */
};

/* A name on the timeline, and the tile of the output that it is about. */
struct t3_span {
  const char* text; /* a constant */
  uint32_t workgroup;
};

/* An instant on the timeline, and where in another GPU's memory the message goes that it is about. */
struct t3_mark {
  const char* text; /* a constant */
  uint64_t to;      /* 0: no message */
};

enum t3_call_kind T3_OF_32_BITS {
  T3_CALL_LOAD,
  T3_CALL_STORE,
  T3_CALL_UPDATE,
  T3_CALL_WAIT_TILE,
  T3_CALL_FENCE,
  T3_CALL_MULTIPLY,
  T3_CALL_ADD,
  T3_CALL_WORK,
  T3_CALL_SIGNAL,
  T3_CALL_WAIT_COUNTER,
  T3_CALL_WORKGROUP_BARRIER,
  T3_CALL_TRACE_SPAN,
  T3_CALL_FETCH_ADD,
  T3_CALL_READ,
  T3_CALL_WRITE,
  T3_CALL_WAIT_VALUE,
  T3_CALL_FAIL,
  T3_CALL_TRACE_MARK
};

/* A request of a wave to its compute unit. */
struct t3_call {
  uint32_t kind;       /* enum t3_call_kind, or what a program has made of it */
  struct t3_tile tile; /* loaded, stored, awaited, or the sum of an addition */
  union {
    struct t3_access access;
    struct t3_product product;
    struct t3_tile addend;
    struct t3_vector_work work;
    struct t3_counter counter;
    struct t3_integer integer;
    struct t3_bytes bytes;
    struct t3_poll poll;
    const char* failure;
    struct t3_span span;
    struct t3_mark mark;
  };
};

/* The properties of a wave that its program can read. The compute cluster fills it. */
struct t3_wave {
  void (*call)(struct t3_wave* wave, const struct t3_call* call);
  const struct t3_device* device;
  const void* arguments; /* the kernel's */
  void* local;           /* plan.local_bytes, zeroed, the same for all waves of the workgroup */
  uint32_t workgroup;    /* place in the kernel's grid */
  uint32_t workgroups;   /* of the grid */
  uint32_t wave;         /* 0 to waves - 1 */
  uint32_t waves;
};

/* Starts to load into a part of the tile. What the wave has stored or updated, on whichever GPU, is loaded behind a
 * t3_fence. What is loaded from memory of another GPU bypasses all caches, whatever `uncached` says: this GPU keeps no
 * copy that could go stale, and what the other one has in its cache and has not flushed is not seen. From all GPUs
 * (T3_ALL_GPUS, t3/address.h) comes the sum of what all of them have there, this one too: plan.fetched names it. */
static inline void t3_load(struct t3_wave* wave, struct t3_tile tile, struct t3_access access) {
  struct t3_call call;
  call.kind = T3_CALL_LOAD;
  call.tile = tile;
  call.access = access;
  wave->call(wave, &call);
}

/* Stores a part of the tile. To all GPUs (T3_ALL_GPUS, t3/address.h; a switch with reduction has to join them) it goes
 * to each, this one too: plan.sent names the place, plan.written that on this GPU. That copy comes back through the
 * switch, so that a t3_fence stands between it and what the wave stores or updates there otherwise. */
static inline void t3_store(struct t3_wave* wave, struct t3_tile tile, struct t3_access access) {
  struct t3_call call;
  call.kind = T3_CALL_STORE;
  call.tile = tile;
  call.access = access;
  wave->call(wave, &call);
}

/* Adds a part of the tile to memory, near memory, on whichever GPU: the floating-point atomic. Each element is added at
 * once, in the element type, between all other accesses to it. */
static inline void t3_update(struct t3_wave* wave, struct t3_tile tile, struct t3_access access) {
  struct t3_call call;
  call.kind = T3_CALL_UPDATE;
  call.tile = tile;
  call.access = access;
  wave->call(wave, &call);
}

/* Waits until all that is loaded into the tile has come. */
static inline void t3_wait_tile(struct t3_wave* wave, struct t3_tile tile) {
  struct t3_call call;
  call.kind = T3_CALL_WAIT_TILE;
  call.tile = tile;
  wave->call(wave, &call);
}

/* Waits until memory or a link has taken all stores and updates of the wave, and until those to all GPUs (T3_ALL_GPUS)
 * have been answered, which is when all of them have them. */
static inline void t3_fence(struct t3_wave* wave) {
  struct t3_call call;
  call.kind = T3_CALL_FENCE;
  wave->call(wave, &call);
}

/* Matrix work: in fp32, in the order of k. */
static inline void t3_multiply(struct t3_wave* wave, struct t3_product product) {
  struct t3_call call;
  call.kind = T3_CALL_MULTIPLY;
  call.product = product;
  wave->call(wave, &call);
}

/* Vector work: sum += addend, in their element type. */
static inline void t3_add(struct t3_wave* wave, struct t3_tile sum, struct t3_tile addend) {
  struct t3_call call;
  call.kind = T3_CALL_ADD;
  call.tile = sum;
  call.addend = addend;
  wave->call(wave, &call);
}

/* Vector work of a kernel's own. */
static inline void t3_work(struct t3_wave* wave, const struct t3_vector_work* work) {
  struct t3_call call;
  call.kind = T3_CALL_WORK;
  call.work = *work;
  wave->call(wave, &call);
}

/* Adds 1 to a counter, one of the `add` registers of a GPU's signals, behind all stores that go the same way; returns
 * when it has left. */
static inline void t3_signal(struct t3_wave* wave, struct t3_counter counter) {
  struct t3_call call;
  call.kind = T3_CALL_SIGNAL;
  call.counter = counter;
  wave->call(wave, &call);
}

/* Waits until a counter, one of the `value` registers of this GPU's signals, has reached the threshold. */
static inline void t3_wait_counter(struct t3_wave* wave, struct t3_counter counter) {
  struct t3_call call;
  call.kind = T3_CALL_WAIT_COUNTER;
  call.counter = counter;
  wave->call(wave, &call);
}

/* Adds to an integer in memory, on whichever GPU, at once, between all other accesses to it, and returns true with what
 * was there before in `old`, an integer of 4 or 8 bytes. It waits until that has come, and follows the wave's stores to
 * that GPU; what the wave has stored or updated in its own bytes is counted with behind a t3_fence. False when it has
 * been refused, which is the kernel's failure; `old` is as it was. Near-memory units do it, which have to be on. Its
 * data are real in every run: in one that is not functional, tensors must not share its 32 bytes, which is refused. */
static inline bool t3_fetch_add_32(struct t3_wave* wave, uint64_t address, uint32_t addend, uint32_t* old) {
  bool done = false;
  struct t3_call call;
  call.kind = T3_CALL_FETCH_ADD;
  call.integer.address = address;
  call.integer.bytes = 4;
  call.integer.addend = addend;
  call.integer.old = old;
  call.integer.done = &done;
  wave->call(wave, &call);
  return done;
}

/* Does the same for 64 bits. */
static inline bool t3_fetch_add_64(struct t3_wave* wave, uint64_t address, uint64_t addend, uint64_t* old) {
  bool done = false;
  struct t3_call call;
  call.kind = T3_CALL_FETCH_ADD;
  call.integer.address = address;
  call.integer.bytes = 8;
  call.integer.addend = addend;
  call.integer.old = old;
  call.integer.done = &done;
  wave->call(wave, &call);
  return done;
}

/* Reads bytes from memory of any GPU, past the last-level cache, waits until they have come and returns true with them
 * in `data`. It follows the wave's stores to that GPU; what the wave has written or stored in these bytes is read
 * behind a t3_fence. False when it has been refused, which is the kernel's failure; `data` is as it was. The bytes are
 * real in every run: in one that is not functional, tensors must not share their 32 bytes, which is refused. */
static inline bool t3_read(struct t3_wave* wave, uint64_t address, uint32_t bytes, void* data) {
  bool done = false;
  struct t3_call call;
  call.kind = T3_CALL_READ;
  call.bytes.address = address;
  call.bytes.bytes = bytes;
  call.bytes.cached = false;
  call.bytes.read = data;
  call.bytes.done = &done;
  wave->call(wave, &call);
  return done;
}

/* Does the same through the last-level cache, where a copy may be stale. */
static inline bool t3_read_cached(struct t3_wave* wave, uint64_t address, uint32_t bytes, void* data) {
  bool done = false;
  struct t3_call call;
  call.kind = T3_CALL_READ;
  call.bytes.address = address;
  call.bytes.bytes = bytes;
  call.bytes.cached = true;
  call.bytes.read = data;
  call.bytes.done = &done;
  wave->call(wave, &call);
  return done;
}

/* Writes bytes to memory of any GPU, past the last-level cache, behind the wave's stores to that GPU. It takes them
 * from `data` and returns at once; t3_fence waits until memory or a link has them. What refuses them is the kernel's
 * failure. They are real in every run as those of t3_read are. */
static inline void t3_write(struct t3_wave* wave, uint64_t address, const void* data, uint32_t bytes) {
  struct t3_call call;
  call.kind = T3_CALL_WRITE;
  call.bytes.address = address;
  call.bytes.bytes = bytes;
  call.bytes.written = data;
  wave->call(wave, &call);
}

/* Polls an integer until the condition holds, then returns true. Each poll is a read as by t3_read. The next read
 * starts after the previous one has returned, and not earlier than compute.poll_ns after its start. Returns false when
 * a read has been refused, which fails the kernel. The run ends when nothing left in the node could change the integer:
 * the message names the kernel, the address, the value read and the value expected. */
static inline bool t3_wait_value(struct t3_wave* wave, struct t3_condition condition) {
  bool done = false;
  struct t3_call call;
  call.kind = T3_CALL_WAIT_VALUE;
  call.poll.condition = condition;
  call.poll.done = &done;
  wave->call(wave, &call);
  return done;
}

/* Waits until all waves of the workgroup have come here. */
static inline void t3_workgroup_barrier(struct t3_wave* wave) {
  struct t3_call call;
  call.kind = T3_CALL_WORKGROUP_BARRIER;
  wave->call(wave, &call);
}

enum { T3_FAILURE_TEXT = 400 };

/* Ends the kernel with T3_ABORTED, and the error log says why, in up to T3_FAILURE_TEXT - 1 characters. It does not
 * return. */
static inline void t3_fail(struct t3_wave* wave, const char* text) {
  struct t3_call call;
  call.kind = T3_CALL_FAIL;
  call.failure = text;
  wave->call(wave, &call);
}

#define T3_NO_TILE UINT32_C(0xFFFFFFFF)

/* From here on, the timeline shows the wave under this name, with arrows from this tile of the output on; T3_NO_TILE:
 * without arrows. */
static inline void t3_trace_span(struct t3_wave* wave, const char* text, uint32_t workgroup) {
  struct t3_call call;
  call.kind = T3_CALL_TRACE_SPAN;
  call.span.text = text;
  call.span.workgroup = workgroup;
  wave->call(wave, &call);
}

/* The timeline shows this instant, with an arrow to the NIC's message to that address; 0: without one. */
static inline void t3_trace_mark(struct t3_wave* wave, const char* text, uint64_t to) {
  struct t3_call call;
  call.kind = T3_CALL_TRACE_MARK;
  call.mark.text = text;
  call.mark.to = to;
  wave->call(wave, &call);
}

#ifdef __cplusplus
}
#endif

#endif
