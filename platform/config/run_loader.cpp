#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "config/checks.h"
#include "config/configuration.h"
#include "config/faults.h"
#include "config/partition_key.h"
#include "config/policies.h"
#include "config/run_checks.h"
#include "config/topology_checks.h"
#include "io/described_keys.h"
#include "io/fingerprint.h"
#include "io/overrides.h"
#include "io/schema_check.h"
#include "system/gpu_settings.h"
#include "system/plugged_blocks.h"
#include "system/system_checks.h"
#include "system/system_reader.h"
#include "workloads/registry.h"
#include "workloads/shared/models_file.h"

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

  const json as_written = run.content;
  Files files{std::move(run), {}, {}};
  apply_all(files.run, overrides);
  kind_of_workload(files.run);
  check_schema(files.run, "run");
  check_collectives(files.run, as_written);
  files.system = document_at(files.run, "/system", "system file");
  apply_all(files.system, for_system);
  check_schema(files.system, "system");
  files.memory = memory_of(files.system);
  apply_all(files.memory, for_memory);
  check_schema(files.memory, "memory");
  return files;
}

memory::PolicyChoice policy_of(const Document& run, const memory::Policies& policies, const std::string& arbitration) {
  const std::optional<memory::PolicyChoice> policy = policies.named(arbitration);
  if (!policy) run.reject("/arbitration", "one of " + policies.names());
  return *policy;
}

Phases phases_of(const json& run) {
  if (!run.contains("phases")) return {};
  const auto chosen = [&](const char* phase) {
    return std::count(run.at("phases").begin(), run.at("phases").end(), json(phase)) != 0;
  };
  return {chosen("gemm"), chosen("reduce-scatter"), chosen("all-gather")};
}

bool is_gemm_alone(const Phases& phases) { return phases.gemm && !phases.reduce_scatter && !phases.all_gather; }

Limits limits_of(const json& run) {
  const json given = run.value("limits", json::object());
  Limits limits;
  if (given.contains("simulated_ms")) limits.simulated_ms = given.at("simulated_ms").get<double>();
  if (given.contains("wall_s")) limits.wall_s = given.at("wall_s").get<double>();
  limits.firmware_s = given.value("firmware_s", limits.firmware_s);
  limits.polls = given.value("polls", limits.polls);
  limits.errors = given.value("errors", limits.errors);
  limits.rank_s = given.value("rank_s", limits.rank_s);
  return limits;
}

json resolved_limits(const Limits& limits) {
  json resolved = {
      {"firmware_s", limits.firmware_s}, {"polls", limits.polls}, {"errors", limits.errors}, {"rank_s", limits.rank_s}};
  if (limits.simulated_ms) resolved["simulated_ms"] = *limits.simulated_ms;
  if (limits.wall_s) resolved["wall_s"] = *limits.wall_s;
  return resolved;
}

std::optional<Jitter> jitter_of(const json& run) {
  if (!run.contains("jitter")) return {};
  const json& given = run.at("jitter");
  Jitter jitter;
  jitter.seed = given.at("seed").get<std::uint64_t>();
  jitter.launch_ns = given.value("launch_ns", jitter.launch_ns);
  jitter.latency_ns = given.value("latency_ns", jitter.latency_ns);
  return jitter;
}

json resolved_jitter(const Jitter& jitter) {
  return {{"seed", jitter.seed}, {"launch_ns", jitter.launch_ns}, {"latency_ns", jitter.latency_ns}};
}

/// Returns the program of the method.
std::string usual_program(const RunConfiguration& c) { return c.workload->usual_program(c.method); }

json resolved_phases(const Phases& phases) {
  json list = json::array();
  if (phases.gemm) list.push_back("gemm");
  if (phases.reduce_scatter) list.push_back("reduce-scatter");
  if (phases.all_gather) list.push_back("all-gather");
  return list;
}

json resolved_system(const Files& files, const std::vector<PluggedBlock>& blocks) {
  json system = files.system.content, memory = files.memory.content;
  complete_described(system, "system");
  complete_described(memory, "memory");
  system["memory"].erase("file");
  system["memory"]["dram"] = memory;
  for (json* part : {&system, &system["memory"]["dram"]}) {
    part->erase("description");
    part->erase("$schema");
  }
  set_library_paths(system, blocks);
  return system;
}

