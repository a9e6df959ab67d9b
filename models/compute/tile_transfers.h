// Loads into tiles, stores and updates from them.
#pragma once

#include "compute/kernel_accesses.h"
#include "compute/ring_agreement.h"
#include "compute/tile_file.h"

namespace t3vp::compute {

class TileTransfers {
 public:
  /// `agreement` is what stores to other GPUs carry.
  TileTransfers(KernelHost& host, const t3_kernel& kernel, KernelAccesses& accesses, TileFile& tiles,
                const RingAgreement& agreement);

  void load(Wave& wave);
  void loaded(const KernelAccesses::Access& access, const Transaction& transaction);
  void store(Wave& wave, Operation operation);

 private:
  Transaction& transfer(const Wave& wave, Operation operation);

  KernelHost& host_;
  KernelAccesses& accesses_;
  TileFile& tiles_;
  const RingAgreement& agreement_;
  TrafficClass reads_, writes_;
};

}  // namespace t3vp::compute
