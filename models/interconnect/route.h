// Routing tables of GPUs and switches, and the links that join them. Responses take the same hops in channels of their
// own (packet.h; platform/system/topology.h explains why there is no cyclic dependency).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/address_map.h"

namespace t3vp::interconnect {

inline constexpr std::uint32_t no_port = 0xFFFFFFFF;
/// Virtual channels that routes may name.
inline constexpr std::uint8_t most_channels = 64;

struct Hop {
  std::uint32_t port = no_port;  ///< that leads there; no_port: none does
  std::uint8_t channel = 0;      ///< virtual channel of its link
};

/// The hops to each GPU, by its number.
struct Route : std::vector<Hop> {
  using std::vector<Hop>::vector;
  Hop all = {};  ///< to the switch that reads and writes all GPUs that it joins
};

inline Hop hop_to(const Route& route, std::uint64_t gpu) {
  if (gpu == address_map::all_gpus) return route.all;
  return gpu < route.size() ? route[gpu] : Hop{};
}

/// A GPU, or a switch.
struct LinkEnd {
  LinkEnd(std::uint16_t gpu = 0) : number(gpu) {}
  static LinkEnd of_switch(std::uint16_t number) {
    LinkEnd end(number);
    end.is_switch = true;
    return end;
  }
  /// "GPU 3" or "switch 0".
  std::string text() const { return (is_switch ? "switch " : "GPU ") + std::to_string(number); }

  std::uint16_t number;
  bool is_switch = false;
};

inline bool operator==(const LinkEnd& a, const LinkEnd& b) {
  return a.number == b.number && a.is_switch == b.is_switch;
}

}  // namespace t3vp::interconnect
