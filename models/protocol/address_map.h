// One physical address space per node: the GPU number in the upper bits, then local HBM and the GPU's registers.
//
//   bits 63..44  GPU number; 0xFFFFE: all GPUs of a switch that reduces
//   bits 43..40  0: local HBM (byte address in bits 39..0); 14: messages for the endpoint engine; 15: register blocks
//   bits 39..16  (registers) number of the block, below: byte offset in the block
//
// The numbers of blocks and interrupt lines are from models/gpu.json, the list of a GPU's blocks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "registers/gpu.h"

namespace t3vp::address_map {

inline constexpr std::uint64_t local_mask = (std::uint64_t{1} << gpu_shift) - 1;
inline constexpr std::size_t block_count = static_cast<std::size_t>(Block::count);
inline constexpr std::size_t line_count = static_cast<std::size_t>(Line::count);

constexpr std::uint64_t gpu_of(std::uint64_t address) { return address >> gpu_shift; }
constexpr std::uint64_t local_of(std::uint64_t address) { return address & local_mask; }
constexpr std::uint64_t on_gpu(std::uint64_t gpu, std::uint64_t local) { return gpu << gpu_shift | local; }
/// Not a GPU, but all GPUs that a reducing switch joins: stores go to each, and loads return the sum of all.
inline constexpr std::uint64_t all_gpus = (~std::uint64_t{0} >> gpu_shift) - 1;
constexpr bool is_hbm(std::uint64_t address) { return local_of(address) < hbm_limit; }
/// Whether it is of the endpoint engine's messages.
constexpr bool is_endpoint(std::uint64_t address) {
  return local_of(address) >= endpoint_memory && local_of(address) < registers_base;
}

constexpr std::uint64_t block_base(Block block) {
  return registers_base + static_cast<std::uint64_t>(block) * block_bytes;
}

constexpr std::size_t index_of(Line line) { return static_cast<std::size_t>(line); }
/// The line's bit in the interrupt controller's registers.
constexpr std::uint32_t bit_of(Line line) { return std::uint32_t{1} << index_of(line); }

}  // namespace t3vp::address_map
