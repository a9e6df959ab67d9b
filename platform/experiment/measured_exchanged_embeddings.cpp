// embedding_all_to_all.csv: embedding tables of PyTorch, a pooling kernel for each, and their all-to-all; eager (the
// host launches) and as a graph.
#include <fmt/format.h>

#include <algorithm>

#include "experiment/measured_runs.h"

namespace t3vp {
namespace {

/// Tables are pooled one after the other. A row of many tables lies on the line through two numbers of them; with the
/// first ones the cache is still empty.
constexpr std::uint64_t few_pooled = 2;
/// The files do not say how many rows a table has.
constexpr std::uint64_t table_rows = 100'000;

struct TablesInRow {
  std::uint64_t gpus, batch, tables, dimension, pooling;
  std::string element;
};

TablesInRow tables_of(const MeasuredRow& row) {
  constexpr std::uint64_t most = 1 << 20, widest = 4096, longest = 256;
  return {row.count("gpus", 2, longest), row.count("global_batch", 2, most), row.count("tables_per_gpu", 1, most),
          row.count("dim", 1, widest),   row.count("pool", 1, longest),      row.name("dtype", {"fp32", "fp16"})};
}

Settings run_of(const TablesInRow& shape, const char* method, std::uint64_t tables) {
  return {fmt::format("method={}", method), fmt::format("gpus={}", shape.gpus),
          fmt::format(R"(workload={{"embedding": {{"global_batch": {}, "tables_per_gpu": {}, "dimension": {}, )"
                      R"("pooling": {}, "rows": {}, "element": "{}"}}}})",
                      shape.batch, tables, shape.dimension, shape.pooling, table_rows, shape.element),
          fast_memory};
}

Parts pooling(const TablesInRow& shape, const char* method) {
  const auto run = [&](std::uint64_t tables) { return run_of(shape, method, tables); };
  const char* const figure = "time_ns.pooling";
  if (shape.tables <= 2 * few_pooled) return {{run(shape.tables), figure}};
  return on_line(shape.tables, 2 * few_pooled, few_pooled, run, figure);
}

/// NCCL sends what all tables of a GPU give for all samples.
Parts all_to_all(const TablesInRow& shape) {
  const std::uint64_t element = shape.element == "fp16" ? 2 : 4;
  return {{collective_alone("all-to-all", shape.batch * shape.tables * shape.dimension * element, shape.gpus),
           "time_ns.collective"}};
}

Parts one_after_the_other(const TablesInRow& shape) {
  Parts parts = pooling(shape, "bulk");
  for (PartOfValue& part : all_to_all(shape)) parts.push_back(std::move(part));
  return parts;
}

Parts zero_copy(const TablesInRow& shape) {
  Parts parts = pooling(shape, "zero-copy");
  parts.push_back({parts[0].settings, "time_ns.arrival"});
  return parts;
}

std::vector<Measurement> embedding_times_in(const MeasuredRow& row) {
  const TablesInRow shape = tables_of(row);
  if (shape.batch < shape.gpus) row.reject("global_batch", "a sample for each GPU or more");
  return {time_in(row, "emb_us", pooling(shape, "bulk"), 1),        time_in(row, "a2a_us", all_to_all(shape), 1),
          time_in(row, "base_us", one_after_the_other(shape), 1),   time_in(row, "zero_us", zero_copy(shape), 1),
          time_in(row, "emb_graph_us", pooling(shape, "bulk")),     time_in(row, "zero_graph_us", zero_copy(shape)),
          time_in(row, "base_graph_us", one_after_the_other(shape))};
}

}  // namespace

MeasuredFile measured_exchanged_embeddings() {
  return {"embedding_all_to_all.csv",
          {"gpus", "global_batch", "tables_per_gpu", "dim", "pool", "dtype", "rel_err", "emb_us", "a2a_us", "base_us",
           "zero_us", "emb_graph_us", "zero_graph_us", "base_graph_us"},
          embedding_times_in};
}

}  // namespace t3vp
