#include "workloads/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "workloads/all_workloads.h"
#include "workloads/description_of.h"

namespace t3vp {
namespace {

using nlohmann::json;

const WorkloadDescription& described(const WorkloadKind& kind) { return description_of(kind.name); }

bool has(const WorkloadDescription& description, const std::string& key) {
  return std::find(description.keys.begin(), description.keys.end(), key) != description.keys.end();
}

/// Returns the keys that are required with a key that the chosen room does not have: "model or layer". A room that has
/// the key beside another one needs that other one.
std::string keys_beside(const std::string& key) {
  std::vector<std::string_view> names;
  const auto add = [&names](std::string_view name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const WorkloadKind* kind : workload_kinds()) {
    const WorkloadDescription& description = described(*kind);
    bool is_beside = false;
    for (const auto& [own, other] : kind->beside)
      if (key == own) {
        add(other);
        is_beside = true;
      }
    if (has(description, key) && !description.given_by.empty() && !is_beside) add(description.given_by);
  }
  return fmt::format("{}", fmt::join(names, " or "));
}

const WorkloadKind* chosen_kind(const json& workload) {
  const WorkloadKind* usual = nullptr;
  for (const WorkloadKind* kind : workload_kinds()) {
    const std::string_view given_by = described(*kind).given_by;
    if (given_by.empty())
      usual = kind;
    else if (workload.contains(given_by))
      return kind;
  }
  return usual;
}

bool is_of_some_room(const std::string& key) {
  return std::any_of(workload_kinds().begin(), workload_kinds().end(),
                     [&](const WorkloadKind* kind) { return has(described(*kind), key); });
}

void check_key(const Document& run, const WorkloadKind& chosen, const std::string& key) {
  const json& workload = run.content.at("workload");
  const WorkloadDescription& description = described(chosen);
  const std::string place = "/workload/" + key;
  for (const auto& [own, other] : chosen.beside)
    if (key == own && !workload.contains(other))
      run.reject(place, fmt::format("this key only beside {}", keys_beside(key)));
  if (has(description, key) || !is_of_some_room(key)) return;
  if (description.given_by.empty()) run.reject(place, fmt::format("this key only beside {}", keys_beside(key)));
  run.reject(place, fmt::format("not this key beside {}", description.given_by));
}

bool has_collectives(const json& run) {
  const auto workload = run.find("workload");
  return workload != run.end() && workload->is_object() && chosen_kind(*workload)->has_collectives;
}

}  // namespace

const std::vector<const WorkloadKind*>& workload_kinds() { return all_workload_kinds(); }

std::vector<std::string> workload_methods() {
  std::vector<WorkloadDescription> all(workload_descriptions.begin(), workload_descriptions.end());
  std::stable_partition(all.begin(), all.end(), [](const WorkloadDescription& d) { return d.given_by.empty(); });
  std::vector<std::string> names;
  for (const WorkloadDescription& description : all)
    for (const MethodDescription& method : description.methods)
      if (std::find(names.begin(), names.end(), method.name) == names.end()) names.emplace_back(method.name);
  return names;
}

const WorkloadKind* kind_of_workload(const Document& run) {
  const auto workload = run.content.find("workload");
  if (workload == run.content.end() || !workload->is_object()) return nullptr;
  const WorkloadKind* const chosen = chosen_kind(*workload);
  for (const auto& key : workload->items()) check_key(run, *chosen, key.key());
  return chosen;
}

void check_collectives(Document& run, const json& as_written) {
  if (!run.content.contains("collectives") || has_collectives(run.content)) return;
  const bool given = std::any_of(run.overridden.begin(), run.overridden.end(),
                                 [](const std::string& place) { return place.rfind("/collectives", 0) == 0; });
  if (has_collectives(as_written) && !given) {
    run.content.erase("collectives");
    return;
  }
  std::vector<std::string_view> names;
  for (const WorkloadKind* kind : workload_kinds())
    if (kind->has_collectives) names.emplace_back(kind->name);
  const WorkloadKind* const own = kind_of_workload(run);
  run.reject("/collectives", fmt::format("this key only with the workload {}{}", fmt::join(names, " or "),
                                         own == nullptr ? "" : fmt::format(", not {}", own->name)));
}

std::shared_ptr<Workload> read_workload(const Document& run) {
  const WorkloadKind* const kind = kind_of_workload(run);
  return kind == nullptr ? std::make_shared<Workload>() : kind->read(run);
}

void check_program(const Document& run, const Workload& workload, const RunSettings& settings) {
  const std::string& program = settings.built_in_program;
  if (program.empty()) return;
  if (!workload.is_there()) run.reject("/workload", "a workload, since the program is " + program);
  const std::string usual = workload.usual_program(settings.method);
  if (program == usual) return;
  const WorkloadKind& own = *kind_of_workload(run);
  for (const WorkloadKind::Program& mine : own.programs)
    if (mine.name == usual) run.reject("/program", fmt::format("{}, or nothing, of {}", usual, mine.of));
  for (const WorkloadKind* kind : workload_kinds())
    for (const WorkloadKind::Program& other : kind->programs)
      if (program == other.name) run.reject("/program", fmt::format("another program, since {}", other.otherwise));
}

}  // namespace t3vp
