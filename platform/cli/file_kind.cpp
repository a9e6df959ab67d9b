#include "cli/file_kind.h"

#include "config/configuration.h"
#include "config/memory_need.h"
#include "experiment/plan.h"
#include "guests/opened_software.h"
#include "io/input_error.h"
#include "io/json_document.h"
#include "io/schema_check.h"
#include "report/report.h"

namespace t3vp {
namespace {

using Settings = std::vector<std::string>;

struct Kind {
  const char* name;
  const char* telling_key;  ///< no other kind has it at the top
  bool takes_settings;
  void (*check)(const std::filesystem::path& file, const Settings& settings);
};

void check_models(const std::filesystem::path& file, const Settings&) {
  check_schema(read_document(file, "models file"), "models");
}

void check_experiment(const std::filesystem::path& file, const Settings&) { make_plan(load_experiment(file)); }

/// Checks what `run` checks before it starts.
void check_run(const std::filesystem::path& file, const Settings& settings) {
  const RunConfiguration configuration = load_run(file, settings);
  require_memory(file, configuration);
  const OpenedSoftware software(configuration);
}

void check_memory(const std::filesystem::path& file, const Settings& settings) { load_memory(file, settings); }

void check_system(const std::filesystem::path& file, const Settings&) { load_system(file); }

void check_report(const std::filesystem::path& file, const Settings&) { read_report(file); }

void check_replay(const std::filesystem::path& file, const Settings&) {
  check_schema(read_document(file, "replay report"), "replay");
}

constexpr Kind kinds[] = {
    {"replay report", "bandwidth_GBps", false, check_replay},
    {"report", "time_ns", false, check_report},
    {"models file", "sublayers", false, check_models},
    {"memory file", "timing", true, check_memory},
    {"memory file", "geometry", true, check_memory},
    {"system file", "compute", false, check_system},
    {"system file", "links", false, check_system},
    {"experiment file", "base", false, check_experiment},
    {"run file", "workload", true, check_run},
    {"run file", "system", true, check_run},
};

}  // namespace

std::string check_file(const std::filesystem::path& file, const Settings& settings) {
  const Document document = read_document(file, "JSON file");
  for (const Kind& kind : kinds) {
    if (!document.content.is_object() || !document.content.contains(kind.telling_key)) continue;
    if (!settings.empty() && !kind.takes_settings)
      throw InputError("--set " + settings.front(), "a " + std::string(kind.name) + ", " + file.string(),
                       "a run or memory file to change");
    kind.check(file, settings);
    return kind.name;
  }
  document.reject("", "a run, system, memory, models or experiment file or a report");
}

}  // namespace t3vp
