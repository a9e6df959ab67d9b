#include "workloads/contention/contention_workload.h"

#include <fmt/format.h>

#include "workloads/contention/stream_layout.h"
#include "workloads/contention_arguments.h"
#include "workloads/gemm_arguments.h"
#include "workloads/registry.h"
#include "workloads/shared/gemm_fill.h"
#include "workloads/shared/room_checks.h"

namespace t3vp {

using nlohmann::json;

ContentionWorkload::ContentionWorkload(const Document& run) : GemmWorkload(run, "contention") {
  read_stream(run.content.at("workload").at("stream"), stream_);
}

json ContentionWorkload::resolved() const {
  json all = GemmWorkload::resolved();
  all["stream"] = json_of(stream_);
  return all;
}

std::shared_ptr<Workload> ContentionWorkload::unnamed() const {
  auto other = std::make_shared<ContentionWorkload>(*this);
  other->forget_names();
  return other;
}

std::uint32_t ContentionWorkload::gpus(const Document& run, bool) const {
  const auto gpus = run.content.value("gpus", 1u);
  if (gpus != 1) run.reject("/gpus", "1: the kernels of one GPU share its memory");
  return gpus;
}

Operands ContentionWorkload::operands(const Document& run) const {
  require_exact_operands(run, "the output is a sum of integers");
  return Operands::exact;
}

void ContentionWorkload::complete(const Document& run, const Document& system, const RunSettings& settings) {
  GemmWorkload::complete(run, system, settings);
  stream_.all_units = settings.system.compute.compute_units;
}

void ContentionWorkload::check(const Document& run, const Document&, const RunSettings& settings) const {
  if (settings.method != "beside") run.reject("/method", "beside, or nothing, for a GEMM beside a stream");
  check_tiles(run, settings);
  const std::uint32_t units = settings.system.compute.compute_units;
  if (stream_.compute_units >= units)
    run.reject("/workload/stream/compute_units",
               fmt::format("at most {}: the GEMM needs one of the {} compute units", units - 1, units));
  require_room(run, settings, buffers(settings, 0), "operands, output and the stream's memory");
}

PackedWorkload ContentionWorkload::packed_for(const RunSettings& settings) const {
  const t3_gemm_workload gemm = firmware_arguments(settings);
  std::vector<unsigned char> tail(T3_GEMM_WORKLOAD_BYTES);
  t3_gemm_workload_to(&gemm, tail.data());
  return packed(stream_, tail);
}

std::vector<Buffer> ContentionWorkload::buffers(const RunSettings& settings, std::uint32_t gpu) const {
  const GemmProblem problem = gemm_problem(shape(), settings);
  std::vector<Buffer> all{buffer_a(problem, gpu), buffer_b(problem, gpu), output(settings, gpu)};
  if (stream_.compute_units == 0) return all;
  const bool reads = stream_.kind == T3_STREAM_READ || stream_.kind == T3_STREAM_COPY;
  if (reads) all.push_back({"from", stream_.footprint});
  if (stream_.kind != T3_STREAM_READ) all.push_back({"to", stream_.footprint});
  all.push_back({"flag", T3_STREAM_FLAG_BYTES});
  return all;
}

double ContentionWorkload::weight(const RunSettings& settings) const {
  const double shared = stream_.compute_units == 0 ? 1 : 2;
  return GemmWorkload::weight(settings) * stream_.repeats * shared;
}

extern const WorkloadKind contention_kind;
const WorkloadKind contention_kind{
    "contention",
    {{"contention", "a GEMM beside a stream", "there is no stream"}},
    {"a", "b", "out"},
    {{"stream_start", "stream, until its timed part"}, {"stream", "stream, timed part"}},
    {{"gemm", {{"m", 1}, {"n", 1}, {"k", 1}}}, {"tokens", 1}, {"stream", {{"compute_units", 0}}}},
    [](const Document& run) -> std::shared_ptr<Workload> { return std::make_shared<ContentionWorkload>(run); },
    {{"sublayer", "model"}, {"tp", "model"}, {"tokens", "model"}}};

}  // namespace t3vp
