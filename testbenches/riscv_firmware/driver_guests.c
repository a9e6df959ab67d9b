/* Programs of testbenches/driver_errors. They run on GPU 0 alone while the others behave correctly, or on all GPUs.
 * Their reports do not depend on the time that firmware takes. */
#include <stddef.h>

#include "driver_errors/driver_guests.h"
#include "t3/exports.h"

#define ALONE(name)                                                                \
  static enum t3_status name(const struct t3_hal* hal, const struct t3_run* run) { \
    return hal->gpu == 0 ? guest_##name(hal, run) : t3_run_fused(hal, run);        \
  }

ALONE(with_handlers)
ALONE(with_a_failing_transfer)
ALONE(that_opens_in_handlers)
ALONE(reset_in_a_handler)
ALONE(that_sets_stale_handlers)
ALONE(mixed_kernels)
ALONE(behind_a_failure)
ALONE(that_clears_failures)
ALONE(bad_packets)
ALONE(huge_sizes)
ALONE(maps_used_wrongly)
ALONE(cached_on_maps)
ALONE(busy_maps)
ALONE(maps_given_up)
ALONE(misfit_in_a_wait)
ALONE(zeroed_in_use)
ALONE(that_zeroes_views)
ALONE(second_context)
ALONE(in_a_stale_context)
ALONE(that_waits_behind_a_reset)
ALONE(reset_under_way)
ALONE(refused_by_its_peer)
ALONE(register_misuse)
ALONE(misuse_of_peers)
ALONE(beyond_memory)
ALONE(locked_registers)
ALONE(memory_exhausted)
ALONE(freed_memory)
ALONE(that_updates_what_is_cached)
ALONE(unknown_phases)

static const struct t3_named_program programs[] = {{"with_handlers", with_handlers},
                                                   {"with_a_failing_transfer", with_a_failing_transfer},
                                                   {"that_opens_in_handlers", that_opens_in_handlers},
                                                   {"reset_in_a_handler", reset_in_a_handler},
                                                   {"that_sets_stale_handlers", that_sets_stale_handlers},
                                                   {"mixed_kernels", mixed_kernels},
                                                   {"behind_a_failure", behind_a_failure},
                                                   {"that_clears_failures", that_clears_failures},
                                                   {"bad_packets", bad_packets},
                                                   {"huge_sizes", huge_sizes},
                                                   {"maps_used_wrongly", maps_used_wrongly},
                                                   {"cached_on_maps", cached_on_maps},
                                                   {"busy_maps", busy_maps},
                                                   {"maps_given_up", maps_given_up},
                                                   {"misfit_in_a_wait", misfit_in_a_wait},
                                                   {"zeroed_in_use", zeroed_in_use},
                                                   {"that_zeroes_views", that_zeroes_views},
                                                   {"second_context", second_context},
                                                   {"in_a_stale_context", in_a_stale_context},
                                                   {"that_waits_behind_a_reset", that_waits_behind_a_reset},
                                                   {"reset_under_way", reset_under_way},
                                                   {"refused_by_its_peer", refused_by_its_peer},
                                                   {"register_misuse", register_misuse},
                                                   {"misuse_of_peers", misuse_of_peers},
                                                   {"beyond_memory", beyond_memory},
                                                   {"locked_registers", locked_registers},
                                                   {"memory_exhausted", memory_exhausted},
                                                   {"freed_memory", freed_memory},
                                                   {"that_updates_what_is_cached", that_updates_what_is_cached},
                                                   {"unknown_phases", unknown_phases},
                                                   {"where_it_is_staged", guest_where_it_is_staged},
                                                   {"disagreeing_rings", guest_disagreeing_rings},
                                                   {"aborted_ring", guest_aborted_ring},
                                                   {NULL, NULL}};

const struct t3_export_table t3_exports = {
    .version = T3_EXPORTS_VERSION, .layout = T3_EXPORTS_LAYOUT, .name = "driver_guests", .programs = programs};
