#include "compute/kernel_given.h"

namespace t3vp::compute {
namespace {

/// Vector operations that take so long.
std::uint32_t operations_in(Picoseconds time, const ComputeParameters& p) {
  return static_cast<std::uint32_t>(to_ns(time) * p.clock_GHz * p.vector_elements_per_cycle);
}

}  // namespace

t3_device device_of(const ComputeParameters& p) {
  t3_device device{};
  device.compute_units = p.compute_units;
  device.tile_rows = p.tile_rows;
  device.tile_columns = p.tile_columns;
  device.workgroups_per_cu = p.workgroups_per_cu;
  device.slab_depth = p.slab_depth;
  device.prefetch_slabs = p.prefetch_slabs;
  device.ring_workgroups_per_cu = p.ring_workgroups_per_cu;
  device.ring_block_bytes = p.ring_block_bytes;
  device.ring_blocks_in_flight = p.ring_blocks_in_flight;
  device.ring_start_operations = operations_in(p.ring_start, p);
  device.ring_step_operations = operations_in(p.ring_step, p);
  device.row_workgroups_per_cu = p.row_workgroups_per_cu;
  device.row_block_bytes = p.row_block_bytes;
  device.gather_workgroups_per_cu = p.gather_workgroups_per_cu;
  device.gather_rows_in_flight = p.gather_rows_in_flight;
  device.register_bytes = p.register_bytes;
  device.local_bytes = p.local_bytes;
  return device;
}

}  // namespace t3vp::compute
