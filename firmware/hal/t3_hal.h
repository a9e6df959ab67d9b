/* The hardware abstraction layer: the driver's interface to its processor. All waits go through it, because only the
 * platform can let time pass. Calls that return a status return the status of the bus's response.
 *
 * Order. Register accesses of one GPU take effect in the order of the calls, a read before its call returns; so a
 * register that is read after a write shows what the write has done. Writes to another GPU's registers are posted: they
 * arrive in their order. Memory writes may wait in the processor: order_writes() comes between them and the write that
 * announces them: a doorbell or a write to another GPU's registers. Memory reads are not done before the register reads
 * that precede them: software that has seen a kernel's end reads what the kernel has written.
 *
 * Caches. read_memory and write_memory access memory itself, as all blocks but the compute units see it. A platform
 * whose processor caches memory writes back or invalidates the call's bytes, at the latest in order_writes(). They do
 * not maintain the GPU's own last-level cache; t3_flush_cache() does.
 *
 * Width. A platform that has no 64-bit accesses makes two of 32 bits, the low half first, with interrupts held off
 * (docs/reference/registers.md). Another GPU's registers take whole accesses only.
 *
 * Floats. A program begins in the host's standard floating-point environment (rounding mode, denormal numbers,
 * exceptions), whatever its library's constructors have set. Its interrupt handlers and the functions that write its
 * buffers' contents do so too. The program's changes last until it ends: calls of the HAL preserve them, and the
 * platform computes in the standard environment.
 *
 * Bytes in memory are transferred unchanged. Registers are numbers, whatever the processor's byte order is. */
#ifndef T3_HAL_H
#define T3_HAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "t3/enumeration.h"
#include "t3/memory_use.h"
#include "t3/status.h"

enum t3_contents_kind T3_OF_32_BITS {
  T3_CONTENTS_UNSAID,
  T3_CONTENTS_CONSTANT,
  T3_CONTENTS_VALUES,
  T3_CONTENTS_FUNCTION
};

/* Elements of a buffer, row by row without gaps, as fp32: the platform rounds them to the buffer's element type. It
 * looks at them while the buffer is published, in functional runs alone, and keeps what it needs. */
struct t3_contents {
  enum t3_contents_kind kind;
  float constant;      /* of all elements */
  const float* values; /* rows x columns of them */
  /* Writes rows x columns elements. */
  void (*function)(const void* argument, uint32_t gpu, float* values);
  const void* argument;
};

/* A tensor that people outside the platform fill or look at. */
struct t3_buffer {
  const char* name; /* letters, digits, ".", "-" and "_"; "a", "b" and "out" are the workload's, where there is one */
  uint64_t address;
  uint64_t row_stride; /* bytes */
  uint32_t rows, columns;
  uint32_t element;            /* enum t3_element */
  struct t3_contents initial;  /* what the platform writes there at once, which takes no time */
  struct t3_contents expected; /* what the buffer has to hold when the run is over; otherwise the run fails */
  double tolerance;            /* by which an element may differ from what is expected */
};

struct t3_hal {
  void* platform; /* first argument of every call */
  uint32_t gpu;   /* where this processor is: selects its registers and memory in the node's address space */

  enum t3_status (*read32)(void* platform, uint64_t address, uint32_t* value);
  enum t3_status (*read64)(void* platform, uint64_t address, uint64_t* value);
  enum t3_status (*write32)(void* platform, uint64_t address, uint32_t value);
  enum t3_status (*write64)(void* platform, uint64_t address, uint64_t value);
  enum t3_status (*read_memory)(void* platform, uint64_t address, void* data, uint64_t bytes); /* 0: nothing, T3_OK */
  enum t3_status (*write_memory)(void* platform, uint64_t address, const void* data, uint64_t bytes);
  /* All memory writes so far take effect before everything that follows. */
  void (*order_writes)(void* platform);

