#include "workloads/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "workloads/all_workloads.h"

namespace t3vp {
namespace {

using nlohmann::json;

bool has(const std::vector<const char*>& keys, const std::string& key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

/// What else there has to be for a key that the chosen room does not have: "model or layer".
std::string keys_beside(const std::string& key) {
  std::vector<const char*> names;
  for (const WorkloadKind* kind : workload_kinds()) {
    for (const WorkloadKind::Beside& beside : kind->beside)
      if (key == beside.key) names.insert(names.end(), beside.others.begin(), beside.others.end());
    if (has(kind->keys, key)) names.insert(names.end(), kind->choosing.begin(), kind->choosing.end());
  }
  return fmt::format("{}", fmt::join(names, " or "));
}

const WorkloadKind* chosen_kind(const json& workload) {
  const WorkloadKind* usual = nullptr;
  for (const WorkloadKind* kind : workload_kinds()) {
    if (kind->choosing.empty()) usual = kind;
    for (const char* key : kind->choosing)
      if (workload.contains(key)) return kind;
  }
  return usual;
}

bool is_of_some_room(const std::string& key) {
  return std::any_of(workload_kinds().begin(), workload_kinds().end(),
                     [&](const WorkloadKind* kind) { return has(kind->keys, key) || has(kind->choosing, key); });
}

void check_key(const Document& run, const WorkloadKind& chosen, const std::string& key) {
  const json& workload = run.content.at("workload");
  const std::string place = "/workload/" + key;
  const auto stands = [&](const char* other) { return workload.contains(other); };
  for (const WorkloadKind::Beside& beside : chosen.beside)
    if (key == beside.key && std::none_of(beside.others.begin(), beside.others.end(), stands))
      run.reject(place, fmt::format("this key only beside {}", keys_beside(key)));
  if (has(chosen.keys, key) || has(chosen.choosing, key) || !is_of_some_room(key)) return;
  if (chosen.choosing.empty()) run.reject(place, fmt::format("this key only beside {}", keys_beside(key)));
  run.reject(place, fmt::format("not this key beside {}", chosen.choosing.front()));
}

}  // namespace

const std::vector<const WorkloadKind*>& workload_kinds() { return all_workload_kinds(); }

std::vector<std::string> workload_methods() {
  std::vector<const WorkloadKind*> kinds = workload_kinds();
  std::stable_partition(kinds.begin(), kinds.end(), [](const WorkloadKind* kind) { return kind->choosing.empty(); });
  std::vector<std::string> names;
  for (const WorkloadKind* kind : kinds)
    for (const char* method : kind->methods)
      if (std::find(names.begin(), names.end(), method) == names.end()) names.emplace_back(method);
  return names;
}

const WorkloadKind* kind_of_workload(const Document& run) {
  const auto workload = run.content.find("workload");
  if (workload == run.content.end() || !workload->is_object()) return nullptr;
  const WorkloadKind* const chosen = chosen_kind(*workload);
  for (const auto& key : workload->items()) check_key(run, *chosen, key.key());
  return chosen;
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
  const WorkloadKind* const own = kind_of_workload(run);
  for (const WorkloadKind* kind : workload_kinds())
    for (const WorkloadKind::Program& other : kind->programs) {
      if (program != other.name || program == usual || (kind == own && other.of == nullptr)) continue;
      for (const WorkloadKind::Program& mine : own->programs)
        if (mine.name == usual && mine.of != nullptr)
          run.reject("/program", fmt::format("{}, or nothing, of {}", usual, mine.of));
      run.reject("/program", fmt::format("another program, since {}", other.otherwise));
    }
}

}  // namespace t3vp
