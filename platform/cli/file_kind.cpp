#include "cli/file_kind.h"

#include "config/configuration.h"
#include "config/json_document.h"
#include "config/schema_check.h"
#include "experiment/plan.h"
#include "report/report.h"
#include "run/memory_need.h"

namespace t3vp {
namespace {

struct Kind {
  const char* name;
  const char* telling_key;  ///< no other kind has it at the top
  void (*check)(const std::filesystem::path& file);
};

void check_models(const std::filesystem::path& file) { check_schema(read_document(file, "models file"), "models"); }

void check_experiment(const std::filesystem::path& file) { make_plan(load_experiment(file)); }

/// Checks what `run` checks before it starts.
void check_run(const std::filesystem::path& file) { require_memory(file, load_run(file)); }

void check_replay(const std::filesystem::path& file) { check_schema(read_document(file, "replay report"), "replay"); }

constexpr Kind kinds[] = {
    {"replay report", "bandwidth_GBps", check_replay},
    {"report", "time_ns", [](const std::filesystem::path& file) { read_report(file); }},
    {"models file", "sublayers", check_models},
    {"memory file", "timing", [](const std::filesystem::path& file) { load_memory(file); }},
    {"memory file", "geometry", [](const std::filesystem::path& file) { load_memory(file); }},
    {"system file", "compute", [](const std::filesystem::path& file) { load_system(file); }},
    {"system file", "links", [](const std::filesystem::path& file) { load_system(file); }},
    {"experiment file", "base", check_experiment},
    {"run file", "workload", check_run},
    {"run file", "system", check_run},
};

}  // namespace

std::string check_file(const std::filesystem::path& file) {
  const Document document = read_document(file, "JSON file");
  for (const Kind& kind : kinds) {
    if (!document.content.is_object() || !document.content.contains(kind.telling_key)) continue;
    kind.check(file);
    return kind.name;
  }
  document.reject("", "a run, system, memory, models or experiment file or a report");
}

}  // namespace t3vp
