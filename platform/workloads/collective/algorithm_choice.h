// Which algorithm a collective operation takes where the run file says auto: the one with the shortest estimate.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "t3/collective.h"
#include "workloads/run_settings.h"

namespace t3vp {

/// "auto" is none.
std::optional<t3_collective_algorithm> algorithm_named(const std::string& word);

/// Sets the topology that the algorithm needs: nodes, rows or dimensions.
void set_places(t3_collective& collective, const Topology& topology);

/// Why the operation cannot go by the algorithm on these links, as "hierarchical needs links of kind nodes". Empty: it
/// can.
std::string unfit(t3_collective_op op, t3_collective_algorithm algorithm, const RunSettings& settings);

/// An estimate in ns, from the kernel's own steps on a fabric without other traffic: for each kernel its launch, and
/// for each step the busiest link, DRAM or port, and the latency of the longest way. docs/models/collectives.md has the
/// formula.
double estimated_ns(const t3_collective& collective, const RunSettings& settings);

/// The algorithm, of those that `may_be`, by which the operations, one after the other, take the shortest time by the
/// estimate. Of equal ones it is the first of the operation's description.
t3_collective_algorithm best_algorithm(
    const std::vector<t3_collective_op>& ops, t3_element element, std::uint64_t elements, const RunSettings& settings,
    const std::function<bool(t3_collective_algorithm)>& may_be = [](t3_collective_algorithm) { return true; });

}  // namespace t3vp
