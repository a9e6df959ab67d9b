#include "workloads/gemm/gemm_workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "system/system_checks.h"
#include "workloads/collective/collective_oracle.h"
#include "workloads/gemm_arguments.h"
#include "workloads/registry.h"
#include "workloads/shared/gemm_fill.h"
#include "workloads/shared/models_file.h"
#include "workloads/shared/room_checks.h"
#include "workloads/shared/tile_choice.h"

namespace t3vp {

using nlohmann::json;

std::string name_of(t3_fused_kind kind) { return word_of(kind, fused_kind_words); }

namespace {

std::uint32_t tokens_of(const Document& run, const json& model) {
  const std::uint64_t tokens = model.at("sequence").get<std::uint64_t>() * model.at("batch").get<std::uint64_t>();
  if (tokens > most_tokens) run.reject("/workload/model", fmt::format("a model of at most {} tokens", most_tokens));
  return static_cast<std::uint32_t>(tokens);
}

/// A GEMM beside a model may repeat the model's shape, as --print-config does, but not contradict it.
void require_same(const Document& run, const json& gemm, const char* dimension, std::uint32_t value) {
  if (gemm.contains(dimension) && gemm.at(dimension) != json(value))
    run.reject(std::string("/workload/gemm/") + dimension, fmt::format("the model's {}", value));
}

}  // namespace

GemmWorkload::GemmWorkload(const Document& run) : GemmWorkload(run, "gemm") {}

GemmWorkload::GemmWorkload(const Document& run, const char* room) : Workload(room) {
  const json& workload = run.content.at("workload");
  const json gemm = workload.value("gemm", json::object());
  t3_gemm_workload read{};
  read_gemm_workload(gemm, read);
  gemm_ = {read.m,           read.n,
           read.k,           static_cast<ElementType>(read.element),
           read.transpose_b, {read.tile_rows, read.tile_columns}};
  fused_ = value_of(workload.value("fused", "ring-reduce-scatter"), fused_kind_words);
  split_k_ = workload.value("split_k", 1u);
  group_ = read.group;
  group_columns_ = read.group_columns;
  stages_ = read.stages;
  step_ns_ = read.step_ns;
  store_bytes_ = read.store_bytes;
  persistent_workgroups_ = read.persistent_workgroups;
  cache_ = value_of(workload.value("cache_at_start", "clean"), gemm_cache_words);
  following_ = value_of(workload.value("following", "none"), gemm_following_words);
  if (workload.contains("model")) read_sublayer(run);
  name(run, shape_text());
}

void GemmWorkload::read_sublayer(const Document& run) {
  const json& workload = run.content.at("workload");
  const Document models = models_of(run);
  const json& model = chosen(run, "model", models.content.at("models"));
  const json& sublayer = chosen(run, "sublayer", models.content.at("sublayers"));
  model_ = workload.at("model").get<std::string>();
  sublayer_ = workload.at("sublayer").get<std::string>();
  tp_ = workload.at("tp").get<std::uint32_t>();
  tokens_ = workload.value("tokens", tokens_of(run, model));

  const auto hidden = model.at("hidden").get<std::uint32_t>();
  const std::uint64_t depth = std::uint64_t{sublayer.at("k_per_hidden").get<std::uint32_t>()} * hidden;
  if (depth % tp_ != 0)
    run.reject("/workload/tp", fmt::format("a divisor of {}, the sub-layer's K of all GPUs", depth));
  gemm_.m = tokens_;
  gemm_.n = hidden;
  gemm_.k = static_cast<std::uint32_t>(depth / tp_);

  const json gemm = workload.value("gemm", json::object());
  require_same(run, gemm, "m", gemm_.m);
  require_same(run, gemm, "n", gemm_.n);
  require_same(run, gemm, "k", gemm_.k);
}

std::string GemmWorkload::shape_text() const {
  if (!model_.empty()) return fmt::format("{} {} TP={}", model_, sublayer_, tp_);
  return fmt::format("GEMM {} x {} x {} {}", gemm_.m, gemm_.n, gemm_.k, name_of(gemm_.element));
}

json GemmWorkload::resolved() const {
  json resolved = {{"label", label()}, {"gemm", json_of(arguments())}};
  if (fused_ != T3_FUSED_RING_REDUCE_SCATTER) resolved["fused"] = name_of(fused_);
  if (split_k_ != 1) resolved["split_k"] = split_k_;
  if (cache_ != T3_CACHE_CLEAN) resolved["cache_at_start"] = word_of(cache_, gemm_cache_words);
  if (following_ != T3_FOLLOWING_NONE) resolved["following"] = word_of(following_, gemm_following_words);
  if (tp_ != 0) resolved.update({{"model", model_}, {"sublayer", sublayer_}, {"tp", tp_}, {"tokens", tokens_}});
  return resolved;
}

std::shared_ptr<Workload> GemmWorkload::unnamed() const {
  auto other = std::make_shared<GemmWorkload>(*this);
  other->forget_names();
  return other;
}

void GemmWorkload::forget_names() {
  model_.clear();
  sublayer_.clear();
  tp_ = tokens_ = 0;
  name(shape_text());
}

/// Nothing precedes the GEMM of the sequential program either, so it is the isolated GEMM.
std::optional<IsolatedRuns> GemmWorkload::isolated_runs(const RunSettings& settings) const {
  if (!runs_apart(settings.method) || !settings.phases.are_all() || settings.functional) return {};
  IsolatedRuns runs{{"method=sequential"},
                    {"method=ideal-overlap", R"(phases=["gemm"])"},
                    {"method=ideal-overlap", R"(phases=["reduce-scatter", "all-gather"])"},
                    {"method=ideal-overlap", R"(phases=["reduce-scatter", "all-gather"])"}};
  const std::string algorithm = std::string("collectives.algorithm=") + name_of(algorithm_);
  for (auto* run : {&runs.reduce_scatter, &runs.all_gather}) run->push_back(algorithm);
  if (settings.method != "ideal-rs-nmc") return runs;
  runs.reduce_scatter = {"method=ideal-rs-nmc", R"(phases=["reduce-scatter"])", "collectives.algorithm=ring"};
  // What is gathered by another algorithm has chunks of tiles, other than behind the reduce-scatter of ideal-overlap.
  if (algorithm_ != T3_RING)
    runs.reduce_scatter =
        runs.all_gather = {"method=ideal-rs-nmc", R"(phases=["reduce-scatter", "all-gather"])", algorithm};
  return runs;
}

std::uint32_t GemmWorkload::gpus(const Document& run, bool may_be_alone) const {
  const std::uint32_t gpus = run.content.value("gpus", tp_);
  const std::uint32_t least = may_be_alone ? 1 : 2;
  if (gpus < least) run.reject("/gpus", fmt::format("an integer from {} to 256", least));
  if (tp_ != 0 && gpus != tp_) run.reject("/gpus", fmt::format("{}, the workload's tp", tp_));
  return gpus;
}

void GemmWorkload::complete(const Document& run, const Document&, const RunSettings& settings) {
  if (gemm_.tile.elements() != 0)
    check_explicit_tile(run, "/workload/gemm/tile", settings.system, gemm_.tile);
  else
    gemm_.tile = choose_tile(settings.system, gemm_);
  const Topology& topology = settings.system.topology;
  const bool is_of_nodes = topology.kind == Topology::Kind::nodes && topology.gpus_per_node < settings.gpus;
  gpus_per_node_ = is_of_nodes ? topology.gpus_per_node : settings.gpus;
  by_nic_ = gpus_of_separate_node(settings) != 0;
  expect(settings);
}

TileGrid GemmWorkload::grid(const RunSettings& settings) const {
  return output_grid(gemm_, settings.system.compute.wavefronts);
}

bool GemmWorkload::is_fused(const RunSettings& settings) const {
  return settings.built_in_program == "fused" && settings.gpus > 1;
}

std::uint32_t GemmWorkload::chunk_of(std::uint32_t gpu, std::uint32_t gpus) const {
  return t3_fused_chunk(is_scattered() ? T3_FUSED_HIERARCHICAL_REDUCE_SCATTER : fused_, gpu, gpus, gpus_per_node_);
}

std::optional<std::uint32_t> GemmWorkload::updates(const RunSettings& settings) const {
  if (settings.built_in_program != "fused") return {};
  return updates_of(settings.gpus);
}

std::uint32_t GemmWorkload::updates_of(std::uint32_t gpus) const {
  return t3_fused_updates(fused_, gpus, gpus_per_node_) +
         (split_k_ - 1) * t3_fused_products(fused_, gpus, gpus_per_node_);
}

t3_gemm_workload GemmWorkload::arguments() const {
  t3_gemm_workload w{};
  w.m = gemm_.m;
  w.n = gemm_.n;
  w.k = gemm_.k;
  w.element = static_cast<t3_element>(gemm_.element);
  w.transpose_b = gemm_.transpose_b;
  w.tile_rows = gemm_.tile.rows;
  w.tile_columns = gemm_.tile.columns;
  w.group = group_;
  w.group_columns = group_columns_;
  w.stages = stages_;
  w.step_ns = step_ns_;
  w.store_bytes = store_bytes_;
  w.persistent_workgroups = persistent_workgroups_;
  return w;
}

PackedWorkload GemmWorkload::packed_for(const RunSettings& settings) const {
  return packed(firmware_arguments(settings));
}

t3_gemm_workload GemmWorkload::firmware_arguments(const RunSettings& settings) const {
  t3_gemm_workload w = arguments();
  w.wavefronts = settings.system.compute.wavefronts;
  w.fused = fused_;
  w.updates = settings.faults.dma_map_updates.value_or(updates_of(settings.gpus));
  w.split_k = split_k_;
  w.following = following_;
  w.block_tiles = 1;
  w.gpus_per_node = gpus_per_node_;
  w.by_nic = by_nic_;
  const t3_collective flat = flat_collective(settings);
  w.by_steps = !collectives_.empty() && (algorithm_ != T3_RING || is_hierarchical());
  w.scattered_nodes = is_hierarchical() ? settings.gpus / gpus_per_node_ : 0;
  w.algorithm = algorithm_;
  w.gpus_per_row = flat.gpus_per_row;
  std::copy(std::begin(flat.dimensions), std::end(flat.dimensions), w.dimensions);
  w.near_memory = settings.method == "ideal-rs-nmc";
  w.dirty_bytes = cache_ == T3_CACHE_DIRTY ? settings.system.cache.capacity_bytes : 0;
  w.zero_output = true;
  w.valid_bits = settings.system.memory.valid_bits_bytes != 0;
  w.skip_gemm = !settings.phases.gemm;
  w.skip_reduce_scatter = !settings.phases.reduce_scatter;
  w.skip_all_gather = !settings.phases.all_gather;
  w.arbitration_ends = memory::ends_with_reduce_scatter(settings.policy) && settings.mca_scope != McaScope::always;
  w.host_kernel_end_ns = settings.system.host.kernel_end_ns;
  w.host_post_ns = settings.system.host.post_ns;
  w.host_launch_ns = settings.system.host.launch_ns;
  return w;
}

std::optional<double> GemmWorkload::expected_workgroups(const RunSettings& settings) const {
  const compute::ComputeParameters& p = settings.system.compute;
  const double held = p.compute_units * settings.system.kernels.ring.workgroups_per_cu;
  const double ring = settings.system.kernels.ring.workgroups == 0
                          ? held
                          : std::min<double>(held, settings.system.kernels.ring.workgroups);
  const bool fused = settings.method == "t3" || settings.method == "t3-mca";
  const std::uint64_t tiles = grid(settings).workgroups();
  const std::uint64_t gemm =
      persistent_workgroups_ == 0 ? tiles : std::min<std::uint64_t>(tiles, persistent_workgroups_);
  return static_cast<double>(gemm) + (fused ? 1.0 : 2.0) * ring;
}

TileGrid GemmWorkload::mirrored_chunks(const RunSettings& settings) const { return grid(settings); }

HostNeed GemmWorkload::host_need(const RunSettings&) const { return gemm_host_need(gemm_); }

double GemmWorkload::weight(const RunSettings& settings) const { return gemm_weight(gemm_, settings); }

extern const WorkloadKind gemm_kind;
const WorkloadKind gemm_kind{
    "gemm",
    {},
    {"a", "b", "out", "bias", "residual"},
    {{"following", "bias, dropout, residual"}},
    {{"gemm", {{"m", 1}, {"n", 1}, {"k", 1}}}, {"tokens", 1}},
    [](const Document& run) -> std::shared_ptr<Workload> { return std::make_shared<GemmWorkload>(run); },
    {{"sublayer", "model"}, {"tp", "model"}, {"tokens", "model"}},
    true};

}  // namespace t3vp
