#include "workloads/shared/link_bound.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace t3vp {
namespace {

/// Links that leave GPUs on the way from one to another one.
std::uint32_t hops(const Fabric& fabric, std::uint32_t from, std::uint32_t to) {
  const auto gpus = static_cast<std::uint32_t>(fabric.gpus.size());
  std::uint32_t count = 0;
  while (from != to) {
    const bool is_gpu = from < gpus;
    count += is_gpu ? 1 : 0;
    from = is_gpu ? fabric.gpus[from].neighbours[fabric.gpus[from].route[to].port]
                  : fabric.switches[from - gpus].neighbours[fabric.switches[from - gpus].route[to].port];
  }
  return count;
}

double least_of_all(const LinkDemand& demand, const ChunkBytes& chunks, const Fabric& fabric) {
  double bandwidth = 0;
  const bool adds = std::any_of(fabric.switches.begin(), fabric.switches.end(), [](const SwitchPlacement& placement) {
    return placement.reduces || placement.merging.works();
  });
  if (adds && demand.is_eased_by_switch()) return 0;
  for (const LinkPlacement& link : fabric.links)
    if (!link.from.is_switch) bandwidth += link.parameters.bandwidth_GBps;
  const auto hops_between = [&](std::uint32_t from, std::uint32_t to) { return hops(fabric, from, to); };
  return bandwidth == 0 ? 0 : demand.carried(chunks, hops_between) / bandwidth;
}

/// A part of the GPUs that grows, with the links that lead to it. What leaves it enters the rest.
class GrowingPart {
 public:
  GrowingPart(const LinkDemand& demand, const ChunkBytes& chunks, const Fabric& fabric)
      : demand_(demand), chunks_(chunks), at_switch_(fabric.switches.size()) {
    part_.has.resize(fabric.gpus.size());
    for (const LinkPlacement& link : fabric.links)
      if (link.to.is_switch) at_switch_[link.to.number].from_outside += link.parameters.bandwidth_GBps;
  }

  /// `links` are those that begin or end at the GPU.
  void add(std::uint32_t gpu, const std::vector<const LinkPlacement*>& links) {
    part_.has[gpu] = true;
    ++part_.size;
    part_.bytes += static_cast<double>(chunks_.of_gpu[gpu]);
    for (const LinkPlacement* link : links) {
      const double bandwidth = link->parameters.bandwidth_GBps;
      if (link->to.is_switch)
        at_switch_[link->to.number].from_outside -= bandwidth;
      else if (link->from.is_switch)
        at_switch_[link->from.number].inwards += bandwidth;
      else if (link->from.number == gpu)
        inwards_ -= part_.has[link->to.number] ? bandwidth : 0;
      else
        inwards_ += part_.has[link->from.number] ? 0 : bandwidth;
    }
  }

  double least_ns() const {
    double bandwidth = inwards_;
    for (const AtSwitch& s : at_switch_) bandwidth += std::min(s.from_outside, s.inwards);
    const double entering = demand_.entering(chunks_, part_);
    return entering == 0 ? 0 : entering / bandwidth;
  }

 private:
  /// Bandwidth of the links to a switch from outside the part, and of those from there to the part.
  struct AtSwitch {
    double from_outside = 0, inwards = 0;
  };

  const LinkDemand& demand_;
  const ChunkBytes& chunks_;
  GpuPart part_;
  std::vector<AtSwitch> at_switch_;
  double inwards_ = 0;
};

/// Parts that follow one another when GPUs are counted in steps: of a torus's dimensions, or of places in nodes.
double least_of_parts(const LinkDemand& demand, const ChunkBytes& chunks, const Fabric& fabric, std::uint32_t step) {
  const auto gpus = static_cast<std::uint32_t>(fabric.gpus.size());
  std::vector<std::vector<const LinkPlacement*>> links(gpus);
  for (const LinkPlacement& link : fabric.links) {
    if (!link.from.is_switch) links[link.from.number].push_back(&link);
    if (!link.to.is_switch) links[link.to.number].push_back(&link);
  }
  double least = 0;
  for (std::uint32_t begin = 0; begin < gpus; ++begin) {
    GrowingPart part(demand, chunks, fabric);
    for (std::uint32_t i = 0; i + 1 < gpus; ++i) {
      const std::uint32_t at = (begin + i) % gpus, gpu = at % (gpus / step) * step + at / (gpus / step);
      part.add(gpu, links[gpu]);
      least = std::max(least, part.least_ns());
    }
  }
  return least;
}

}  // namespace

double ChunkBytes::all() const {
  return static_cast<double>(std::accumulate(of_gpu.begin(), of_gpu.end(), std::uint64_t{0}));
}

double least_link_ns(const LinkDemand& demand, const std::vector<std::uint64_t>& chunk_bytes, const Fabric& fabric) {
  const ChunkBytes chunks{chunk_bytes};
  double least = least_of_all(demand, chunks, fabric);
  const auto gpus = static_cast<std::uint32_t>(fabric.gpus.size());
  for (std::uint32_t step = 1; step < gpus; ++step)
    if (gpus % step == 0) least = std::max(least, least_of_parts(demand, chunks, fabric, step));
  return least;
}

}  // namespace t3vp
