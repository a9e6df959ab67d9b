#include "hardware/ring.h"

#include "interconnect/fabric_port.h"

namespace t3vp {
namespace {

std::vector<std::uint32_t> neighbours_of(std::uint32_t gpu, std::uint32_t gpus) {
  const std::uint32_t previous = (gpu + gpus - 1) % gpus, next = (gpu + 1) % gpus;
  if (gpus == 1) return {};
  if (gpus == 2) return {previous};
  return {previous, next};
}

std::vector<std::uint32_t> route_of(std::uint32_t gpu, std::uint32_t gpus) {
  std::vector<std::uint32_t> route(gpus, interconnect::FabricPort::no_route);
  for (std::uint32_t to = 0; to < gpus; ++to) {
    if (to == gpu) continue;
    const std::uint32_t backward = (gpu + gpus - to) % gpus;
    route[to] = backward <= gpus - backward ? 0 : 1;
  }
  return route;
}

}  // namespace

std::vector<Placement> ring(std::uint32_t gpus) {
  std::vector<Placement> placements;
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu)
    placements.push_back({static_cast<std::uint16_t>(gpu), gpus, neighbours_of(gpu, gpus), route_of(gpu, gpus),
                          static_cast<std::uint32_t>(neighbours_of(gpu, gpus).size())});
  return placements;
}

std::vector<Placement> mirrored_ring(std::uint32_t gpus) {
  std::vector<std::uint32_t> route(gpus, 0);
  route[0] = interconnect::FabricPort::no_route;
  return {{0, gpus, {gpus - 1}, route, 1}};
}

}  // namespace t3vp
