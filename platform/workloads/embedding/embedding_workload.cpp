#include "workloads/embedding/embedding_workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/registry.h"
#include "workloads/shared/element_name.h"
#include "workloads/shared/room_checks.h"

namespace t3vp {

using nlohmann::json;

bool pools_fused(const std::string& method) { return method == "fused" || method == "fused-backward"; }

EmbeddingWorkload::EmbeddingWorkload(const Document& run) {
  constexpr std::uint32_t usual_slice = 32;  // GPU-initiated overlap, Figure 10
  const json& given = run.content.at("workload").at("embedding");
  const auto number = [&](const char* key) { return given.at(key).get<std::uint32_t>(); };
  const json& pooling = given.at("pooling");
  t3_embedding& e = embedding_;
  e.global_batch = number("global_batch");
  e.tables_per_gpu = number("tables_per_gpu");
  e.dimension = number("dimension");
  e.rows = number("rows");
  e.drawn = pooling.is_object();
  e.pooling = (e.drawn ? pooling.at("drawn") : pooling).get<std::uint32_t>();
  e.mean = given.value("result", "sum") == "mean";
  e.element = static_cast<t3_element>(element_named(given.value("element", "fp32")));
  e.slice = given.value("slice", std::min(usual_slice, e.tables_per_gpu));
  if (e.slice > e.tables_per_gpu)
    run.reject("/workload/embedding/slice", fmt::format("at most {}, the tables of a GPU", e.tables_per_gpu));
  e.oblivious = given.value("order", "aware") == "oblivious";
  e.contexts = given.value("contexts", std::uint32_t{0});
  occupancy_ = given.value("occupancy", 0.0);
  if (run.content.at("workload").contains("mlp")) read_perceptrons(run);
  name(run, shape_text());
}

/// The perceptrons of a recommendation model, beside its tables.
void EmbeddingWorkload::read_perceptrons(const Document& run) {
  constexpr double usual_bucket_MiB = 25;  // bucket_cap_mb of PyTorch's DistributedDataParallel
  const json& given = run.content.at("workload").at("mlp");
  t3_dlrm d{};
  d.bottom_layers = given.at("bottom_layers").get<std::uint32_t>();
  d.top_layers = given.at("top_layers").get<std::uint32_t>();
  d.width = given.at("width").get<std::uint32_t>();
  d.bucket_bytes = static_cast<std::uint64_t>(given.value("bucket_MiB", usual_bucket_MiB) * (1 << 20));
  if (element() != ElementType::fp32)
    run.reject("/workload/embedding/element", "fp32, or nothing, beside mlp: gradients are exact in no other type");
  const std::uint64_t row = t3_embedding_sample_bytes(&embedding_);
  if (row % 32 != 0)
    run.reject("/workload/embedding/dimension", fmt::format("{} bytes of a sample's results on a GPU", row),
               "a multiple of 32 beside mlp, whose kernels take rows of them");
  dlrm_ = d;
}

std::string EmbeddingWorkload::shape_text() const {
  const t3_embedding& e = embedding_;
  if (dlrm_)
    return fmt::format("DLRM {}|{} of {}, {} + {} layers of {}", e.global_batch, e.tables_per_gpu, e.dimension,
                       dlrm_->bottom_layers, dlrm_->top_layers, dlrm_->width);
  return fmt::format("Embedding {}|{} of {} {}, pooling {}{}", e.global_batch, e.tables_per_gpu, e.dimension,
                     name_of(element()), e.drawn ? "up to " : "", e.pooling);
}

json EmbeddingWorkload::resolved() const {
  const t3_embedding& e = embedding_;
  const json drawn = {{"drawn", e.pooling}};
  json resolved = {{"label", label()},
                   {"embedding",
                    {{"global_batch", e.global_batch},
                     {"tables_per_gpu", e.tables_per_gpu},
                     {"dimension", e.dimension},
                     {"pooling", e.drawn ? drawn : json(e.pooling)},
                     {"rows", e.rows},
                     {"element", name_of(element())},
                     {"result", e.mean ? "mean" : "sum"},
                     {"slice", e.slice},
                     {"occupancy", occupancy_},
                     {"contexts", e.contexts},
                     {"order", e.oblivious ? "oblivious" : "aware"}}}};
  if (dlrm_)
    resolved["mlp"] = {{"bottom_layers", dlrm_->bottom_layers},
                       {"top_layers", dlrm_->top_layers},
                       {"width", dlrm_->width},
                       {"bucket_MiB", static_cast<double>(dlrm_->bucket_bytes) / (1 << 20)}};
  return resolved;
}

std::shared_ptr<Workload> EmbeddingWorkload::unnamed() const {
  auto other = std::make_shared<EmbeddingWorkload>(*this);
  other->name(shape_text());
  return other;
}

std::uint32_t EmbeddingWorkload::gpus(const Document& run, bool) const {
  return required_gpus(run, "the GPUs that have tables");
}

Operands EmbeddingWorkload::operands(const Document& run) const {
  require_exact_operands(run, "embedding tables have integers");
  return Operands::exact;
}

void EmbeddingWorkload::describe(const RunSettings& settings, t3_job& job) const {
  job.embedding = embedding_;
  job.embedding_method = pools_fused(settings.method)     ? T3_FUSED_POOLING
                         : settings.method == "zero-copy" ? T3_ZERO_COPY
                                                          : T3_BULK;
  const HostTimes& host = settings.system.host;
  job.host = {host.kernel_end_ns, host.post_ns, host.launch_ns};
  if (dlrm_) job.dlrm = *dlrm_;
  job.dlrm.fused_backward = settings.method == "fused-backward";
}

double EmbeddingWorkload::weight(const RunSettings& settings) const {
  const t3_embedding& e = embedding_;
  return static_cast<double>(settings.gpus) * e.global_batch * e.tables_per_gpu * e.pooling *
         static_cast<double>(t3_embedding_row_bytes(&e));
}

extern const WorkloadKind embedding_kind;
const WorkloadKind embedding_kind{
    "embedding",
    {"embedding"},
    {"mlp"},
    {},
    {"bulk", "zero-copy", "fused", "fused-backward"},
    {{"embedding", "embedding tables", "there are no embedding tables"},
     {"dlrm", "embedding tables with mlp", "there are no embedding tables with mlp"}},
    {"tables", "out", "ready", "dense", "table_gradients", "gradients_ready", "(?:bucket|weights)[0-9]+"},
    {{"embedding", {{"global_batch", 1}, {"tables_per_gpu", 1}, {"dimension", 1}, {"pooling", 1}, {"rows", 1}}}},
    [](const Document& run) -> std::shared_ptr<Workload> { return std::make_shared<EmbeddingWorkload>(run); }};

}  // namespace t3vp
