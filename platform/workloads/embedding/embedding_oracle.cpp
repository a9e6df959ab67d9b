#include "workloads/embedding/embedding_oracle.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "workloads/shared/split_mix.h"

namespace t3vp {

/// fp16 holds integers of magnitude up to 2048, which the rows of a bag share.
float EmbeddingOracle::value(std::uint64_t table, std::uint32_t row, std::uint32_t column) const {
  constexpr std::uint32_t largest = 2048;
  const std::uint32_t magnitudes = std::max(std::min(largest / embedding_.pooling, 256u), 1u);
  const std::uint64_t of_row = mixed(mixed(embedding_.seed ^ 0x5851F42D4C957F2D) + (table << 32) + row);
  const std::uint64_t hash = mixed(of_row + column);
  const auto magnitude = static_cast<float>(1 + (hash >> 1) % magnitudes);
  return (hash & 1) != 0 ? magnitude : -magnitude;
}

std::vector<float> EmbeddingOracle::table_row(std::uint32_t gpu, std::uint32_t table, std::uint32_t row) const {
  std::vector<float> values(embedding_.dimension);
  const std::uint64_t number = std::uint64_t{gpu} * embedding_.tables_per_gpu + table;
  for (std::uint32_t i = 0; i < embedding_.dimension; ++i) values[i] = value(number, row, i);
  return values;
}

void EmbeddingOracle::pool(std::uint64_t table, std::uint32_t sample, float* result) const {
  t3_bag bag;
  t3_embedding_bag(&embedding_, table, sample, &bag);
  for (std::uint32_t column = 0; column < embedding_.dimension; ++column) {
    std::int64_t sum = 0;
    for (std::uint32_t i = 0; i < bag.count; ++i) sum += static_cast<std::int64_t>(value(table, bag.rows[i], column));
    result[column] = static_cast<float>(sum);
    if (embedding_.mean) result[column] /= static_cast<float>(bag.count);
  }
}

EmbeddingOracle::Table EmbeddingOracle::updated_table(std::uint32_t gpu, std::uint32_t table) const {
  constexpr double exact = 1 << 24;
  const std::uint64_t number = std::uint64_t{gpu} * embedding_.tables_per_gpu + table;
  Table result;
  for (std::uint32_t row = 0; row < embedding_.rows; ++row)
    for (const float value : table_row(gpu, table, row)) result.values.push_back(value);
  std::vector<double> magnitudes, additions(result.values.size());
  for (const double value : result.values) magnitudes.push_back(std::abs(value));
  std::vector<float> pooled(embedding_.dimension);
  t3_bag bag;
  for (std::uint32_t sample = 0; sample < embedding_.global_batch; ++sample) {
    pool(number, sample, pooled.data());
    t3_embedding_bag(&embedding_, number, sample, &bag);
    for (std::uint32_t i = 0; i < bag.count; ++i)
      for (std::uint32_t column = 0; column < embedding_.dimension; ++column) {
        const std::size_t place = std::size_t{bag.rows[i]} * embedding_.dimension + column;
        const double gradient = embedding_.mean ? double{pooled[column]} / bag.count : double{pooled[column]};
        result.values[place] -= gradient;
        magnitudes[place] += std::abs(gradient);
        additions[place] += 1;
      }
  }
  for (std::size_t i = 0; i < magnitudes.size(); ++i)
    result.tolerances.push_back(magnitudes[i] < exact ? 0 : magnitudes[i] * additions[i] / exact);
  return result;
}

std::vector<float> EmbeddingOracle::received(std::uint32_t gpu, std::uint32_t sample) const {
  std::uint64_t first = 0;  // of the GPU's samples in the global batch
  for (std::uint32_t before = 0; before < gpu; ++before)
    first += embedding_.global_batch / gpus_ + (before < embedding_.global_batch % gpus_ ? 1 : 0);
  const std::uint64_t tables = std::uint64_t{gpus_} * embedding_.tables_per_gpu;
  std::vector<float> values(tables * embedding_.dimension);
  for (std::uint64_t table = 0; table < tables; ++table)
    pool(table, static_cast<std::uint32_t>(first) + sample, &values[table * embedding_.dimension]);
  return values;
}

PoolingNeed pooling_need(const t3_embedding& e, std::uint32_t gpu) {
  PoolingNeed need;
  std::uint64_t distinct = 0;
  for (std::uint32_t table = 0; table < e.tables_per_gpu; ++table) {
    std::vector<bool> seen(e.rows);
    t3_bag bag;
    for (std::uint32_t sample = 0; sample < e.global_batch; ++sample) {
      t3_embedding_bag(&e, std::uint64_t{gpu} * e.tables_per_gpu + table, sample, &bag);
      need.rows += bag.count;
      need.additions += std::uint64_t{bag.count - 1} * e.dimension;
      for (std::uint32_t i = 0; i < bag.count; ++i) seen[bag.rows[i]] = true;
    }
    distinct += static_cast<std::uint64_t>(std::count(seen.begin(), seen.end(), true));
  }
  need.read_bytes = distinct * t3_embedding_row_bytes(&e) + need.rows * T3_POOLING_INDEX_BYTES;
  return need;
}

}  // namespace t3vp
