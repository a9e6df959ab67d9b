#include "workloads/collective_operations.h"

namespace t3vp {
namespace {

class AllReduce : public CollectiveOperation {
 public:
  std::vector<float> received(const CollectiveData& data, std::uint32_t, std::vector<float> values) const override {
    for (std::uint64_t i = 0; i < values.size(); ++i) values[i] = data.sum(i);
    return values;
  }

  /// One addend at least of each element, from wherever it is.
  double entering(const ChunkBytes& chunks, const GpuPart&) const override { return chunks.all(); }

  /// Every GPU but one per chunk has to send something of each element, and every GPU but one has to receive the sum:
  /// 2 (N - 1) n in all (Patarasu and Yuan, Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations,
  /// 2009).
  double carried(const ChunkBytes& chunks, const Hops&) const override {
    return 2 * chunks.all() * (chunks.gpus() - 1);
  }
};

}  // namespace

const CollectiveOperation& all_reduce_operation() {
  static const AllReduce operation;
  return operation;
}

}  // namespace t3vp
