#include "workloads/collective_operations.h"

namespace t3vp {
namespace {

class AllGather : public CollectiveOperation {
 public:
  CollectiveData::Chunk taken(const CollectiveData& data, std::uint32_t gpu) const override { return data.chunk(gpu); }

  std::vector<float> received(const CollectiveData& data, std::uint32_t, std::vector<float> values) const override {
    for (std::uint32_t owner = 0; owner < data.gpus(); ++owner) {
      const CollectiveData::Chunk part = data.chunk(owner);
      for (std::uint64_t i = part.begin; i < part.begin + part.size; ++i) values[i] = data.value(owner, i);
    }
    return values;
  }

  double entering(const ChunkBytes& chunks, const GpuPart& part) const override { return chunks.all() - part.bytes; }

  double carried(const ChunkBytes& chunks, const Hops&) const override { return chunks.all() * (chunks.gpus() - 1); }
};

}  // namespace

const CollectiveOperation& all_gather_operation() {
  static const AllGather operation;
  return operation;
}

}  // namespace t3vp
