#include "workloads/embedding/embedding_workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/registry.h"
#include "workloads/shared/room_checks.h"

namespace t3vp {

using nlohmann::json;

bool pools_fused(const std::string& method) { return method == "fused" || method == "fused-backward"; }

EmbeddingWorkload::EmbeddingWorkload(const Document& run) : Workload("embedding") {
  constexpr std::uint32_t usual_slice = 32;  // GPU-initiated overlap, Figure 10
  const json& given = run.content.at("workload").at("embedding");
  const json& pooling = given.at("pooling");
  t3_embedding& e = embedding_;
  read_embedding(given, e, given_);
  e.drawn = pooling.is_object();
  e.pooling = (e.drawn ? pooling.at("drawn") : pooling).get<std::uint32_t>();
  if (e.slice == 0) e.slice = std::min(usual_slice, e.tables_per_gpu);
  if (e.slice > e.tables_per_gpu)
    run.reject("/workload/embedding/slice", fmt::format("at most {}, the tables of a GPU", e.tables_per_gpu));
  if (run.content.at("workload").contains("mlp")) read_perceptrons(run);
  name(run, shape_text());
}

/// The perceptrons of a recommendation model, beside its tables.
void EmbeddingWorkload::read_perceptrons(const Document& run) {
  t3_dlrm d{};
  read_dlrm(run.content.at("workload").at("mlp"), d, given_mlp_);
  d.bucket_bytes = static_cast<std::uint64_t>(given_mlp_.bucket_MiB * (1 << 20));
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
  json resolved = {{"label", label()}, {"embedding", json_of(embedding_, given_)}};
  const json drawn = {{"drawn", embedding_.pooling}};
  resolved["embedding"]["pooling"] = embedding_.drawn ? drawn : json(embedding_.pooling);
  if (dlrm_) resolved["mlp"] = json_of(*dlrm_, given_mlp_);
  return resolved;
}

std::shared_ptr<Workload> EmbeddingWorkload::unnamed() const {
  auto other = std::make_shared<EmbeddingWorkload>(*this);
  other->name(shape_text());
  return other;
}

bool EmbeddingWorkload::separates_communication(const std::string& method) const { return !pools_fused(method); }

std::string EmbeddingWorkload::usual_program(const std::string& method) const {
  return dlrm_ ? "dlrm" : Workload::usual_program(method);
}

std::uint32_t EmbeddingWorkload::gpus(const Document& run, bool) const {
  return required_gpus(run, "the GPUs that have tables");
}

Operands EmbeddingWorkload::operands(const Document& run) const {
  require_exact_operands(run, "embedding tables have integers");
  return Operands::exact;
}

PackedWorkload EmbeddingWorkload::packed_for(const RunSettings& settings) const {
  t3_embedding embedding = embedding_;
  embedding.method = pools_fused(settings.method)     ? T3_FUSED_POOLING
                     : settings.method == "zero-copy" ? T3_ZERO_COPY
                                                      : T3_BULK;
  embedding.host_kernel_end_ns = settings.system.host.kernel_end_ns;
  embedding.host_post_ns = settings.system.host.post_ns;
  embedding.host_launch_ns = settings.system.host.launch_ns;
  t3_dlrm dlrm = dlrm_.value_or(t3_dlrm{});
  dlrm.fused_backward = settings.method == "fused-backward";
  return packed(embedding, dlrm);
}

double EmbeddingWorkload::weight(const RunSettings& settings) const {
  const t3_embedding& e = embedding_;
  return static_cast<double>(settings.gpus) * e.global_batch * e.tables_per_gpu * e.pooling *
         static_cast<double>(t3_embedding_row_bytes(&e));
}

extern const WorkloadKind embedding_kind;
const WorkloadKind embedding_kind{
    "embedding",
    {{"embedding", "embedding tables", "there are no embedding tables"},
     {"dlrm", "embedding tables with mlp", "there are no embedding tables with mlp"}},
    {"tables", "out", "ready", "dense", "table_gradients", "gradients_ready", "(?:bucket|weights)[0-9]+"},
    {{"pooling", "pooling", "forward"},
     {"all_to_all", "all-to-all", "forward", true},
     {"arrival", "arrival of the peers' results", "total", true},
     {"forward", "forward pass"},
     {"bottom", "bottom perceptron", "forward"},
     {"top", "top perceptron", "forward"},
     {"backward", "backward pass"},
     {"top_back", "top perceptron, backward", "backward"},
     {"bottom_back", "bottom perceptron, backward", "backward"},
     {"all_to_all_back", "all-to-all, backward", "backward", true},
     {"update", "update of the tables", "backward"},
     {"all_reduce", "all-reduce", "backward", true},
     {"optimizer", "optimizer", "backward"}},
    {{"embedding", {{"global_batch", 1}, {"tables_per_gpu", 1}, {"dimension", 1}, {"pooling", 1}, {"rows", 1}}}},
    [](const Document& run) -> std::shared_ptr<Workload> { return std::make_shared<EmbeddingWorkload>(run); }};

}  // namespace t3vp
