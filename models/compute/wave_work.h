// The computation of waves: the time that it takes on the compute unit's lanes, and its results in the tiles.
#pragma once

#include <string>

#include "compute/kernel_given.h"
#include "compute/lent_tiles.h"
#include "compute/local_memory.h"
#include "compute/tile_file.h"
#include "protocol/refusal.h"

namespace t3vp::compute {

class WaveWork {
 public:
  /// The memory that a work's own function may reach and must not change.
  struct Reach {
    LentTiles& lent_tiles;
    const LocalMemory& local;
    std::uint32_t local_bytes;
    const KernelGiven& given;
  };

  WaveWork(KernelHost& host, TileFile& tiles, const Reach& reach) : host_(host), tiles_(tiles), reach_(reach) {}

  /// The work takes the lanes as soon as they are free, and the cluster says when it has ended. Empty, or a text when
  /// it would never end.
  Refusal occupy(Wave& wave, const t3_call& work);
  /// Computes the result of a work whose time is over. Returns nothing, or the rule that its function has broken.
  Refusal finish(Wave& wave, const t3_call& work);

 private:
  /// Work is divided by its rate, which gives the cycles that it occupies the lanes.
  struct Need {
    CoreWork work;
    double operations, operations_per_cycle;
  };
  Need need_of(const t3_call& work) const;
  static double clipped_share(const t3_call& work);
  Refusal compute(Wave& wave, const t3_vector_work& work);
  Refusal validate_computed(const Wave& wave, const t3_vector_work& work, bool returned) const;
  void add(const Wave& wave, const t3_tile& sum, const t3_tile& addend);
  TileContents& contents(const Wave& wave, const t3_tile& tile) { return tiles_.contents(wave.place, tile); }

  KernelHost& host_;
  TileFile& tiles_;
  Reach reach_;
  Multiplier multiplier_;
};

// Messages about kernels that have broken a rule.
inline constexpr const char* stray_call = "it calls the device for another wave, from its work, or for nothing";
inline constexpr const char* changed_given =
    "it has changed its arguments or the struct t3_device, which all of its workgroups read: the same expected";

}  // namespace t3vp::compute
