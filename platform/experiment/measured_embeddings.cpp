// embedding_one_gpu.csv: pooling of embedding tables one after the other on one GPU, fp32.
#include <fmt/format.h>

#include "experiment/measured_runs.h"

namespace t3vp {
namespace {

/// A row of more than twice as many tables lies on the line through two runs, of which the larger one has twice as
/// many.
constexpr std::uint64_t few_tables = 2;
/// Each of these pools the whole batch of its own tables: the fewest that a run may have.
constexpr std::uint64_t pooling_gpus = 2;

/// PyTorch's kernel beside its loads: a loop that checks the row numbers, a line of 16 at a time, and one that adds
/// rows. Rows 3 and 4 of the given file have set instructions and time of a row (docs/validation/h200.md).
const Settings pytorch_kernel{"system.kernels.embedding.checked_indices=16",
                              "system.kernels.embedding.row_instructions=45", "system.kernels.embedding.row_ns=200",
                              "system.kernels.embedding.bag_ns=600"};

/// Time from a CUDA graph's launch to its first kernel, in ns: a copy of 1 MiB as a graph took 15.8 us (vector.csv), of
/// which 4.5 us are the kernel's.
constexpr double graph_launch_ns = 11300;

struct PooledTables {
  std::uint64_t rows, pooling, batch, tables, dimension;
};

Settings pooling_run(const PooledTables& shape, std::uint64_t tables) {
  return joined({"method=bulk", fmt::format("gpus={}", pooling_gpus),
                 fmt::format(R"(workload={{"embedding": {{"global_batch": {}, "tables_per_gpu": {}, "dimension": {}, )"
                             R"("pooling": {}, "rows": {}, "element": "fp32"}}}})",
                             shape.batch, tables, shape.dimension, shape.pooling, shape.rows),
                 fast_memory},
                pytorch_kernel);
}

std::vector<Measurement> pooling_times_in(const MeasuredRow& row) {
  check_amounts(row, {"us_min", "us_max"});
  constexpr std::uint64_t most = 1 << 20, most_rows = 1 << 30, widest = 4096, longest = 256, most_tables = 65536;
  const PooledTables shape{row.count("rows", 1, most_rows), row.count("pool", 1, longest),
                           row.count("batch", pooling_gpus, most), row.count("tables", 1, most_tables),
                           row.count("dim", 1, widest)};
  const char* const figure = "time_ns.pooling";
  if (shape.tables <= 2 * few_tables)
    return {time_in(row, "us", with_launch({{pooling_run(shape, shape.tables), figure}}, graph_launch_ns))};
  const auto run = [&](std::uint64_t tables) { return pooling_run(shape, tables); };
  return {
      time_in(row, "us", with_launch(on_line(shape.tables, 2 * few_tables, few_tables, run, figure), graph_launch_ns))};
}

}  // namespace

MeasuredFile measured_embeddings() {
  return {
      "embedding_one_gpu.csv", {"rows", "pool", "batch", "tables", "dim", "us", "us_min", "us_max"}, pooling_times_in};
}

}  // namespace t3vp
