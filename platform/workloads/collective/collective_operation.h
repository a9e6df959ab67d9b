// The definition of a collective operation: the contents of GPUs' buffers before and after, and its traffic on links.
#pragma once

#include <cstdint>
#include <vector>

#include "t3/collective.h"
#include "workloads/shared/link_bound.h"

namespace t3vp {

/// The buffers of a run before it. All values are integers which every element type holds, and so are sums of any of
/// them, so that results are compared to the bit.
class CollectiveData {
 public:
  struct Chunk {
    std::uint64_t begin, size;
  };

  CollectiveData(const t3_collective& collective, std::uint32_t gpus, std::uint64_t seed)
      : collective_(collective), gpus_(gpus), seed_(seed) {}

  const t3_collective& collective() const { return collective_; }
  std::uint32_t gpus() const { return gpus_; }
  std::uint64_t elements() const { return collective_.elements; }
  Chunk whole() const { return {0, elements()}; }
  Chunk chunk(std::uint32_t owner) const;

  float value(std::uint32_t gpu, std::uint64_t index) const;
  /// Returns the sum of all GPUs' elements of this index.
  float sum(std::uint64_t index) const;
  /// A GPU's buffer with those elements alone; the others are not a number.
  std::vector<float> taken(std::uint32_t gpu, const Chunk& elements) const;

 private:
  t3_collective collective_;
  std::uint32_t gpus_;
  std::uint64_t seed_;
};

/// Folder operations/<name> defines the function `<name>_operation`, which returns its own. It shares nothing with the
/// kernel's steps.
class CollectiveOperation : public LinkDemand {
 public:
  /// Elements that the operation takes from a GPU.
  virtual CollectiveData::Chunk taken(const CollectiveData& data, std::uint32_t /*gpu*/) const { return data.whole(); }
  /// Returns the final contents of a GPU's buffer `out`. `before` is the operation's input from it.
  virtual std::vector<float> received(const CollectiveData& data, std::uint32_t gpu,
                                      std::vector<float> before) const = 0;
};

/// Returns the least link time of the operation, whatever its algorithm: `chunk_bytes` by GPU.
double least_link_ns(t3_collective_op op, const std::vector<std::uint64_t>& chunk_bytes, const Fabric& fabric);
double least_link_ns(const t3_collective& collective, const Fabric& fabric);

}  // namespace t3vp
