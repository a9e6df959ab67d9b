#include "workloads/shared/link_bound.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace t3vp {
namespace {

/// What the GPUs do together.
struct Work {
  t3_collective_op op;
  const std::vector<std::uint64_t>& chunks;  ///< bytes, by GPU

  double bytes() const { return static_cast<double>(std::accumulate(chunks.begin(), chunks.end(), std::uint64_t{0})); }
};

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

/// The bytes of all links that leave GPUs. Of a sum, every GPU but one per chunk has to send something of each element,
/// and of a sum that all are to have, every GPU but one has to receive it as well: 2 (N - 1) n in all (Patarasu and
/// Yuan, Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations, 2009). Parts of an all-to-all take as
/// many links as lie between two GPUs.
double bytes_of_all(const Work& work, const Fabric& fabric) {
  const auto gpus = static_cast<std::uint32_t>(fabric.gpus.size());
  const double one = work.bytes() * (gpus - 1);
  if (work.op == T3_ALL_REDUCE) return 2 * one;
  if (work.op != T3_ALL_TO_ALL) return one;
  double sum = 0;
  for (std::uint32_t to = 0; to < gpus; ++to)
    for (std::uint32_t from = 0; from < gpus; ++from)
      sum += static_cast<double>(work.chunks[to] * hops(fabric, from, to));
  return sum;
}

/// A switch that reduces adds and copies on the way, but for an all-to-all.
double least_of_all(const Work& work, const Fabric& fabric) {
  double bandwidth = 0;
  const bool adds = std::any_of(fabric.switches.begin(), fabric.switches.end(),
                                [](const SwitchPlacement& placement) { return placement.reduces; });
  if (adds && work.op != T3_ALL_TO_ALL) return 0;
  for (const LinkPlacement& link : fabric.links)
    if (!link.from.is_switch) bandwidth += link.parameters.bandwidth_GBps;
  return bandwidth == 0 ? 0 : bytes_of_all(work, fabric) / bandwidth;
}

/// A part of the GPUs that grows, with the links that lead to it. What leaves it enters the rest.
class Part {
 public:
  Part(const Work& work, const Fabric& fabric)
      : work_(work), fabric_(fabric), has_(fabric.gpus.size(), false), at_switch_(fabric.switches.size()) {
    for (const LinkPlacement& link : fabric.links)
      if (link.to.is_switch) at_switch_[link.to.number].from_outside += link.parameters.bandwidth_GBps;
  }

  /// `links` are those that begin or end at the GPU.
  void add(std::uint32_t gpu, const std::vector<const LinkPlacement*>& links) {
    has_[gpu] = true;
    ++size_;
    bytes_ += static_cast<double>(work_.chunks[gpu]);
    for (const LinkPlacement* link : links) {
      const double bandwidth = link->parameters.bandwidth_GBps;
      if (link->to.is_switch)
        at_switch_[link->to.number].from_outside -= bandwidth;
      else if (link->from.is_switch)
        at_switch_[link->from.number].inwards += bandwidth;
      else if (link->from.number == gpu)
        inwards_ -= has_[link->to.number] ? bandwidth : 0;
      else
        inwards_ += has_[link->from.number] ? 0 : bandwidth;
    }
  }

  double least_ns() const {
    double bandwidth = inwards_;
    for (const AtSwitch& s : at_switch_) bandwidth += std::min(s.from_outside, s.inwards);
    const double entering = entering_bytes();
    return entering == 0 ? 0 : entering / bandwidth;
  }

 private:
  /// Bandwidth of the links to a switch from outside the part, and of those from there to the part.
  struct AtSwitch {
    double from_outside = 0, inwards = 0;
  };

  /// Of a sum one addend at least of each element, from wherever it is.
  double entering_bytes() const {
    const double all = work_.bytes();
    switch (work_.op) {
      case T3_REDUCE_SCATTER:
        return bytes_;
      case T3_ALL_GATHER:
        return all - bytes_;
      case T3_ALL_TO_ALL:
        return bytes_ * static_cast<double>(fabric_.gpus.size() - size_);
      case T3_BROADCAST:
        return has_[0] ? 0 : all;
      default:
        return all;
    }
  }

  const Work& work_;
  const Fabric& fabric_;
  std::vector<bool> has_;
  std::vector<AtSwitch> at_switch_;
  std::size_t size_ = 0;
  double bytes_ = 0;  ///< of the part's own chunks
  double inwards_ = 0;
};

/// Parts that follow one another when GPUs are counted in steps: of a torus's dimensions, or of places in nodes.
double least_of_parts(const Work& work, const Fabric& fabric, std::uint32_t step) {
  const auto gpus = static_cast<std::uint32_t>(fabric.gpus.size());
  std::vector<std::vector<const LinkPlacement*>> links(gpus);
  for (const LinkPlacement& link : fabric.links) {
    if (!link.from.is_switch) links[link.from.number].push_back(&link);
    if (!link.to.is_switch) links[link.to.number].push_back(&link);
  }
  double least = 0;
  for (std::uint32_t begin = 0; begin < gpus; ++begin) {
    Part part(work, fabric);
    for (std::uint32_t i = 0; i + 1 < gpus; ++i) {
      const std::uint32_t at = (begin + i) % gpus, gpu = at % (gpus / step) * step + at / (gpus / step);
      part.add(gpu, links[gpu]);
      least = std::max(least, part.least_ns());
    }
  }
  return least;
}

}  // namespace

double least_link_ns(t3_collective_op op, const std::vector<std::uint64_t>& chunk_bytes, const Fabric& fabric) {
  const Work work{op, chunk_bytes};
  double least = least_of_all(work, fabric);
  const auto gpus = static_cast<std::uint32_t>(fabric.gpus.size());
  for (std::uint32_t step = 1; step < gpus; ++step)
    if (gpus % step == 0) least = std::max(least, least_of_parts(work, fabric, step));
  return least;
}

double least_link_ns(const t3_collective& c, const Fabric& fabric) {
  const auto gpus = static_cast<std::uint32_t>(fabric.gpus.size());
  std::vector<std::uint64_t> chunks;
  for (std::uint32_t chunk = 0; chunk < gpus; ++chunk)
    chunks.push_back((c.elements + gpus - 1 - chunk) / gpus * t3_element_bytes(c.element));
  return least_link_ns(c.op, chunks, fabric);
}

}  // namespace t3vp
