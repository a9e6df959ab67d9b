/* What every program starts with: the driver, the tensors and the arbitration that its job asks for. */
#ifndef T3_PROGRAMS_OPERANDS_H
#define T3_PROGRAMS_OPERANDS_H

#include "t3/job.h"
#include "t3_hal.h"

struct t3_operands {
  struct t3_matrix a, b;
  struct t3_output out;
};

enum t3_status t3_set_up(struct t3_context* context, const struct t3_hal* hal, const struct t3_job* job);
/* Allocates a, b and out and hands them to the platform. Where there are slabs in place of one output, they lie one
 * behind the other in the same order on all GPUs, and `out` is this GPU's, which its GEMM writes. */
enum t3_status t3_allocate(struct t3_context* context, const struct t3_job* job, enum t3_memory_kind out_memory,
                           struct t3_operands* operands);

/* Hands a matrix to the platform under this name. */
void t3_publish(const struct t3_context* context, const char* name, const struct t3_matrix* matrix);
/* One whose rows follow one another. */
void t3_publish_rows(const struct t3_context* context, const char* name, uint64_t address, uint64_t rows,
                     uint64_t columns, enum t3_element element);

/* Replaces the three digits at the end of a name. */
void t3_number_name(char* name, uint32_t number);

/* The last counters are for kernels that are not the driver's ring kernels: the first of so many for each workgroup. */
uint32_t t3_first_counter(const struct t3_context* context, uint32_t of_each_workgroup);
/* What a counter has been signalled so far, while no GPU can have signalled yet. */
enum t3_status t3_read_epoch(const struct t3_context* context, uint32_t counter, uint64_t* epoch);

/* A phase of one kernel. */
enum t3_status t3_run_phase(struct t3_context* context, const char* phase, const char* kernel, const void* arguments,
                            uint32_t bytes, uint32_t workgroups);

/* Counters and flags are real in every run: the processor writes them. */
enum t3_status t3_write_zeros(struct t3_context* context, uint64_t address, uint64_t bytes);

/* Writes what is dirty in the cache to memory: a program does it before anyone but its compute units reads a result. */
enum t3_status t3_hand_over(struct t3_context* context);

/* The phase of the all-gather, which ends all programs. An arbitration that is for the reduce-scatter beside a GEMM
 * ends here: from now on it is round-robin. */
enum t3_status t3_gather_all(struct t3_context* context, const struct t3_job* job, const struct t3_output* out);

struct t3_gemm_options t3_gemm_options_of(const struct t3_job* job);

static inline void t3_begin(const struct t3_context* context, const char* phase) {
  t3_hal_of(context)->mark(t3_hal_of(context)->platform, phase, true);
}

static inline void t3_end(const struct t3_context* context, const char* phase) {
  t3_hal_of(context)->mark(t3_hal_of(context)->platform, phase, false);
}

#endif
