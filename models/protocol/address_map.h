// One physical address space per node: the GPU number in the upper bits, then local HBM and the GPU's registers.
//
//   bits 63..44  GPU number
//   bits 43..40  0: local HBM (byte address in bits 39..0); 15: register blocks
//   bits 39..16  (registers) number of the block, below: byte offset in the block
#pragma once

#include <cstdint>

namespace t3vp::address_map {

inline constexpr unsigned gpu_shift = 44;
inline constexpr std::uint64_t local_mask = (std::uint64_t{1} << gpu_shift) - 1;
inline constexpr std::uint64_t hbm_limit = std::uint64_t{1} << 40;
inline constexpr std::uint64_t registers_base = std::uint64_t{0xF} << 40;
inline constexpr std::uint64_t block_bytes = 0x10000;

constexpr std::uint64_t gpu_of(std::uint64_t address) { return address >> gpu_shift; }
constexpr std::uint64_t local_of(std::uint64_t address) { return address & local_mask; }
constexpr std::uint64_t on_gpu(std::uint64_t gpu, std::uint64_t local) { return gpu << gpu_shift | local; }
constexpr bool is_hbm(std::uint64_t address) { return local_of(address) < hbm_limit; }

/// Register blocks of a GPU, in the order in which they lie at registers_base. firmware/include/t3/address.h mirrors
/// it.
enum class Block : std::uint64_t {
  system = 0,
  interrupt_controller = 1,
  error_log = 2,
  signals = 3,
  kernel_queue = 4,
  output_map = 5,
  cache = 6,
  memory_controller = 7,
  near_memory = 8,
  tracker = 9,
  dma = 10,
  links = 11,
  count = 12
};

constexpr std::uint64_t block_base(Block block) {
  return registers_base + static_cast<std::uint64_t>(block) * block_bytes;
}

}  // namespace t3vp::address_map
