/* Programs that make a mistake on GPU 0 of two, report the driver's status, and then do the whole job correctly.
 * */
#ifndef T3_TEST_DRIVER_GUESTS_H
#define T3_TEST_DRIVER_GUESTS_H

#include "driver_errors/given_gemm.h"
#include "t3/programs.h"
#include "t3_hal.h"

#ifdef __cplusplus
extern "C" {
#endif

t3_program guest_further_destinations;
t3_program guest_overlapping_maps;
t3_program guest_unaligned_maps;
t3_program guest_missing_peers;
t3_program guest_senseless_maps;
t3_program guest_full_tables;
t3_program guest_chunk_too_large;

/* Maps used in another way than they say, or removed while in use. */
t3_program guest_maps_used_wrongly;
t3_program guest_cached_on_maps;
t3_program guest_misfit_in_a_wait;
t3_program guest_too_many_updates;
t3_program guest_busy_maps;
t3_program guest_queued_on_maps;
t3_program guest_queued_in_a_removal;
t3_program guest_maps_given_up;
t3_program guest_counted_stores;

/* Memory that becomes zero while somebody writes it, and kernels where a fill runs. */
t3_program guest_zeroed_in_use;

/* Memory that a kernel, the kernel queue or a map is at; the second one for all GPUs. */
t3_program guest_with_operands_in_use;
t3_program guest_with_staging_in_use;
t3_program guest_written_in_place;
t3_program guest_that_reads_what_is_mapped;
t3_program guest_on_its_packets;
/* For all GPUs: what neighbours have stored before the first comes to it. */
t3_program guest_where_it_has_arrived;
t3_program guest_where_it_is_staged;
t3_program guest_that_disarms_in_use;
t3_program guest_that_writes_what_is_counted;
t3_program guest_that_spills_over_operands;

/* Maps and kernels, memory::Tracker and DMA engine that do not fit together. */
t3_program guest_other_outputs_sent;
t3_program guest_nameless_on_maps;
t3_program guest_disagreeing_engines;
/* For all GPUs: ring kernels of which GPU 0's are others. */
t3_program guest_disagreeing_rings;
/* For all GPUs: ring counters changed explicitly, stores of a ring kernel that the next GPU refuses. */
t3_program guest_changed_counters;
t3_program guest_changed_counters_of_its_neighbour;
t3_program guest_refused_ring_stores;
/* For all GPUs: GPU 1 has fewer workgroups in its ring kernels, or takes the ring for a smaller one. */
t3_program guest_with_fewer_ring_workgroups;
t3_program guest_in_a_smaller_ring;
/* For all GPUs: GPU 0's packet names other counters. */
t3_program guest_with_other_ring_counters;

t3_program guest_bad_packets;
t3_program guest_gemm_outside_memory;
t3_program guest_updates_switched_off;
/* Waits once for many kernels of which some are refused. */
t3_program guest_mixed_kernels;
/* Clears the kernel queue's interrupt explicitly after kernels that fail. */
t3_program guest_that_clears_failures;
/* Announces packets itself that fail. */
t3_program guest_with_packets_by_hand;
/* Limits that policies do not have, arguments without room, a ring kernel without workgroups. */
t3_program guest_with_wrong_parameters;
/* Sizes whose product has no 32 or 64 bits, or that are larger than memory. */
t3_program guest_huge_sizes;

/* A ring kernel that is refused: on all GPUs, on the first alone, and there while the others give theirs up. */
t3_program guest_refused_with_its_peers;
t3_program guest_refused_alone;
t3_program guest_busy_alone;
t3_program guest_refused_and_given_up;
t3_program guest_that_gives_up_a_ring;

t3_program guest_aborted_kernels;
t3_program guest_aborted_ring;
/* Resets its GPU, later than the others, and does the job. */
t3_program guest_late_after_reset;

/* Two contexts at a time, and one after the other. */
t3_program guest_second_context;
/* Opens its context again, and goes on with one that was reset. */
t3_program guest_in_a_stale_context;
t3_program guest_that_copies_contexts;
t3_program guest_reset_in_a_handler;
t3_program guest_that_rings_by_hand;
/* Handlers that reset and open another context; handlers set in a context that was reset; waits in a wait. */
t3_program guest_that_opens_in_handlers;
t3_program guest_that_sets_stale_handlers;
t3_program guest_that_waits_behind_a_reset;
t3_program guest_that_waits_in_a_wait;
/* For all GPUs: GPU 0 is reset in a ring kernel or in a barrier, and starts again. */
t3_program guest_with_earlier_lives;
t3_program guest_with_an_earlier_barrier;
/* For all GPUs: reset with stores, updates, fills and write-backs in flight, all at once or one alone. */
t3_program guest_with_stores_under_way;
t3_program guest_with_a_reset_neighbour;
/* The right job, twice. */
t3_program guest_twice;
t3_program guest_unknown_phases;

/* Waits that end before what they wait for, on GPU 0; the others come late. */
t3_program guest_short_of_time;
/* Waits on the DMA engine's line after a fill that it has not waited for, and clears a fill's interrupt explicitly. */
t3_program guest_that_waits_after_a_fill;

/* Handlers of kernels, transfers and flushes that call the driver while it waits; of a transfer that its peer refuses.
 */
t3_program guest_with_handlers;
t3_program guest_with_a_failing_transfer;
/* Every call behind a kernel that has failed. */
t3_program guest_behind_a_failure;
/* Notifies others of memory writes before they are ordered. */
t3_program guest_out_of_order;

/* Operands that an operation does not take, fills of parts of matrices, and what the driver keeps for itself. */
t3_program guest_with_wrong_operands;
t3_program guest_that_zeroes_views;
t3_program guest_in_the_drivers_memory;

t3_program guest_memory_exhausted;
t3_program guest_freed_memory;

/* The sequential job without the flush at its end. */
t3_program guest_without_flush;
/* Multiplies, changes an operand, multiplies again, and does the same with a flush in between. It reports what it
 * finds. */
t3_program guest_stale_operand;
/* Stores an output in the cache, updates it, reads it, updates it again. It reports what it finds. */
t3_program guest_that_updates_what_is_cached;

t3_program guest_register_misuse;
t3_program guest_misuse_of_peers;
t3_program guest_locked_registers;

/* Ranges beyond the memory of 1 GiB, here and at the peer. */
t3_program guest_beyond_memory;
/* Sends to a peer that takes no updates for a while: by remote_map and by dma_map. */
t3_program guest_refused_by_its_peer;
/* The peer: switches updates off, and 300 us later on again, before it does the right job. */
t3_program guest_without_updates_at_first;

t3_program guest_reset;
t3_program guest_reset_under_way;

/* Hands over nothing where something is needed, and chunks of 4.3 billion workgroups. */
t3_program guest_of_nothing;
t3_program guest_of_billions;

/* The right job, some time later than the others. */
t3_program guest_late;

/* Numbers that no enumeration has. */
t3_program guest_of_unknown_numbers;

/* Prepares the job like the others and waits for its chunks, but never multiplies. */
t3_program guest_without_gemm;
/* The same with updates switched off. */
t3_program guest_that_takes_no_updates;
/* Expects an update of every element, and stores its output in the cache, or plainly to memory. */
t3_program guest_output_in_cache;
t3_program guest_output_stored;
/* Multiplies and sends before the others have mapped anything, then starts a ring kernel that never ends; the same by
 * the DMA engine. */
t3_program guest_too_early;
t3_program guest_dma_too_early;
/* Maps late what the others send early, and multiplies. */
t3_program guest_that_maps_late;
/* Runs another kernel, and never multiplies. */
t3_program guest_with_another_kernel;
/* Meets the others at the start and leaves, with a chunk in its memory::Tracker that will never be complete. */
t3_program guest_that_leaves;

#ifdef __cplusplus
}
#endif

#endif
