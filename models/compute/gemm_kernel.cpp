#include "compute/gemm_kernel.h"

#include <algorithm>

#include "protocol/element.h"

namespace t3vp {

GemmKernel::GemmKernel(KernelHost& host, const KernelPacket& packet)
    : host_(host),
      packet_(packet),
      grid_{packet.m,
            packet.n,
            packet.tile_rows,
            packet.tile_columns,
            packet.wavefronts,
            packet.ldo,
            static_cast<ElementType>(packet.element)},
      element_(static_cast<ElementType>(packet.element)) {
  const ComputeParameters& parameters = host.parameters();
  slabs_ = (packet.k + parameters.slab_depth - 1) / parameters.slab_depth;
  workgroups_.resize(std::size_t{parameters.compute_units} * workgroups_per_cu());
  for (Workgroup& workgroup : workgroups_) workgroup.slabs.resize(parameters.prefetch_slabs);
}

std::uint32_t GemmKernel::workgroups_per_cu() const {
  const ComputeParameters& p = host_.parameters();
  const std::uint32_t smaller =
      p.tile_rows * p.tile_columns / (std::uint32_t{packet_.tile_rows} * packet_.tile_columns);
  return p.workgroups_per_cu * std::max(smaller, 1u);
}

std::uint32_t GemmKernel::depth(std::uint32_t slab) const {
  const std::uint32_t full = host_.parameters().slab_depth;
  return std::min(full, packet_.k - slab * full);
}

void GemmKernel::start(Slot slot, std::uint32_t index) {
  Workgroup& workgroup = workgroups_[slot];
  workgroup.wg_id = (packet_.first_workgroup + index) % packet_.workgroups;
  workgroup.batch = workgroup.wg_id / grid_.workgroups();
  workgroup.tile = grid_.tile(workgroup.wg_id % grid_.workgroups());
  workgroup.loaded = workgroup.computed = workgroup.stores = 0;
  workgroup.computing = false;
  workgroup.begin = now();
  if (host_.functional()) workgroup.sum.setZero(workgroup.tile.rows, workgroup.tile.columns);
  while (workgroup.loaded < std::min<std::size_t>(slabs_, workgroup.slabs.size())) load_slab(slot);
}

void GemmKernel::load_slab(Slot slot) {
  Workgroup& workgroup = workgroups_[slot];
  const std::uint32_t slab = workgroup.loaded++;
  const std::uint32_t bytes = bytes_of(element_);
  const std::uint64_t k = std::uint64_t{slab} * host_.parameters().slab_depth;
  const Rectangle& tile = workgroup.tile;
  const std::uint64_t a = packet_.a + std::uint64_t{workgroup.batch} * packet_.a_batch;
  const std::uint64_t b = packet_.b + std::uint64_t{workgroup.batch} * packet_.b_batch;
  buffer(workgroup, slab).awaited = 2;
  if (has(KernelPacket::transpose_a))
    load(slot, a + k * packet_.lda + std::uint64_t{tile.row} * bytes, {depth(slab), tile.rows * bytes, packet_.lda},
         slab, false);
  else
    load(slot, a + std::uint64_t{tile.row} * packet_.lda + k * bytes, {tile.rows, depth(slab) * bytes, packet_.lda},
         slab, false);
  if (has(KernelPacket::transpose_b))
    load(slot, b + std::uint64_t{tile.column} * packet_.ldb + k * bytes,
         {tile.columns, depth(slab) * bytes, packet_.ldb}, slab, true);
  else
    load(slot, b + k * packet_.ldb + std::uint64_t{tile.column} * bytes,
         {depth(slab), tile.columns * bytes, packet_.ldb}, slab, true);
}

void GemmKernel::load(Slot slot, std::uint64_t address, const Shape& shape, std::uint32_t slab, bool is_b) {
  Transaction& transaction = host_.pool().make(Operation::load, address, shape);
  transaction.extension().traffic = TrafficClass::gemm_read;
  transaction.extension().token = std::uint64_t{slab} << 1 | (is_b ? 1 : 0);
  if (host_.functional()) transaction.attach_buffer();
  host_.issue(slot, transaction);
}

void GemmKernel::answered(Slot slot, Transaction& transaction) {
  Workgroup& workgroup = workgroups_[slot];
  if (transaction.extension().operation != Operation::load) {
    if (--workgroup.stores != 0) return;
    Trace::Track track = 0;
    if (Trace* trace = host_.trace(slot, track)) {
      trace->span(track, "gemm", workgroup.begin, workgroup.store_begin);
      trace->span(track, "store", workgroup.store_begin, now(), flow_of(host_.gpu(), workgroup.wg_id, 0));
    }
    return host_.finished(slot);
  }
  if (host_.functional()) take_data(workgroup, transaction);
  --buffer(workgroup, static_cast<std::uint32_t>(transaction.extension().token >> 1)).awaited;
  compute(slot);
}

void GemmKernel::take_data(Workgroup& workgroup, Transaction& transaction) {
  const DataExtension& extension = transaction.extension();
  Slab& slab = buffer(workgroup, static_cast<std::uint32_t>(extension.token >> 1));
  const bool is_b = (extension.token & 1) != 0;
  FloatMatrix& matrix = is_b ? slab.b : slab.a;
  matrix.resize(extension.shape.rows, extension.shape.row_bytes / bytes_of(element_));
  widen_elements(element_, transaction.get_data_ptr(), matrix.data(), static_cast<std::size_t>(matrix.size()));
  if (has(is_b ? KernelPacket::transpose_b : KernelPacket::transpose_a)) matrix.transposeInPlace();
}

/// Begins the next slab when its data is there; one slab of a workgroup at a time, one workgroup of a CU at a time.
void GemmKernel::compute(Slot slot) {
  Workgroup& workgroup = workgroups_[slot];
  if (workgroup.computing || workgroup.computed == workgroup.loaded) return;
  if (buffer(workgroup, workgroup.computed).awaited != 0) return;
  workgroup.computing = true;
  const ComputeParameters& p = host_.parameters();
  // A clipped tile takes as long as a full one: its instructions are the same.
  const double flops = 2.0 * packet_.tile_rows * packet_.tile_columns * depth(workgroup.computed);
  const Picoseconds end =
      host_.occupy(slot, cycle_time(flops / (p.matrix_flops_per_cycle * p.matrix_efficiency), p.clock_GHz));
  host_.schedule(end, slot, 0);
}

void GemmKernel::elapsed(Slot slot, std::uint32_t) {
  Workgroup& workgroup = workgroups_[slot];
  if (host_.functional()) {
    const Slab& slab = buffer(workgroup, workgroup.computed);
    multiply_add(slab.a, slab.b, workgroup.sum);
  }
  workgroup.computing = false;
  ++workgroup.computed;
  if (workgroup.loaded < slabs_) load_slab(slot);
  if (workgroup.computed == slabs_) return store(slot);
  compute(slot);
}

void GemmKernel::store(Slot slot) {
  Workgroup& workgroup = workgroups_[slot];
  const ComputeParameters& p = host_.parameters();
  const std::uint32_t tile = workgroup.wg_id % grid_.workgroups();
  const std::uint64_t out = packet_.out + std::uint64_t{workgroup.batch} * packet_.out_batch;
  workgroup.store_begin = now();
  for (std::uint32_t wf = 0; wf < grid_.wavefronts; ++wf)
    if (!grid_.wavefront_tile(tile, wf).empty()) ++workgroup.stores;
  Picoseconds delay = 0;
  for (std::uint32_t wf = 0; wf < grid_.wavefronts; ++wf) {
    const Rectangle part = grid_.wavefront_tile(tile, wf);
    if (part.empty()) continue;
    Transaction& transaction = host_.pool().make(has(KernelPacket::update) ? Operation::update : Operation::store,
                                                 out + grid_.offset(part), grid_.shape(part));
    DataExtension& extension = transaction.extension();
    extension.traffic = TrafficClass::gemm_write;
    extension.element = element_;
    extension.cached = !has(KernelPacket::uncached);
    extension.producer = {workgroup.wg_id, static_cast<std::uint8_t>(wf), host_.gpu()};
    if (host_.functional()) fill_store(workgroup, part, transaction);
    delay += cycle_time(static_cast<double>(extension.shape.bytes()) / p.port_bytes_per_cycle, p.clock_GHz);
    host_.issue(slot, transaction, delay);
  }
}

void GemmKernel::fill_store(const Workgroup& workgroup, const Rectangle& part, Transaction& transaction) const {
  transaction.attach_buffer();
  unsigned char* data = transaction.get_data_ptr();
  for (std::uint32_t row = 0; row < part.rows; ++row, data += grid_.shape(part).row_bytes)
    narrow_elements(element_, workgroup.sum.data() + (part.row - workgroup.tile.row + row) * workgroup.sum.cols(), data,
                    part.columns);
}

}  // namespace t3vp
