// Tiled GEMM: a workgroup computes one tile of the output from slabs of A and B that it loads ahead of their use, then
// stores it wavefront by wavefront. Stages (T3 2.5) emerge from the number of workgroups that fit.
#pragma once

#include <vector>

#include "compute/kernel_model.h"
#include "compute/matrix_unit.h"
#include "protocol/tile_grid.h"

namespace t3vp {

class GemmKernel : public KernelModel {
 public:
  GemmKernel(KernelHost& host, const KernelPacket& packet);

  std::uint32_t workgroups() const override { return packet_.workgroups; }
  /// As many more as the tile is smaller than the one that the parameter speaks of: registers are what fills up.
  std::uint32_t workgroups_per_cu() const override;
  bool is_producer() const override { return true; }
  void start(Slot slot, std::uint32_t index) override;
  void answered(Slot slot, Transaction& transaction) override;
  void elapsed(Slot slot, std::uint32_t tag) override;

 private:
  struct Slab {
    std::uint32_t awaited = 0;  ///< loads that have not come back
    FloatMatrix a, b;           ///< functional only; depth columns and depth rows
  };
  struct Workgroup {
    std::uint32_t wg_id = 0;  ///< of the whole batch
    std::uint32_t batch = 0;
    Rectangle tile;
    std::uint32_t loaded = 0, computed = 0;  ///< slabs asked for, slabs multiplied
    bool computing = false;
    std::uint32_t stores = 0;  ///< not yet answered
    Picoseconds begin = 0, store_begin = 0;
    std::vector<Slab> slabs;  ///< ring of prefetch_slabs buffers
    FloatMatrix sum;
  };
  bool has(std::uint16_t flag) const { return (packet_.flags & flag) != 0; }
  std::uint32_t depth(std::uint32_t slab) const;
  Slab& buffer(Workgroup& workgroup, std::uint32_t slab) const {
    return workgroup.slabs[slab % workgroup.slabs.size()];
  }
  void load_slab(Slot slot);
  void load(Slot slot, std::uint64_t address, const Shape& shape, std::uint32_t slab, bool is_b);
  void take_data(Workgroup& workgroup, Transaction& transaction);
  void compute(Slot slot);
  void store(Slot slot);
  void fill_store(const Workgroup& workgroup, const Rectangle& part, Transaction& transaction) const;

  KernelHost& host_;
  KernelPacket packet_;
  TileGrid grid_;
  ElementType element_;
  std::uint32_t slabs_;
  std::vector<Workgroup> workgroups_;  ///< by slot
};

}  // namespace t3vp
