/* Steps that programs of all workloads share: set-up, buffers for the platform, counters, phases and the end. */
#ifndef T3_WORKLOADS_PROGRAM_STEPS_H
#define T3_WORKLOADS_PROGRAM_STEPS_H

#include "t3/programs.h"
#include "t3/t3.h"
#include "t3_hal.h"

/* The driver, with the arbitration and the ring kernels' workgroups of the run. */
enum t3_status t3_set_up(struct t3_context* context, const struct t3_hal* hal, const struct t3_run* run);
/* Hands a matrix to the platform under this name. */
void t3_publish(const struct t3_context* context, const char* name, const struct t3_matrix* matrix);
/* One whose rows follow one another. */
void t3_publish_rows(const struct t3_context* context, const char* name, uint64_t address, uint64_t rows,
                     uint64_t columns, enum t3_element element);

/* Replaces the three digits at the end of a name. */
void t3_number_name(char* name, uint32_t number);

/* The last counters are for kernels that are not the driver's ring kernels: the first of so many for each workgroup. */
uint32_t t3_first_counter(const struct t3_context* context, uint32_t of_each_workgroup);
/* Reads the present value of a counter, while no GPU can have signalled yet. */
enum t3_status t3_read_epoch(const struct t3_context* context, uint32_t counter, uint64_t* epoch);

/* A phase of one kernel. */
enum t3_status t3_run_phase(struct t3_context* context, const char* phase, const char* kernel, const void* arguments,
                            uint32_t bytes, uint32_t workgroups);

/* Counters and flags are real in every run: the processor writes them. */
enum t3_status t3_write_zeros(struct t3_context* context, uint64_t address, uint64_t bytes);

/* Writes what is dirty in the cache to memory: a program does it before anyone but its compute units reads a result. */
enum t3_status t3_hand_over(struct t3_context* context);

static inline void t3_begin(const struct t3_context* context, const char* phase) {
  t3_hal_of(context)->mark(t3_hal_of(context)->platform, phase, true);
}

static inline void t3_end(const struct t3_context* context, const char* phase) {
  t3_hal_of(context)->mark(t3_hal_of(context)->platform, phase, false);
}

#endif
