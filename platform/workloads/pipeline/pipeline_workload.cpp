#include "workloads/pipeline/pipeline_workload.h"

#include <fmt/format.h>

#include "system/system_checks.h"
#include "workloads/pipeline/pipeline_oracle.h"
#include "workloads/registry.h"
#include "workloads/shared/gemm_fill.h"
#include "workloads/shared/room_checks.h"
#include "workloads/shared/tile_choice.h"

namespace t3vp {

using nlohmann::json;

PipelineWorkload::PipelineWorkload(const Document& run) : Workload("pipeline") {
  read_pipeline(run.content.at("workload").at("pipeline"), pipeline_);
  gemm_.m = pipeline_.rows;
  gemm_.n = gemm_.k = pipeline_.width;
  gemm_.element = static_cast<ElementType>(pipeline_.element);
  gemm_.tile = {pipeline_.tile_rows, pipeline_.tile_columns};
  name(run, shape_text());
}

std::string PipelineWorkload::shape_text() const {
  return fmt::format("Pipeline {} x {} {} in {} parts", gemm_.m, gemm_.k, name_of(gemm_.element), pipeline_.parts);
}

json PipelineWorkload::resolved() const { return {{"label", label()}, {"pipeline", json_of(pipeline_)}}; }

std::shared_ptr<Workload> PipelineWorkload::unnamed() const {
  auto other = std::make_shared<PipelineWorkload>(*this);
  other->name(shape_text());
  return other;
}

std::uint32_t PipelineWorkload::gpus(const Document& run, bool) const { return required_gpus(run, "the stages"); }

Operands PipelineWorkload::operands(const Document& run) const {
  require_exact_operands(run, "activations and weights are integers");
  return Operands::exact;
}

void PipelineWorkload::complete(const Document& run, const Document&, const RunSettings& settings) {
  if (gemm_.tile.elements() != 0)
    check_explicit_tile(run, "/workload/pipeline/tile", settings.system, gemm_.tile);
  else
    gemm_.tile = choose_tile(settings.system, gemm_);
  pipeline_.tile_rows = gemm_.tile.rows;
  pipeline_.tile_columns = gemm_.tile.columns;
  pipeline_.wavefronts = settings.system.compute.wavefronts;
}

void PipelineWorkload::check_links(const Document& system, const RunSettings& settings, bool join_all) const {
  if (!join_all) reject_separate_gpus(system, settings, "pipeline");
}

void PipelineWorkload::check(const Document& run, const Document& system, const RunSettings& settings) const {
  const std::string& method = settings.method;
  if (method != "t3" && method != "t3-mca" && method != "sequential")
    run.reject("/method", "t3, t3-mca or sequential, or nothing, for pipeline");
  if (settings.mirror)
    run.reject("/simulate",
               "all: no mirror stands for this workload's GPUs, only for a GEMM's ring or the GPUs of a torus");
  const TileGrid grid = output_grid(gemm_, settings.system.compute.wavefronts);
  if (grid.workgroups() > most_mapped_workgroups)
    run.reject("/workload", fmt::format("an output of at most {} tiles", most_mapped_workgroups));
  if (pipeline_.parts > grid.tiles_down())
    run.reject("/workload/pipeline/parts", fmt::format("at most {}, the output's rows of tiles", grid.tiles_down()));
  require_room(run, settings, buffers(settings, 0), "activations and weights");
  for (const auto& [place, found] : {std::pair{"/tracker/chunks", settings.system.tracker.chunks},
                                     std::pair{"/dma/commands", settings.system.dma.commands}})
    if (method != "sequential" && found < pipeline_.parts)
      system.reject(place, fmt::format("at least {}, the parts that a GPU maps", pipeline_.parts));
}

PackedWorkload PipelineWorkload::packed_for(const RunSettings& settings) const {
  t3_pipeline pipeline = pipeline_;
  pipeline.gated = settings.method != "sequential";
  return packed(pipeline);
}

std::vector<Buffer> PipelineWorkload::buffers(const RunSettings& settings, std::uint32_t gpu) const {
  const PipelineOracle oracle(gemm_.k, settings.seed);
  const std::uint64_t bytes = matrix_bytes(gemm_.m, gemm_.n, gemm_.element);
  const auto activations = [oracle](std::uint32_t stage) {
    return [oracle, stage](std::uint32_t row) { return oracle.activations(stage, row); };
  };
  Buffer in{"in", bytes, gemm_.m, gemm_.k, gemm_.element};
  if (gpu == 0) in.fill = activations(gpu);
  in.expected = activations(gpu);
  Buffer weights{"weights", matrix_bytes(gemm_.k, gemm_.n, gemm_.element), gemm_.k, gemm_.n, gemm_.element};
  weights.fill = [oracle, gpu](std::uint32_t row) { return oracle.weights(gpu, row); };
  Buffer out{"out", bytes, gemm_.m, gemm_.n, gemm_.element};
  out.expected = activations(gpu + 1);
  out.is_owned = [is_last = gpu + 1 == settings.gpus](std::uint32_t, std::uint32_t) { return is_last; };
  const TileGrid grid = output_grid(gemm_, settings.system.compute.wavefronts);
  return {in, weights, out, {"spilled", std::uint64_t{grid.workgroups()} * grid.wavefronts * spill_entry_bytes}};
}

LowerBounds PipelineWorkload::lower_bounds(const RunSettings&, std::uint32_t, const GpuParameters& gpu) const {
  return gemm_bounds(gemm_, gpu.compute);
}

HostNeed PipelineWorkload::host_need(const RunSettings&) const { return gemm_host_need(gemm_); }

double PipelineWorkload::weight(const RunSettings& settings) const { return gemm_weight(gemm_, settings); }

extern const WorkloadKind pipeline_kind;
const WorkloadKind pipeline_kind{
    "pipeline",
    {{"pipeline", "a pipeline", "there are no stages"}},
    {"in", "weights", "out"},
    {{"send", "copy to the next stage", "total", true}},
    {{"pipeline", {{"rows", 1}, {"width", 1}}}},
    [](const Document& run) -> std::shared_ptr<Workload> { return std::make_shared<PipelineWorkload>(run); }};

}  // namespace t3vp
