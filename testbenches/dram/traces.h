// The traces on which cycle-level simulators were measured (reference_figures.csv), by the same laws.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dram/replay.h"

namespace t3vp::dram {

inline constexpr std::size_t trace_length = 262'144;

/// seq_read, seq_write, mix_r2w1_seq, rand_read, rand_write, rand_mix50, tile_read, tile_write, seq_load<percent of
/// 32 GB/s>, chase_rand (to be replayed with one access outstanding). Random ones have a fixed seed.
std::vector<TraceRecord> make_trace(const std::string& name, std::size_t length = trace_length);

}  // namespace t3vp::dram
