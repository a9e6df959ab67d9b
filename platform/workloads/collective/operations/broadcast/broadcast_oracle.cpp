#include "workloads/collective_operations.h"

namespace t3vp {
namespace {

class Broadcast : public CollectiveOperation {
 public:
  CollectiveData::Chunk taken(const CollectiveData& data, std::uint32_t gpu) const override {
    return gpu == 0 ? data.whole() : CollectiveData::Chunk{0, 0};
  }

  std::vector<float> received(const CollectiveData& data, std::uint32_t, std::vector<float>) const override {
    return data.taken(0, data.whole());
  }

  double entering(const ChunkBytes& chunks, const GpuPart& part) const override {
    return part.has[0] ? 0 : chunks.all();
  }

  double carried(const ChunkBytes& chunks, const Hops&) const override { return chunks.all() * (chunks.gpus() - 1); }
};

}  // namespace

const CollectiveOperation& broadcast_operation() {
  static const Broadcast operation;
  return operation;
}

}  // namespace t3vp
