// The rule of registers that take an address of their GPU's own memory: it has the GPU's number, and what has none is
// GPU 0's (docs/reference/registers.md).
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "protocol/address_map.h"

namespace t3vp {

/// What a refusal of such an address says at its end: the address with the number of the GPU, where it has none. Empty
/// otherwise.
inline std::string number_hint(std::uint64_t gpu, std::uint64_t address) {
  const bool has_none = gpu != 0 && address_map::gpu_of(address) == 0 && address_map::is_hbm(address);
  return has_none ? fmt::format("; with the GPU's number, {:#x} expected", address_map::on_gpu(gpu, address)) : "";
}

}  // namespace t3vp
