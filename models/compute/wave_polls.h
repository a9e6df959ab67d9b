// Waves that read an integer again and again until a condition holds.
#pragma once

#include <string>
#include <vector>

#include "compute/byte_accesses.h"

namespace t3vp::compute {

class WavePolls {
 public:
  WavePolls(KernelHost& host, KernelAccesses& accesses, ByteAccesses& bytes)
      : host_(host), accesses_(accesses), bytes_(bytes) {}

  void begin(Wave& wave);
  void again(Wave& wave);
  /// Whether the wave's poll ends with what a read has brought. If not, the next read is scheduled.
  bool ends(Wave& wave, const Transaction& transaction);

  /// Waves that have read something else than what they await.
  static std::uint32_t count(const std::vector<Wave>& waves);
  /// Returns what the first of them awaits, in words; empty when there is none.
  static std::string awaited(const std::vector<Wave>& waves);

 private:
  KernelHost& host_;
  KernelAccesses& accesses_;
  ByteAccesses& bytes_;
};

}  // namespace t3vp::compute
