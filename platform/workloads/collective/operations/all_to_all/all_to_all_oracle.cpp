#include "workloads/collective_operations.h"

namespace t3vp {
namespace {

class AllToAll : public CollectiveOperation {
 public:
  std::vector<float> received(const CollectiveData& data, std::uint32_t gpu, std::vector<float>) const override {
    const CollectiveData::Chunk own = data.chunk(gpu);
    std::vector<float> values;
    for (std::uint32_t from = 0; from < data.gpus(); ++from)
      for (std::uint64_t i = own.begin; i < own.begin + own.size; ++i) values.push_back(data.value(from, i));
    return values;
  }

  double entering(const ChunkBytes& chunks, const GpuPart& part) const override {
    return part.bytes * (chunks.gpus() - part.size);
  }

  /// Each part takes as many links as lie between two GPUs.
  double carried(const ChunkBytes& chunks, const Hops& hops) const override {
    double sum = 0;
    for (std::uint32_t to = 0; to < chunks.gpus(); ++to)
      for (std::uint32_t from = 0; from < chunks.gpus(); ++from)
        sum += static_cast<double>(chunks.of_gpu[to] * hops(from, to));
    return sum;
  }

  bool is_eased_by_switch() const override { return false; }
};

}  // namespace

const CollectiveOperation& all_to_all_operation() {
  static const AllToAll operation;
  return operation;
}

}  // namespace t3vp
