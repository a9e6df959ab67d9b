#include "workloads/layer/layer_workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "protocol/picoseconds.h"
#include "workloads/layer/layer_packing.h"
#include "workloads/layer/layer_reader.h"
#include "workloads/layer/layer_reference.h"
#include "workloads/registry.h"
#include "workloads/shared/room_checks.h"
#include "workloads/shared/tile_choice.h"

namespace t3vp {

using nlohmann::json;

LayerWorkload::LayerWorkload(const Document& run)
    : Workload("layer"), layer_(read_layer(run)), model_(run.content.at("workload").value("model", "")) {
  name(run, shape_text());
}

std::string LayerWorkload::shape_text() const {
  return fmt::format("{} {} layer TP={} with {} attention", model_.empty() ? "Transformer" : model_,
                     layer_.training ? "training" : "prompt", layer_.tp, layer_.fused_attention ? "fused" : "unfused");
}

json LayerWorkload::resolved() const {
  const TransformerShape& s = layer_.shape;
  json resolved = {{"label", label()},
                   {"layer", layer_.training ? "training" : "prompt"},
                   {"attention", layer_.fused_attention ? "fused" : "unfused"},
                   {"tp", layer_.tp},
                   {"transformer",
                    {{"hidden", s.hidden},
                     {"heads", s.heads},
                     {"sequence", s.sequence},
                     {"batch", s.batch},
                     {"element", name_of(s.element)}}}};
  if (!model_.empty()) resolved["model"] = model_;
  for (const LayerPart part : layer_.parts) resolved["parts"].push_back(name_of(part));
  return resolved;
}

std::shared_ptr<Workload> LayerWorkload::unnamed() const {
  auto other = std::make_shared<LayerWorkload>(*this);
  other->model_.clear();
  other->name(other->shape_text());
  return other;
}

std::uint32_t LayerWorkload::gpus(const Document& run, bool) const {
  if (run.content.value("gpus", 1u) != 1)
    run.reject("/gpus", "1, or nothing: of a layer one GPU is simulated, and its tp says how many share it");
  return 1;
}

Operands LayerWorkload::operands(const Document& run) const {
  if (run.content.value("operands", "random") != "random")
    run.reject("/operands", "random, or nothing: most operations of a layer take what others have computed");
  return Operands::random;
}

void LayerWorkload::complete(const Document&, const Document&, const RunSettings& settings) {
  program_ = std::make_shared<LayerProgram>(layer_program(layer_, settings.system.compute));
}

void LayerWorkload::check(const Document& run, const Document& system, const RunSettings& settings) const {
  if (!settings.system.other_gpus.empty()) system.reject("/gpus", "nothing: of a layer one GPU is simulated");
  if (settings.method != "sequential")
    run.reject("/method", "sequential, or nothing: the operations of a layer run one after the other");
  if (settings.functional && layer_.training && layer_.fused_attention)
    run.reject("/data", "timing-only: fused attention computes no data in its backward pass");
  require_room(run, settings, buffers(settings, 0), "tensors");
}

PackedWorkload LayerWorkload::packed_for(const RunSettings&) const {
  std::vector<NamedTensor> tensors;
  for (const LayerTensor& tensor : program_->tensors) tensors.push_back({tensor.name, tensor.bytes, tensor.element});
  std::vector<t3_layer_operation> operations;
  for (const LayerOperation& operation : program_->operations) operations.push_back(operation.kernel);
  return packed_layer(tensors, operations);
}

/// The operations' checker compares their contents.
std::vector<Buffer> LayerWorkload::buffers(const RunSettings&, std::uint32_t) const {
  std::vector<Buffer> all;
  for (const LayerTensor& tensor : program_->tensors) all.push_back({tensor.name, tensor.bytes});
  return all;
}

std::vector<OperationName> LayerWorkload::operations() const {
  std::vector<OperationName> names;
  for (const LayerOperation& operation : program_->operations)
    names.push_back({operation.name, name_of(operation.part)});
  return names;
}

std::unique_ptr<OperationChecker> LayerWorkload::operation_checker(GpuMemory& memory, std::uint64_t seed) const {
  return std::make_unique<LayerReference>(memory, seed, program_->operations);
}

/// Kernels run one after the other. Attention's blocks are no tiles of one matrix product.
LowerBounds LayerWorkload::lower_bounds(const RunSettings&, std::uint32_t, const GpuParameters& gpu) const {
  LowerBounds bounds;
  double flops = 0;
  for (const LayerOperation& o : program_->operations) flops += flops_of(o.kernel);
  bounds.compute_ns = flops / matrix_rate(gpu.compute);
  for (const LayerOperation& operation : layer_program(layer_, gpu.compute).operations) {
    const t3_layer_operation& o = operation.kernel;
    if (o.kernel == T3_LAYER_GEMM)
      bounds.compute_quantized_ns +=
          to_ns(quantized_compute_time(gpu.compute, {o.tiling.rows, o.tiling.columns}, o.out.matrix.rows,
                                       o.out.matrix.columns, depth_of(o), o.batch.matrices));
    else
      bounds.compute_quantized_ns += flops_of(o) / matrix_rate(gpu.compute);
  }
  return bounds;
}

/// The reference also keeps the contents of all tensors.
HostNeed LayerWorkload::host_need(const RunSettings&) const {
  constexpr double element_bytes = 2, reference_bytes = 8;
  HostNeed need;
  double contents = 0;
  for (const LayerTensor& tensor : program_->tensors) {
    contents += static_cast<double>(tensor.bytes) / reference_bytes;
    need.checked = std::max(need.checked, 4.0 * static_cast<double>(tensor.bytes) / element_bytes);
  }
  need.checked += contents;
  return need;
}

double LayerWorkload::weight(const RunSettings&) const {
  constexpr double accesses_per_byte = 3;  // roughly
  return accesses_per_byte * static_cast<double>(bytes_of(*program_));
}

namespace {

std::vector<std::string> tensor_names() {
  const std::set<std::string> names = layer_tensor_names();
  return {names.begin(), names.end()};
}

}  // namespace

extern const WorkloadKind layer_kind;
const WorkloadKind layer_kind{
    "layer",
    {{"layer", "a layer", "there is no layer"}},
    tensor_names(),
    {},
    nlohmann::json::object(),
    [](const Document& run) -> std::shared_ptr<Workload> { return std::make_shared<LayerWorkload>(run); }};

}  // namespace t3vp
