#include "workloads/collective_operations.h"

namespace t3vp {
namespace {

/// By a torus's rings a GPU is left with sums of chunks that are not its own: over the dimensions behind the last one
/// in which their owner has another coordinate.
float partial_sum(const CollectiveData& data, std::uint32_t gpu, std::uint32_t owner, std::uint64_t index) {
  std::uint32_t apart = 1;  // GPUs over which the sum goes have numbers so far apart
  std::uint32_t step = 1;
  for (const std::uint32_t size : data.collective().dimensions) {
    if (size == 0) break;
    if (gpu / step % size != owner / step % size) apart = step * size;
    step *= size;
  }
  float result = 0;
  for (std::uint32_t other = gpu % apart; other < data.gpus(); other += apart) result += data.value(other, index);
  return result;
}

class ReduceScatter : public CollectiveOperation {
 public:
  std::vector<float> received(const CollectiveData& data, std::uint32_t gpu, std::vector<float> values) const override {
    const bool by_rings = data.collective().algorithm == T3_TORUS_RINGS;
    for (std::uint32_t owner = 0; by_rings && owner < data.gpus(); ++owner) {
      const CollectiveData::Chunk part = data.chunk(owner);
      for (std::uint64_t i = part.begin; i < part.begin + part.size; ++i) values[i] = partial_sum(data, gpu, owner, i);
    }
    const CollectiveData::Chunk own = data.chunk(gpu);
    for (std::uint64_t i = own.begin; i < own.begin + own.size; ++i) values[i] = data.sum(i);
    return values;
  }

  /// One addend at least of each element, from wherever it is.
  double entering(const ChunkBytes&, const GpuPart& part) const override { return part.bytes; }

  /// Every GPU but one per chunk has to send something of each element.
  double carried(const ChunkBytes& chunks, const Hops&) const override { return chunks.all() * (chunks.gpus() - 1); }
};

}  // namespace

const CollectiveOperation& reduce_scatter_operation() {
  static const ReduceScatter operation;
  return operation;
}

}  // namespace t3vp
