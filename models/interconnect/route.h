// How packets find their way: at every GPU and switch a table, by the GPU that they are for.
#pragma once

#include <cstdint>
#include <vector>

namespace t3vp::interconnect {

inline constexpr std::uint32_t no_port = 0xFFFFFFFF;

struct Hop {
  std::uint32_t port = no_port;  ///< that leads there; no_port: none does
  std::uint8_t channel = 0;      ///< virtual channel of its link
};

using Route = std::vector<Hop>;

}  // namespace t3vp::interconnect