  /* From now on, or no more when it is NULL, the platform calls `entry` with `argument` when the processor's interrupt
   * is raised, for as long as it is: in another call of the HAL, at the latest in the next one that lets time pass, and
   * not while interrupts are held off. They are held off until entry returns, unless it allows them. */
  void (*take_interrupts)(void* platform, void (*entry)(void* argument), void* argument);
  /* Holds interrupts off until unlock has been called as often. A program, and what takes an interrupt, that call the
   * two in different numbers make the run fail. Where several threads use a context, a mutex of theirs as well. The
   * driver waits for interrupts while they are held off, and lets go of the lock now and then meanwhile. */
  void (*lock)(void* platform);
  void (*unlock)(void* platform);

  /* The clock: it never goes back, and all times and deadlines are its. */
  uint64_t (*time_ns)(void* platform);
  /* Returns at once while an enabled interrupt line is raised, though interrupts are held off. T3_TIMEOUT when that has
   * not happened until the clock shows `deadline_ns` (UINT64_MAX: no deadline), T3_STUCK when it can never happen any
   * more. `reason` says what is awaited, for the platform's diagnosis. */
  enum t3_status (*wait_for_interrupt)(void* platform, uint64_t deadline_ns, const char* reason);
  /* However long: a wait that would end after the platform's last point in time does not return. */
  void (*wait_ns)(void* platform, uint64_t ns);

  /* An all-gather between the programs of all GPUs, over the hosts' own network, as MPI makes them when a job starts:
   * `all` gets the `bytes` bytes at `mine` of each, by the GPUs' numbers. It needs no link between GPUs, and comes back
   * when all have come. All programs come to the same exchanges in the same order; T3_MISMATCH on each when they differ
   * in name or bytes, which makes the run fail. T3_TIMEOUT and T3_STUCK as above, also when another program has ended
   * before it came; the next call goes on with the same exchange, with what the first has brought. */
  enum t3_status (*exchange)(void* platform, const char* name, const void* mine, uint64_t bytes, void* all,
                             uint64_t deadline_ns);

  /* A phase of the program, of up to 1024 by their names, begins or ends: time and traffic in between are accounted to
   * its name. Phases may nest; one that begins again counts again. These have a meaning of their own: "total", the time
   * that is measured; "setup" before it, "zeroing" as a part of that, and "hand_over" behind it; "operation" of a
   * layer. A name is of 1 to 64 letters, digits, ".", "-" and "_"; another one, and an end without a begin, make the
   * run fail. */
  void (*mark)(void* platform, const char* phase, bool begin);
  /* Publishes a buffer under its name, at most 1024 in a run. */
  void (*publish)(void* platform, const struct t3_buffer* buffer);
  /* The four argument_ functions return the value that the run file's `arguments` have under this name. They return
   * T3_INVALID_ARGUMENT when there is no such argument or it has another type; the run then ends with a message. The
   * run also ends with a message when no GPU's program has asked for an argument. has_argument() returns whether an
   * argument is there, for optional ones. A text is valid until the run is over. */
  bool (*has_argument)(void* platform, const char* name);
  enum t3_status (*argument_u64)(void* platform, const char* name, uint64_t* value);
  enum t3_status (*argument_double)(void* platform, const char* name, double* value);
  enum t3_status (*argument_bool)(void* platform, const char* name, bool* value);
  enum t3_status (*argument_text)(void* platform, const char* name, const char** value);
  void (*log)(void* platform, const char* text);
  /* Optional: NULL where nobody checks accesses. Says what a range of this GPU's memory is from now on. A piece ends
   * when the same range is T3_MEMORY_FREE; with 0 bytes all pieces end. Pieces do not overlap. With `check` memory
   * the platform reports every access that is not within one allocated piece. */
  void (*own_memory)(void* platform, uint64_t address, uint64_t bytes, enum t3_memory_use use);
  /* Optional. A call of the driver has failed with this code: `text` names the call and the parameter at fault. With
   * T3_OK, the program has read all failures so far (t3_last_error). */
  void (*error)(void* platform, enum t3_status code, const char* text);
};

/* For a driver of one's own: its GPU's memory is checked once it has declared a piece. */
static inline void t3_declare_memory(const struct t3_hal* hal, uint64_t address, uint64_t bytes,
                                     enum t3_memory_use use) {
  if (hal->own_memory != NULL) hal->own_memory(hal->platform, address, bytes, use);
}

#endif
