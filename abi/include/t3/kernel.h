/* The description of a kernel: its launch, the resources that it occupies, its agreement with its neighbours, and its
 * functions. t3/device.h has the calls of its programs. */
#ifndef T3_KERNEL_H
#define T3_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "t3/enumeration.h"

#ifdef __cplusplus
extern "C" {
#endif

struct t3_check;
struct t3_device;
struct t3_wave;

/* The launch parameters in a kernel dispatch packet. */
struct t3_launch {
  const void* arguments;
  uint32_t workgroups;    /* 0: as many as the kernel has work for */
  uint32_t compute_units; /* that it may take */
};

enum { T3_RANGES_MAX = 4 };

/* Whether output map and Tracker, whose maps are about wavefront tiles, can go by a kernel's stores: their accesses
 * name none, the last-level cache forgets what they name, or they do. */
enum t3_tiles_named T3_OF_32_BITS { T3_TILES_UNNAMED, T3_TILES_FORGOTTEN, T3_TILES_NAMED };

/* Addresses begin to end - 1 of the node. */
struct t3_range {
  uint64_t begin, end;
};

/* The resources of a GPU that a kernel with given arguments occupies. */
struct t3_plan {
  const char* name; /* on the timeline; read when the plan comes back, and not kept */
  uint32_t workgroups;
  uint32_t workgroups_per_cu; /* that the kernel is made for; as many run at once as registers and local memory allow */
  uint32_t register_bytes;    /* of a workgroup, as its compiler has it: tiles are not counted against them */
  uint32_t waves;             /* programs of a workgroup, at most T3_WAVES_MAX */
  uint32_t tiles;             /* of a wave, at most T3_TILES_MAX */
  uint32_t local_bytes;       /* of a workgroup */
  bool together;              /* workgroups wait for each other in both directions: all of them have to fit at once */
  /* Memory of this GPU. What others use is refused by it; loads stay within both, stores within the first. */
  struct t3_range
      written[T3_RANGES_MAX]; /* by the kernel or its neighbours, the output first; none where it only sends */
  uint32_t written_count;
  struct t3_range read[T3_RANGES_MAX]; /* and not written */
  uint32_t read_count;
  /* Local addresses (t3/address.h) of other GPUs: stores to their memory stay within them. */
  struct t3_range sent[T3_RANGES_MAX];
  uint32_t sent_count;
  /* Local addresses of other GPUs: loads from their memory stay within them. The program and its peers agree on the
   * contents. */
  struct t3_range fetched[T3_RANGES_MAX];
  uint32_t fetched_count;
  /* Local addresses of this GPU and of all others: fetch-and-adds, t3_read, t3_write and t3_wait_value stay within
   * them. Others may read and write there too. */
  struct t3_range shared[T3_RANGES_MAX];
  uint32_t shared_count;
  bool doorbells; /* t3_write rings those of this GPU's NIC, too: 4 bytes of the page that begins at nic.doorbell */
  /* The kernel awaits, or adds to, what neighbours have stored in `written` and signalled (t3_counter.stored) before it
   * begins. Otherwise it is refused when such a signal has not been taken (T3_BUSY). */
  bool awaits_arrivals;
  /* The kernel waits for signals of chunks (t3_dma_map_signal) before it loads what maps of `read` still count. It is
   * not refused while chunks of `read` are incomplete, or while another queue's kernel writes there. */
  bool awaits_chunks;
  bool stores_here; /* the kernel stores there itself, and not its neighbours alone */
  /* T3_TILES_NAMED is held: all stores and updates to this GPU's memory name a tile, and stores bypass the cache. */
  enum t3_tiles_named tiles_named;
  /* The first so many workgroups, which live as long as the kernel, have each a row of the timeline. 0: those of every
   * tenth compute unit have one. */
  uint32_t timeline_rows;
  /* Bytes that lie together in what a wave stores at a time, where they are fewer than the 32 of a sector, which then
   * passes the port with them. 0: whole sectors. */
  uint32_t store_bytes;
};

/* One of the things that kernels of neighbours must agree on. */
struct t3_property {
  const char* name;
  uint64_t value;
  const char* text; /* what the value means; NULL: the number says it */
  bool is_address;
};

enum { T3_PROPERTIES_MAX = 16 };

/* The values that a kernel's signals and its stores to other GPUs carry, or that its waits expect of them. */
struct t3_agreement {
  uint32_t receiver, gpus; /* position in the ring of who is signalled, and the ring's size */
  uint32_t count;
  struct t3_property properties[T3_PROPERTIES_MAX];
};

enum { T3_ARGUMENT_BYTES_MAX = 4096 };

/* The layout of arguments in memory. The generated header of a kernel's arguments defines T3_<NAME>_ARGUMENTS to fill
 * it. */
struct t3_argument_format {
  uint32_t bytes; /* in memory */
  uint32_t size;  /* of the structure that programs see */
  void (*read)(void* arguments, const unsigned char* bytes);
};

struct t3_kernel {
  const char* name; /* packets say t3_kernel_handle of it */
  struct t3_argument_format arguments;
  /* The traffic classes of the kernel's loads and stores in the report. They are names of
   * traffic_class.enumeration.json or new ones, which the report then has too; a run has at most 24 new ones. A name
   * consists of small letters, digits and _, and ends in _read or _write. */
  const char *reads, *writes;
  bool is_producer; /* of what a collective takes: the memory controller observes its first stage (T3 4.5) */
  /* Whether it can run so, else refused in words (t3/check.h). */
  bool (*check)(struct t3_check* check, const struct t3_launch* launch);
  /* The launch has been checked. A grid that is not the plan's is refused. */
  struct t3_plan (*plan)(const struct t3_device* device, const struct t3_launch* launch);
  /* Fills the agreement with the neighbours; NULL for a kernel that has none. Both agreements have to be valid, also of
   * a kernel that only sends or only waits. A wait then takes one signal after the other. It fails when the signal's
   * values differ, when other software has changed the counter, and when the neighbour has failed. A kernel continues
   * after a failed access, since its neighbours wait for it, and its signals report the failure. A kernel whose program
   * breaks a rule ends there, and its neighbours wait. Each workgroup signals a counter of its own. Where the ring's
   * size or the workgroups differ, so does the number of signals; the kernel's waits then end. */
  void (*agree)(const void* arguments, struct t3_agreement* sent, struct t3_agreement* expected);
  void (*run)(struct t3_wave* wave);
};

#ifdef __cplusplus
}
#endif

#endif
