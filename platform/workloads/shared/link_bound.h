// The least traffic of links, and so the lower bounds of a collective's time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "system/gpu_parameters.h"

namespace t3vp {

/// Each GPU has a chunk of a buffer.
struct ChunkBytes {
  const std::vector<std::uint64_t>& of_gpu;

  double all() const;
  std::uint32_t gpus() const { return static_cast<std::uint32_t>(of_gpu.size()); }
};

/// Some of the GPUs.
struct GpuPart {
  std::vector<bool> has;  ///< by GPU
  std::uint32_t size = 0;
  double bytes = 0;  ///< of its chunks
};

/// A collective operation as links see it. An operation without a definition has no bound.
class LinkDemand {
 public:
  virtual ~LinkDemand() = default;
  /// Bytes that enter the part from other GPUs at least, whatever the algorithm.
  virtual double entering(const ChunkBytes&, const GpuPart&) const { return 0; }
  /// Returns the number of links that leave GPUs on the route from one GPU to another.
  using Hops = std::function<std::uint32_t(std::uint32_t from, std::uint32_t to)>;
  /// Bytes that all links which leave GPUs carry together at least.
  virtual double carried(const ChunkBytes&, const Hops&) const { return 0; }
  /// Whether a switch that reduces can add or copy on the way, so that `carried` bounds nothing there.
  virtual bool is_eased_by_switch() const { return true; }
};

/// In ns, without latencies: the largest of what has to enter or leave a part of the GPUs over the links that lead
/// there, and what all links together need. Parts are each GPU, each node, halves of a ring or torus and others more.
/// There are as many chunks, of so many bytes, as the fabric has GPUs.
double least_link_ns(const LinkDemand& demand, const std::vector<std::uint64_t>& chunk_bytes, const Fabric& fabric);

}  // namespace t3vp
