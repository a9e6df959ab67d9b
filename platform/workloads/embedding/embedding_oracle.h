// Embedding tables whose rows are pooled and exchanged: what tables hold, what GPUs receive, and what it takes at
// least.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/embedding/embedding_layout.h"

namespace t3vp {

/// The buffers of a run, by formulas of their own: nothing but the bags is shared with the kernels. Tables have
/// integers, so small that no sum of a bag is ever rounded: results are compared to the bit. A mean is the sum divided
/// in fp32, then rounded to the element type.
class EmbeddingOracle {
 public:
  EmbeddingOracle(const t3_embedding& embedding, std::uint32_t gpus) : embedding_(embedding), gpus_(gpus) {}

  /// A row of one of the GPU's tables.
  std::vector<float> table_row(std::uint32_t gpu, std::uint32_t table, std::uint32_t row) const;
  /// Rows of a table, one after the other, and by how much fp32 may round each element: nothing, as long as all that is
  /// added to it stays within 2^24.
  struct Table {
    std::vector<double> values, tolerances;
  };
  /// One of the GPU's tables, when each row of each bag has become less by what was pooled of the bag, of a mean by its
  /// share of it.
  Table updated_table(std::uint32_t gpu, std::uint32_t table) const;
  /// Returns the final contents of the GPU's buffer `out` for one of its samples.
  std::vector<float> received(std::uint32_t gpu, std::uint32_t sample) const;

 private:
  float value(std::uint64_t table, std::uint32_t row, std::uint32_t column) const;
  void pool(std::uint64_t table, std::uint32_t sample, float* result) const;

  t3_embedding embedding_;
  std::uint32_t gpus_;
};

/// The least work of a GPU.
struct PoolingNeed {
  std::uint64_t rows = 0;        ///< of all bags
  std::uint64_t additions = 0;   ///< of elements
  std::uint64_t read_bytes = 0;  ///< rows that are in any bag, each once, and the numbers of all bags
};

PoolingNeed pooling_need(const t3_embedding& embedding, std::uint32_t gpu);

}  // namespace t3vp
