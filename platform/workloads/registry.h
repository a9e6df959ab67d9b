// The rooms of this folder, as a run file names them.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "workloads/phase.h"
#include "workloads/workload.h"

namespace t3vp {

/// The entry of a room in addition to its description: a constant `<name>_kind` in <name>/<name>_workload.cpp.
struct WorkloadKind {
  /// Words about one of its programs; a room with several programs for one shape needs none.
  struct Program {
    const char* name;
    const char* of;         ///< "embedding tables", in "embedding, or nothing, of embedding tables"
    const char* otherwise;  ///< "there are no embedding tables": why another workload cannot have it
  };

  const char* name;
  std::vector<Program> programs;
  std::vector<std::string> buffers;  ///< names of those that its programs publish, as regular expressions
  std::vector<Phase> phases;         ///< that its programs mark, beside those of a GEMM and its collective
  nlohmann::json numbers;            ///< a resolved workload with all numbers that it may have
  std::shared_ptr<Workload> (*read)(const Document& run);
  /// Keys that stand beside another one alone: "tp" beside "model".
  std::vector<std::pair<const char*, const char*>> beside = {};
  bool has_collectives = false;  ///< of which the run file's `collectives` gives the algorithm
};

const std::vector<const WorkloadKind*>& workload_kinds();

/// Methods of all workloads.
std::vector<std::string> workload_methods();

/// The one that the keys of a run file choose; null when there is no workload. Rejects keys that cannot stand beside
/// each other, before anything is missed.
const WorkloadKind* kind_of_workload(const Document& run);

/// Rejects `collectives` where the workload has none. Drops them with the workload that they were for where --set has
/// put another one in its place. `as_written` is the run file without --set.
void check_collectives(Document& run, const nlohmann::json& as_written);

/// The workload of a run file whose schema has been checked.
std::shared_ptr<Workload> read_workload(const Document& run);

/// Rejects a program of the platform's that is for other work.
void check_program(const Document& run, const Workload& workload, const RunSettings& settings);

}  // namespace t3vp