json resolve(const RunConfiguration& c, const Files& files) {
  json resolved = {{"system", resolved_system(files, c.system.plugged)},
                   {"gpus", c.gpus},
                   {"method", c.method},
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
  if (c.workload->is_there()) resolved["workload"] = c.workload->resolved();
  resolved.update(resolved_software(c.software, usual_program(c)));
  for (const SoftwareLibrary& library : c.policy_libraries) resolved["policies"].push_back(library.file.string());
  if (const json phases = resolved_phases(c.phases); phases.size() < 3) resolved["phases"] = phases;
  if (!c.partition.empty()) resolved["partition"] = c.partition;
  if (c.jitter) resolved["jitter"] = resolved_jitter(*c.jitter);
  if (const std::string algorithm = c.workload->collectives_algorithm(); !algorithm.empty())
    resolved["collectives"] = {{"algorithm", algorithm}};
  if (c.checks != usual_checks) resolved["check"] = files.run.content.at("check");
  if (c.allow_errors) resolved["allow_errors"] = true;
  if (c.has_details) resolved["statistics"] = "detailed";
  if (files.run.content.contains("models"))
    resolved["models"] =
        std::filesystem::absolute(files.run.resolve("/models", files.run.content.at("models").get<std::string>()))
            .lexically_normal()
            .string();
  return resolved;
}

/// Over the canonical text: keys sorted, no spaces, no path, so that moving files changes nothing. It has no limits,
/// which change nothing in a run that keeps them, and no partition, which changes no result.
std::string hash_of(const RunConfiguration& c) {
  json resolved = with_fingerprints(c.resolved, c.software);
  set_library_fingerprints(resolved["system"], c.system.plugged);
  for (std::size_t i = 0; i < c.policy_libraries.size(); ++i)
    resolved["policies"][i] = c.policy_libraries[i].fingerprint;
  resolved.erase("models");
  resolved.erase("limits");
  resolved.erase("partition");
  return fingerprint(resolved.dump());
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
  const std::shared_ptr<Workload> workload = read_workload(files.run);
  c.workload = workload;
  c.method = run.value("method", workload->usual_method());
  c.software = read_software(files.run, usual_program(c));
  if (!c.software.library) c.built_in_program = c.software.program;
  c.phases = phases_of(run);
  c.gpus = workload->gpus(files.run, c.software.library.has_value() || is_gemm_alone(c.phases));
  c.arbitration = run.value("arbitration", c.method == "t3-mca" ? "mca" : "round-robin");
  c.policy_libraries = libraries_at(files.run, "/policies", "the path of a library of arbitration policies");
  c.system.memory.policies = open_policies(c.policy_libraries);
  c.policy = policy_of(files.run, c.system.memory.policies, c.arbitration);
  c.mca_scope = run.value("mca_scope", "reduce-scatter") == "always" ? McaScope::always : McaScope::reduce_scatter;
  c.collectives = run.value("collectives", json::object()).value("algorithm", "auto");
  c.functional = run.value("data", "timing-only") == "functional";
  c.operands = workload->operands(files.run);
  c.mirror = run.value("simulate", "all") == "mirror" && !workload->is_of_one_gpu();
  c.checks = checks_of(files.run, c.functional);
  c.allow_errors = run.value("allow_errors", false);
  c.has_details = run.value("statistics", "usual") == "detailed";
  c.quantum_ns = run.value("quantum_ns", c.quantum_ns);
  c.system.other_gpus = read_other_gpus(files.system, files.memory, c.gpus);
  c.system.processor.quantum = from_ns(c.quantum_ns);
  for (OtherGpu& other : c.system.other_gpus) {
    other.parameters.processor.quantum = c.system.processor.quantum;
    other.parameters.memory.policies = c.system.memory.policies;
  }
  c.firmware = c.software.on_core ? "riscv" : "native";
  if (c.software.on_core) {
    c.system.processor.on_core = true;
    for (OtherGpu& other : c.system.other_gpus) other.parameters.processor.on_core = true;
  }
  c.seed = run.value("seed", c.seed);
  workload->complete(files.run, files.system, c);
  c.faults = read_faults(run.value("inject", json::object()));
  c.limits = limits_of(run);
  c.jitter = jitter_of(run);
  c.partition = read_partition(files.run, c.gpus);
  check_tile_fits(files.system, c.system, workload->element());
  check_topology(files.run, files.system, c);
  workload->choose(files.run, c);
  check_run(files.run, files.system, c);
  c.resolved = resolve(c, files);
  c.config_hash = hash_of(c);
  return c;
}

RunConfiguration without_names(RunConfiguration c) {
  if (!c.workload->is_there()) return c;
  c.workload = c.workload->unnamed();
  c.resolved["workload"] = c.workload->resolved();
  c.resolved.erase("models");
  c.config_hash = hash_of(c);
  return c;
}

RunConfiguration load_machine(const std::filesystem::path& file, std::uint32_t gpus) {
  const Document system = read_document(file, "system file");
  check_schema(system, "system");
  const Document memory = memory_of(system);
  check_schema(memory, "memory");
  RunConfiguration c;
  c.system = read_system(system, memory);
  c.gpus = gpus;
  c.system.other_gpus = read_other_gpus(system, memory, gpus);
  check_topology({file.string(), "", {{"gpus", gpus}}, {}}, system, c);
  return c;
}

}  // namespace t3vp
