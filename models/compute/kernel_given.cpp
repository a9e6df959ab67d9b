#include "compute/kernel_given.h"

namespace t3vp::compute {
t3_device device_of(const ComputeParameters& p) {
  t3_device device{};
  device.compute_units = p.compute_units;
  device.tile_rows = p.tile_rows;
  device.tile_columns = p.tile_columns;
  device.workgroups_per_cu = p.workgroups_per_cu;
  device.slab_depth = p.slab_depth;
  device.prefetch_slabs = p.prefetch_slabs;
  device.kernels = p.kernels;
  device.register_bytes = p.register_bytes;
  device.local_bytes = p.local_bytes;
  device.clock_GHz = p.clock_GHz;
  device.vector_elements_per_cycle = p.vector_elements_per_cycle;
  device.link_GBps = p.link_GBps;
  device.hand_on_ns = p.hand_on_ns;
  device.by_switch_ns = p.by_switch_ns;
  return device;
}

}  // namespace t3vp::compute
