// The program's buffers, and what no run goes below.
#include <algorithm>

#include "workloads/collective/collective_operation.h"
#include "workloads/embedding/embedding_oracle.h"
#include "workloads/embedding/embedding_workload.h"
#include "workloads/shared/room_checks.h"

namespace t3vp {
namespace {

/// A table as a training pass leaves it is made when its first row is asked for.
class UpdatedTables {
 public:
  UpdatedTables(const t3_embedding& embedding, std::uint32_t gpus, std::uint32_t gpu)
      : oracle_(embedding, gpus), rows_(embedding.rows), dimension_(embedding.dimension), gpu_(gpu) {}

  std::vector<double> values(std::uint32_t row) { return part(table(row).values, row); }
  std::vector<double> tolerances(std::uint32_t row) { return part(table(row).tolerances, row); }

 private:
  const EmbeddingOracle::Table& table(std::uint32_t row) {
    const std::uint32_t number = row / rows_;
    if (number != number_) table_ = oracle_.updated_table(gpu_, number);
    number_ = number;
    return table_;
  }
  std::vector<double> part(const std::vector<double>& all, std::uint32_t row) const {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(std::size_t{row % rows_} * dimension_);
    return {begin, begin + dimension_};
  }

  EmbeddingOracle oracle_;
  std::uint32_t rows_, dimension_, gpu_;
  std::uint32_t number_ = 0xFFFFFFFF;  ///< of the table that is made
  EmbeddingOracle::Table table_;
};

}  // namespace

/// Adds the buffers of a training pass that are neither tables nor their results or flags.
void EmbeddingWorkload::add_pass(const RunSettings& settings, std::vector<Buffer>& buffers) const {
  const t3_embedding& e = embedding_;
  const t3_dlrm& d = *dlrm_;
  const std::uint32_t gpus = settings.gpus, layers = t3_dlrm_layers(&d);
  const std::uint64_t layer = t3_dlrm_layer_bytes(&d, e.element, gpus),
                      matrix = t3_embedding_samples(&e, 0, gpus) * t3_dlrm_row_bytes(&d, e.element);
  for (const char* name : {"gradients", "dense"}) buffers.push_back({name, t3_embedding_out_bytes(&e, 0, gpus)});
  buffers.push_back({"table_gradients", t3_embedding_pooled_bytes(&e)});
  for (const char* name : {"weights", "weight_gradients"}) buffers.push_back({name, layers * layer});
  buffers.push_back({"activations", (2 * layers + 3) * matrix});
  buffers.push_back({"buckets", 2 * t3_dlrm_bucket_layers(&d, e.element, gpus) * layer});
}

std::vector<Buffer> EmbeddingWorkload::buffers(const RunSettings& settings, std::uint32_t gpu) const {
  const t3_embedding& e = embedding_;
  const ElementType type = element();
  const std::uint32_t gpus = settings.gpus;
  const bool is_bulk = settings.method == "bulk";
  const EmbeddingOracle oracle(e, gpus);
  Buffer tables{"tables", t3_embedding_table_bytes(&e), e.tables_per_gpu * e.rows, e.dimension, type};
  tables.fill = [oracle, gpu, rows = e.rows](std::uint32_t row) {
    return widened(oracle.table_row(gpu, row / rows, row % rows));
  };
  if (dlrm_) {
    const auto updated = std::make_shared<UpdatedTables>(e, gpus, gpu);
    tables.expected = [updated](std::uint32_t row) { return updated->values(row); };
    tables.tolerance = [updated](std::uint32_t row) { return updated->tolerances(row); };
  }
  Buffer out{"out", t3_embedding_out_bytes(&e, 0, gpus), t3_embedding_samples(&e, gpu, gpus),
             gpus * e.tables_per_gpu * e.dimension, type};
  out.expected = [oracle, gpu, type](std::uint32_t row) { return rounded(oracle.received(gpu, row), type); };

  std::vector<Buffer> all{
      tables, {"indices", t3_embedding_index_bytes(&e)}, {"offsets", t3_embedding_offset_bytes(&e)}};
  if (is_bulk) all.push_back({"pooled", t3_embedding_pooled_bytes(&e)});
  if (is_bulk && e.gpus_per_node != 0) all.push_back({"received", t3_embedding_out_bytes(&e, 0, gpus)});
  all.push_back(out);
  if (dlrm_) add_pass(settings, all);
  if (pools_fused(settings.method)) {
    all.push_back({"done", t3_embedding_done_bytes(&e)});
    all.push_back({"ready", t3_embedding_ready_bytes(&e, 0, gpus)});
    if (e.gpus_per_node != 0) all.push_back({"staging", t3_embedding_pooled_bytes(&e)});
  }
  return all;
}

/// Rows that are added on the vector lanes, and what has to be read for it, whatever the run has read. Additions know
/// no tiles, so that nothing is quantized. Of a layer, its product and those for the gradients of weights and input.
LowerBounds EmbeddingWorkload::lower_bounds(const RunSettings& settings, std::uint32_t gpu,
                                            const GpuParameters& parameters) const {
  const PoolingNeed need = pooling_need(embedding_, gpu);
  LowerBounds bounds;
  bounds.compute_ns = static_cast<double>(need.additions) / vector_rate(parameters.compute);
  if (dlrm_) {
    const double samples = t3_embedding_samples(&embedding_, gpu, settings.gpus), width = dlrm_->width;
    const double flops = 3.0 * 2 * samples * width * width * t3_dlrm_layers(&*dlrm_);
    bounds.compute_ns = std::max(bounds.compute_ns, flops / matrix_rate(parameters.compute));
  }
  bounds.compute_quantized_ns = bounds.compute_ns;
  bounds.dram_ns = static_cast<double>(need.read_bytes) / dram_rate(parameters);
  return bounds;
}

/// Returns the least time of what each GPU sends to each owner of samples.
double EmbeddingWorkload::least_fabric_ns(const RunSettings& settings) const {
  std::vector<std::uint64_t> chunks;
  for (std::uint32_t gpu = 0; gpu < settings.gpus; ++gpu)
    chunks.push_back(t3_embedding_samples(&embedding_, gpu, settings.gpus) * t3_embedding_sample_bytes(&embedding_));
  return t3vp::least_link_ns(T3_ALL_TO_ALL, chunks, whole_fabric_of(settings));
}

/// Returns the least time of what each GPU sends by its NIC to owners of samples in other nodes, and receives from
/// there.
double EmbeddingWorkload::least_nic_ns(const RunSettings& settings) const {
  const t3_embedding& e = embedding_;
  const std::uint32_t gpus = settings.gpus, node = e.gpus_per_node;
  std::uint64_t most = 0;  // samples that cross an end of the NIC fabric in one direction
  for (std::uint32_t gpu = 0; gpu < gpus; ++gpu) {
    std::uint64_t sent = 0;
    for (std::uint32_t owner = 0; owner < gpus; ++owner)
      sent += owner / node == gpu / node ? 0 : t3_embedding_samples(&e, owner, gpus);
    most = std::max({most, sent, std::uint64_t{gpus - node} * t3_embedding_samples(&e, gpu, gpus)});
  }
  return static_cast<double>(most * t3_embedding_sample_bytes(&e)) / settings.system.wire.GBps;
}

double EmbeddingWorkload::least_link_ns(const RunSettings& settings) const {
  if (dlrm_) return 2 * least_fabric_ns(settings);  // there and back
  return embedding_.gpus_per_node != 0 ? least_nic_ns(settings) : least_fabric_ns(settings);
}

HostNeed EmbeddingWorkload::host_need(const RunSettings& settings) const {
  HostNeed need;
  need.checked = double{1} * settings.gpus * embedding_.tables_per_gpu * embedding_.dimension;
  need.gather_wavefronts_per_group = T3_POOLING_WAVEFRONTS;
  return need;
}

}  // namespace t3vp
