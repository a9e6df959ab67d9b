// The collectives over links that a method has, and the algorithm by which they go.
#include <fmt/format.h>

#include <algorithm>

#include "workloads/collective/algorithm_choice.h"
#include "workloads/collective/collective_oracle.h"
#include "workloads/gemm/gemm_workload.h"
#include "workloads/shared/gemm_operands.h"

namespace t3vp {
namespace {

constexpr const char* place = "/collectives/algorithm";

/// An algorithm that no collective takes is refused, unless the file's method or workload has been replaced.
void check_unused(const Document& run, const RunSettings& settings) {
  if (settings.built_in_program.empty() || !algorithm_named(settings.collectives)) return;
  const bool is_other_run =
      run.is_overridden("/method") || run.is_overridden("/workload") || run.is_overridden("/gpus");
  if (is_other_run && !run.is_overridden("/collectives")) return;
  run.reject(place, fmt::format("nothing: the run has no collective with a choice of algorithms ({} GPUs, method {})",
                                settings.gpus, settings.method));
}

CollectiveUse fused_use(t3_fused_kind kind) {
  switch (kind) {
    case T3_FUSED_DIRECT_REDUCE_SCATTER:
      return {"reduce_scatter", "fused direct"};
    case T3_FUSED_ALL_REDUCE:
      return {"all_reduce", "fused direct"};
    case T3_FUSED_SWITCH_ALL_REDUCE:
      return {"all_reduce", "fused by the switch"};
    case T3_FUSED_ALL_TO_ALL:
      return {"all_to_all", "fused direct"};
    case T3_FUSED_HIERARCHICAL_REDUCE_SCATTER:
      return {"reduce_scatter", "fused hierarchical"};
    default:
      return {"reduce_scatter", "fused ring"};
  }
}

}  // namespace

/// One behind the other. A reduce-scatter near memory is a ring, always. Fused kinds other than reduce-scatters end
/// with what they are.
std::vector<t3_collective_op> GemmWorkload::collectives_of(const RunSettings& settings) const {
  if (by_nic_ || settings.gpus < 2) return {};
  const std::string& program = settings.built_in_program;
  if (settings.method == "ideal-rs-nmc") return {T3_ALL_GATHER};
  if (program == "sequential" || program == "isolated") return {T3_REDUCE_SCATTER, T3_ALL_GATHER};
  const bool gathers =
      fused_ == T3_FUSED_RING_REDUCE_SCATTER || fused_ == T3_FUSED_DIRECT_REDUCE_SCATTER || is_hierarchical();
  if (program == "fused" && gathers) return {T3_ALL_GATHER};
  return {};
}

/// Why the method's collectives cannot go by the algorithm; empty: they can.
std::string GemmWorkload::unfit_for(const RunSettings& settings, t3_collective_algorithm algorithm) const {
  if (algorithm == T3_RING) return {};
  const char* const name = name_of(algorithm);
  for (const t3_collective_op op : collectives_)
    if (const std::string why = unfit(op, algorithm, settings); !why.empty()) return why;
  if (settings.mirror) return fmt::format("with {} one GPU cannot stand for all", name);
  if (collectives_.size() > 1 && settings.operands == Operands::random)
    return fmt::format("with {} sums of random operands are rounded in another order", name);
  if (is_fused(settings) && algorithm == T3_IN_NETWORK)
    return "behind a fused GEMM in-network would store into the mapped output, from the switch to all GPUs";
  return {};
}

/// Of a reduce-scatter rows with what lies between them. What is gathered alone is estimated like that, too.
t3_collective GemmWorkload::flat_collective(const RunSettings& settings) const {
  t3_collective c{};
  c.op = collectives_.size() > 1 ? T3_ALL_REDUCE : T3_ALL_GATHER;
  c.algorithm = algorithm_;
  c.element = static_cast<t3_element>(gemm_.element);
  c.elements = matrix_bytes(gemm_.m, gemm_.n, gemm_.element) / bytes_of(gemm_.element);
  set_places(c, settings.system.topology);
  return c;
}

void GemmWorkload::choose(const Document& run, const RunSettings& settings) {
  collectives_ = collectives_of(settings);
  if (collectives_.empty()) {
    check_unused(run, settings);
    return;
  }
  if (const auto given = algorithm_named(settings.collectives)) {
    if (const std::string why = unfit_for(settings, *given); !why.empty()) run.reject(place, "another one: " + why);
    algorithm_ = *given;
    return;
  }
  const t3_collective whole = flat_collective(settings);
  algorithm_ = best_algorithm(collectives_, whole.element, whole.elements, settings,
                              [&](t3_collective_algorithm one) { return unfit_for(settings, one).empty(); });
}

std::vector<CollectiveUse> GemmWorkload::collective_uses(const RunSettings& settings) const {
  std::vector<CollectiveUse> uses;
  if (settings.gpus < 2) return uses;
  if (settings.built_in_program == "fused") uses.push_back(fused_use(fused_));
  if (settings.method == "ideal-rs-nmc" && settings.phases.reduce_scatter)
    uses.push_back({"reduce_scatter", "near-memory ring"});
  if (settings.built_in_program == "sequential" && by_nic_) uses.push_back({"reduce_scatter", "hierarchical by hosts"});
  for (const t3_collective_op op : collectives_)
    if (op == T3_REDUCE_SCATTER ? settings.phases.reduce_scatter : settings.phases.all_gather)
      uses.push_back({op == T3_REDUCE_SCATTER ? "reduce_scatter" : "all_gather", name_of(algorithm_)});
  return uses;
}

std::string GemmWorkload::collectives_algorithm() const { return collectives_.empty() ? "" : name_of(algorithm_); }

}  // namespace t3vp
