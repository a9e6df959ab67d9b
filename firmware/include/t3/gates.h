/* Gates: workgroups of a kernel that the dispatcher holds until their input is complete (T3, ASPLOS 2024, section 7.2:
 * what arrives triggers the scheduling of workgroups). The mapping from input to workgroups is the program's.
 *
 * The Tracker counts what arrives in a chunk. t3_dma_map_signal lets its completion add 1 to a counter. A gate waits
 * for that counter, and occupies no compute unit while it does. */
#ifndef T3_GATES_H
#define T3_GATES_H

#include "t3/t3.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Workgroups in the order in which the kernel's workgroups start, which t3_gemm_options.first_workgroup rotates. */
struct t3_gate {
  uint32_t first, workgroups;
  uint32_t signal; /* T3_CHUNK_SIGNAL_FIRST or one of the T3_CHUNK_SIGNALS from there on (t3/chunk_progress.h) */
  uint64_t value;  /* that the counter has to reach */
};

/* Holds workgroups of the kernel that the queue gets next. Several gates may hold the same ones, which wait for all.
 * The kernel may read chunks that are mapped and incomplete: gates must hold every workgroup that reads them.
 * T3_INVALID_ARGUMENT for a queue that is not open, another signal, or no workgroups. T3_TABLE_FULL when the hardware
 * has no gate left. The kernel itself is refused (T3_BAD_PACKET) when it has fewer workgroups, or such that wait for
 * each other. */
enum t3_status t3_gate_workgroups(struct t3_context* context, uint32_t queue, struct t3_gate gate);
/* Takes back the gates of the kernel that the queue gets next. */
enum t3_status t3_remove_gates(struct t3_context* context, uint32_t queue);

#ifdef __cplusplus
}
#endif

#endif
