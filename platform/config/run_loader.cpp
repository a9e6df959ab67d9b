#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "config/configuration.h"
#include "config/described_keys.h"
#include "config/enumerator.h"
#include "config/faults.h"
#include "config/fingerprint.h"
#include "config/gpu_settings.h"
#include "config/overrides.h"
#include "config/persistent_kernels.h"
#include "config/run_checks.h"
#include "config/schema_check.h"
#include "config/system_checks.h"
#include "config/system_reader.h"
#include "config/workloads.h"
#include "workload/collective.h"
#include "workload/tile_choice.h"

namespace t3vp {
namespace {

using nlohmann::json;
using Overrides = std::vector<Override>;

/// Takes those overrides out of `all` whose path starts with `prefix` and goes on, and removes the prefix.
Overrides take(Overrides& all, const std::vector<std::string>& prefix) {
  const auto begins = [&](const Override& o) {
    return o.path.size() > prefix.size() && std::equal(prefix.begin(), prefix.end(), o.path.begin());
  };
  Overrides taken;
  std::copy_if(all.begin(), all.end(), std::back_inserter(taken), begins);
  all.erase(std::remove_if(all.begin(), all.end(), begins), all.end());
  for (Override& o : taken) o.path.erase(o.path.begin(), o.path.begin() + static_cast<std::ptrdiff_t>(prefix.size()));
  return taken;
}

void apply_all(Document& document, const Overrides& overrides) {
  for (const Override& o : overrides) apply_override(document, o);
}

/// The document that `parent` names or contains at `pointer`.
Document follow(const Document& parent, const std::string& pointer, const std::string& kind) {
  const json& value = parent.content.at(json::json_pointer(pointer));
  if (value.is_object()) {
    Document inlined{parent.file, parent.base + pointer, value, {}};
    for (const std::string& set : parent.overridden)
      if (set.rfind(pointer + "/", 0) == 0 || set == pointer) inlined.overridden.push_back(set.substr(pointer.size()));
    return inlined;
  }
  return read_document(parent, pointer, kind);
}

Document memory_of(const Document& system) {
  const bool inlined = system.content.at("memory").contains("dram");
  if (inlined && system.content.at("memory").contains("file"))
    system.reject("/memory/file", "a file beside the content in dram", "one of them");
  return follow(system, inlined ? "/memory/dram" : "/memory/file", "memory file");
}

Overrides parse_all(const std::vector<std::string>& settings) {
  Overrides overrides;
  for (const std::string& text : settings) {
    overrides.push_back(parse_override(text));
    std::vector<std::string>& path = overrides.back().path;
    if (path.front() != "memory") continue;
    path.front() = "dram";
    path.insert(path.begin(), {"system", "memory"});
  }
  return overrides;
}

struct Files {
  Document run, system, memory;
};

Files load_files(Document run, const std::vector<std::string>& settings) {
  Overrides overrides = parse_all(settings);
  const Overrides for_memory = take(overrides, {"system", "memory", "dram"});
  const Overrides for_system = take(overrides, {"system"});

  Files files{std::move(run), {}, {}};
  apply_all(files.run, overrides);
  check_kind_of_workload(files.run);
  check_schema(files.run, "run");
  files.system = follow(files.run, "/system", "system file");
  apply_all(files.system, for_system);
  check_schema(files.system, "system");
  files.memory = memory_of(files.system);
  apply_all(files.memory, for_memory);
  check_schema(files.memory, "memory");
  return files;
}

Method method_named(const json& name) { return enumerator(name, all_methods); }

memory::PolicyChoice policy_of(const Document& run, const std::string& arbitration) {
  const std::optional<memory::PolicyChoice> policy = memory::policy_named(arbitration);
  if (!policy) run.reject("/arbitration", "one of " + memory::policy_names());
  return *policy;
}

Operands operands_of(const Document& run, const Workload& workload) {
  const json name = run.content.value("operands", workload.layer ? "random" : "exact");
  if (workload.layer && name != "random")
    run.reject("/operands", "random, or nothing: most operations of a layer take what others have computed");
  if (workload.collective && name != "exact")
    run.reject("/operands", "exact, or nothing: a collective alone has integers");
  if ((workload.gemv || workload.experts) && name != "exact")
    run.reject("/operands", "exact, or nothing: what is multiplied with vectors or by experts are integers");
  if (workload.embedding && name != "exact")
    run.reject("/operands", "exact, or nothing: embedding tables have integers");
  return enumerator(name, {Operands::exact, Operands::random});
}

Phases phases_of(const json& run) {
  if (!run.contains("phases")) return {};
  const auto chosen = [&](const char* phase) {
    return std::count(run.at("phases").begin(), run.at("phases").end(), json(phase)) != 0;
  };
  return {chosen("gemm"), chosen("reduce-scatter"), chosen("all-gather")};
}

bool is_gemm_alone(const Phases& phases) { return phases.gemm && !phases.reduce_scatter && !phases.all_gather; }

std::uint32_t gpus_of(const Document& run, const Workload& workload, bool may_be_alone) {
  if (workload.empty()) {
    if (!run.content.contains("gpus")) run.reject("/gpus", "an integer from 1 to 256, since there is no workload");
    return run.content.at("gpus").get<std::uint32_t>();
  }
  if (workload.layer) {
    if (run.content.value("gpus", 1u) != 1)
      run.reject("/gpus", "1, or nothing: of a layer one GPU is simulated, and its tp says how many share it");
    return 1;
  }
  if (workload.collective && !run.content.contains("gpus"))
    run.reject("/gpus", "an integer from 2 to 256, the GPUs of the collective");
  if (workload.embedding && !run.content.contains("gpus"))
    run.reject("/gpus", "an integer from 2 to 256, the GPUs that have tables");
  if (workload.gemv && !run.content.contains("gpus"))
    run.reject("/gpus", "an integer from 2 to 256, the GPUs whose results are added up");
  if (workload.experts && !run.content.contains("gpus"))
    run.reject("/gpus", "an integer from 2 to 256, the GPUs that have experts");
  const std::uint32_t gpus = run.content.value("gpus", workload.tp);
  const std::uint32_t least = may_be_alone && !workload.is_of_several() ? 1 : 2;
  if (gpus < least) run.reject("/gpus", fmt::format("an integer from {} to 256", least));
  if (workload.tp != 0 && gpus != workload.tp) run.reject("/gpus", fmt::format("{}, the workload's tp", workload.tp));
  return gpus;
}

Limits limits_of(const json& run) {
  const json given = run.value("limits", json::object());
  Limits limits;
  if (given.contains("simulated_ms")) limits.simulated_ms = given.at("simulated_ms").get<double>();
  if (given.contains("wall_s")) limits.wall_s = given.at("wall_s").get<double>();
  limits.firmware_s = given.value("firmware_s", limits.firmware_s);
  limits.polls = given.value("polls", limits.polls);
  limits.errors = given.value("errors", limits.errors);
  return limits;
}

json resolved_limits(const Limits& limits) {
  json resolved = {{"firmware_s", limits.firmware_s}, {"polls", limits.polls}, {"errors", limits.errors}};
  if (limits.simulated_ms) resolved["simulated_ms"] = *limits.simulated_ms;
  if (limits.wall_s) resolved["wall_s"] = *limits.wall_s;
  return resolved;
}

/// What the method means.
const char* usual_program(const RunConfiguration& c) {
  if (c.workload.layer) return "layer";
  if (c.workload.collective) return "collective";
  if (c.workload.dlrm) return "dlrm";
  if (c.workload.embedding) return "embedding";
  if (c.workload.gemv) return "gemv";
  if (c.workload.experts) return "experts";
  if (is_ideal(c.method)) return "isolated";
  return c.method == Method::sequential ? "sequential" : "fused";
}

json resolved_layer(const Workload& w) {
  const TransformerShape& s = w.layer->shape;
  json resolved = {{"label", w.label},
                   {"layer", w.layer->training ? "training" : "prompt"},
                   {"attention", w.layer->fused_attention ? "fused" : "unfused"},
                   {"tp", w.tp},
                   {"transformer",
                    {{"hidden", s.hidden},
                     {"heads", s.heads},
                     {"sequence", s.sequence},
                     {"batch", s.batch},
                     {"element", name_of(s.element)}}}};
  if (!w.model.empty()) resolved["model"] = w.model;
  for (const LayerPart part : w.layer->parts) resolved["parts"].push_back(name_of(part));
  return resolved;
}

json resolved_collective(const Workload& w) {
  const t3_collective& c = *w.collective;
  return {{"label", w.label},
          {"collective",
           {{"op", name_of(c.op)},
            {"algorithm", name_of(c.algorithm)},
            {"bytes", bytes_of(c)},
            {"element", name_of(w.gemm.element)}}}};
}

json resolved_gemv(const Workload& w) {
  return {{"label", w.label},
          {"gemv",
           {{"rows", w.gemv->rows},
            {"columns", w.gemv->columns},
            {"slice", w.gemv->slice},
            {"element", name_of(w.gemm.element)}}}};
}

json resolved_experts(const Workload& w) {
  return {{"label", w.label},
          {"experts",
           {{"tokens", w.gemm.m},
            {"hidden", w.gemm.n},
            {"inner", w.gemm.k},
            {"element", name_of(w.gemm.element)},
            {"tile", fmt::format("{}x{}", w.gemm.tile.rows, w.gemm.tile.columns)},
            {"occupancy", w.occupancy}}}};
}

json resolved_workload(const Workload& w) {
  if (w.layer) return resolved_layer(w);
  if (w.collective) return resolved_collective(w);
  if (w.embedding) return resolved_embedding(w);
  if (w.gemv) return resolved_gemv(w);
  if (w.experts) return resolved_experts(w);
  json resolved = {{"label", w.label},
                   {"gemm",
                    {{"m", w.gemm.m},
                     {"n", w.gemm.n},
                     {"k", w.gemm.k},
                     {"element", name_of(w.gemm.element)},
                     {"transpose_b", w.gemm.transpose_b},
                     {"tile", fmt::format("{}x{}", w.gemm.tile.rows, w.gemm.tile.columns)}}}};
  if (w.fused != T3_FUSED_RING_REDUCE_SCATTER) resolved["fused"] = name_of(w.fused);
  if (w.tp != 0) resolved.update({{"model", w.model}, {"sublayer", w.sublayer}, {"tp", w.tp}, {"tokens", w.tokens}});
  return resolved;
}

json resolved_phases(const Phases& phases) {
  json list = json::array();
  if (phases.gemm) list.push_back("gemm");
  if (phases.reduce_scatter) list.push_back("reduce-scatter");
  if (phases.all_gather) list.push_back("all-gather");
  return list;
}

json resolved_system(const Files& files) {
  json system = files.system.content, memory = files.memory.content;
  complete_described(system, "system");
  complete_described(memory, "memory");
  system["memory"].erase("file");
  system["memory"]["dram"] = memory;
  for (json* part : {&system, &system["memory"]["dram"]}) {
    part->erase("description");
    part->erase("$schema");
  }
  return system;
}

json resolve(const RunConfiguration& c, const Files& files) {
  json resolved = {{"system", resolved_system(files)},
                   {"gpus", c.gpus},
                   {"method", name_of(c.method)},
                   {"arbitration", c.arbitration},
                   {"mca_scope", name_of(c.mca_scope)},
                   {"data", c.functional ? "functional" : "timing-only"},
                   {"operands", name_of(c.operands)},
                   {"simulate", c.mirror ? "mirror" : "all"},
                   {"quantum_ns", c.quantum_ns},
                   {"firmware", c.firmware},
                   {"seed", c.seed},
                   {"inject", files.run.content.value("inject", json::object())},
                   {"limits", resolved_limits(c.limits)}};
  if (!c.workload.empty()) resolved["workload"] = resolved_workload(c.workload);
  resolved.update(resolved_software(c.software, usual_program(c)));
  if (const json phases = resolved_phases(c.phases); phases.size() < 3) resolved["phases"] = phases;
  if (c.check_protocol) resolved["check"] = files.run.content.at("check");
  if (files.run.content.contains("models"))
    resolved["models"] =
        std::filesystem::absolute(files.run.resolve("/models", files.run.content.at("models").get<std::string>()))
            .lexically_normal()
            .string();
  return resolved;
}

/// Over the canonical text: keys sorted, no spaces, no path, so that moving files changes nothing, and no limits, which
/// change nothing in a run that keeps them.
std::string hash_of(const RunConfiguration& c) {
  json resolved = with_fingerprints(c.resolved, c.software);
  resolved.erase("models");
  resolved.erase("limits");
  return fingerprint(resolved.dump());
}

const char* usual_method(const Workload& w) {
  if (w.embedding || w.gemv || w.experts) return "bulk";
  return w.layer || w.collective ? "sequential" : "t3-mca";
}

}  // namespace

RunConfiguration load_run(const std::filesystem::path& file, const std::vector<std::string>& settings) {
  return load_run(read_document(file, "run file"), settings);
}

RunConfiguration load_run(Document document, const std::vector<std::string>& settings) {
  const Files files = load_files(std::move(document), settings);
  const json& run = files.run.content;
  RunConfiguration c;
  c.system = read_system(files.system, files.memory);
  if (run.contains("models")) models_of(files.run);  // right, whether the workload is of a model or not
  if (run.contains("workload")) c.workload = read_workload(files.run);
  c.method = method_named(run.value("method", usual_method(c.workload)));
  c.software = read_software(files.run, usual_program(c));
  TileShape& tile = c.workload.gemm.tile;
  if (tile.elements() != 0)
    check_explicit_tile(files.run, c.system, tile);
  else if (c.workload.has_gemm())
    tile = choose_tile(c.system, c.workload.gemm);
  if (c.workload.collective && c.workload.collective->algorithm == T3_HIERARCHICAL)
    c.workload.collective->gpus_per_node = c.system.topology.gpus_per_node;
  if (c.workload.collective && c.workload.collective->algorithm == T3_TORUS_RINGS)
    std::copy(c.system.topology.dimensions.begin(), c.system.topology.dimensions.end(),
              c.workload.collective->dimensions);
  c.phases = phases_of(run);
  c.gpus = gpus_of(files.run, c.workload, c.software.library.has_value() || is_gemm_alone(c.phases));
  c.arbitration = run.value("arbitration", c.method == Method::t3_mca ? "mca" : "round-robin");
  c.policy = policy_of(files.run, c.arbitration);
  c.mca_scope = enumerator(run.value("mca_scope", "reduce-scatter"), {McaScope::reduce_scatter, McaScope::always});
  c.functional = run.value("data", "timing-only") == "functional";
  c.operands = operands_of(files.run, c.workload);
  c.mirror = run.value("simulate", "all") == "mirror" && !c.workload.layer;  // its one GPU is all there is
  c.check_protocol = run.value("check", "none") != "none";
  c.quantum_ns = run.value("quantum_ns", c.quantum_ns);
  c.system.other_gpus = read_other_gpus(files.system, files.memory, c);
  c.system.processor.quantum = from_ns(c.quantum_ns);
  for (OtherGpu& other : c.system.other_gpus) other.parameters.processor.quantum = c.system.processor.quantum;
  c.firmware = c.software.on_core ? "riscv" : "native";
  if (c.software.on_core) {
    c.system.processor.on_core = true;
    for (OtherGpu& other : c.system.other_gpus) other.parameters.processor.on_core = true;
  }
  c.seed = run.value("seed", c.seed);
  const Topology& topology = c.system.topology;
  const bool is_of_nodes = topology.kind == Topology::Kind::nodes && topology.gpus_per_node < c.gpus;
  const bool apart = is_of_nodes && topology.between() == nullptr;
  c.workload.gpus_per_node = is_of_nodes ? topology.gpus_per_node : c.gpus;
  c.workload.by_nic = c.workload.has_gemm() && apart;
  complete_persistent_kernels(files.run, c);
  c.faults = read_faults(run.value("inject", json::object()));
  c.limits = limits_of(run);
  check_tile_fits(files.system, c.system, c.workload.gemm.element);
  check_run(files.run, files.system, c);
  if (c.workload.collective && c.workload.collective->algorithm == T3_DIRECT && c.system.topology.channels_by_distance)
    c.workload.collective->gpus_per_row = c.system.topology.dimensions[0];
  c.resolved = resolve(c, files);
  c.config_hash = hash_of(c);
  return c;
}

RunConfiguration without_names(RunConfiguration c) {
  if (!c.resolved.contains("workload")) return c;
  json workload = c.resolved.at("workload");
  for (const char* name : {"label", "model", "sublayer", "tokens"}) workload.erase(name);
  if (!c.workload.layer) workload.erase("tp");
  c.workload = read_workload({"", "", {{"workload", workload}}, {}});
  c.resolved["workload"] = resolved_workload(c.workload);
  c.resolved.erase("models");
  c.config_hash = hash_of(c);
  return c;
}

SystemConfiguration load_system(const std::filesystem::path& file) {
  const Document system = read_document(file, "system file");
  check_schema(system, "system");
  const Document memory = memory_of(system);
  check_schema(memory, "memory");
  return read_system(system, memory);
}

dram::MemorySpec load_memory(const std::filesystem::path& file, const std::vector<std::string>& settings) {
  Document memory = read_document(file, "memory file");
  for (const std::string& text : settings) apply_override(memory, parse_override(text));
  check_schema(memory, "memory");
  return read_memory(memory);
}

}  // namespace t3vp
