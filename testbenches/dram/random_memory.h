// Memories with random geometry and timings, as legal ones as any.
#pragma once

#include <cstdint>
#include <random>

#include "dram/memory_spec.h"

namespace t3vp::dram {

inline MemorySpec random_memory(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto in = [&](std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random() % (high - low + 1));
  };
  MemorySpec spec;
  spec.geometry = {1u << in(0, 2), 1u << in(1, 2), 1u << in(1, 3), 256, 1u << in(9, 11), 32};
  Timing& t = spec.timing;
  t.RCDRD = in(5, 25);
  t.RCDWR = in(3, 25);
  t.RP = in(5, 25);
  t.RAS = in(25, 60);
  t.RC = t.RAS + t.RP + in(0, 4);
  t.RRDS = in(1, 6);
  t.RRDL = t.RRDS + in(0, 4);
  t.FAW = in(0, 1) == 0 ? 0 : in(8, 40);
  t.CL = in(8, 24);
  t.CWL = in(1, 8);
  t.BURST = in(1, 4);
  t.CCDS = t.BURST + in(0, 1);
  t.CCDL = t.CCDS + in(0, 4);
  t.CCDWL = t.CCDL + in(0, 8);
  t.RTW = t.CL + t.BURST + 2 - t.CWL;
  t.WTRS = in(1, 8);
  t.WTRL = t.WTRS + in(0, 5);
  t.WR = in(5, 20);
  t.RTP = in(1, 8);
  t.RTPL = in(0, 8);
  t.RFC = in(100, 300);
  t.REFI = in(1500, 4000);
  spec.refresh = in(0, 1) == 1;
  spec.dual_command_bus = in(0, 3) != 0;
  spec.activate_cycles = in(1, 2);
  spec.queue_depth = in(1, 100);
  spec.queueing = in(0, 1) == 0 ? Queueing::shared_round_robin : Queueing::split_oldest_first;
  const char* maps[] = {"bgint", "accel", "rocol"};
  spec.address_map = maps[in(0, 2)];
  return spec;
}

}  // namespace t3vp::dram
