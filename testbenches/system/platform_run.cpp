#include "system/platform_run.h"

#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#include "io/output_file.h"
#include "report/report.h"
#include "run/simulation.h"
#include "workloads/registry.h"

namespace t3vp::test {
namespace {

std::string base_run() { return config("runs/gemm-rs-4gpu.json").string(); }

/// What the program does with a configuration, without the program.
int simulate_into(const RunConfiguration& configuration, const std::filesystem::path& folder, t3_program* program) {
  RunOptions options;
  options.program = program;
  options.out = folder;
  options.dump_arrays = true;
  const RunResult result = simulate(configuration, options);
  write_text(folder / "report.json", report_json(configuration, result).dump(2) + "\n");
  return failures(result).empty() ? 0 : 1;
}

}  // namespace

Run Run::of_program(const Settings& settings) {
  Run run;
  std::vector<std::string> arguments{"run", base_run(), "--dump-arrays", "--out", (*run.folder_ / "").string()};
  for (const std::string& setting : settings) {
    arguments.push_back("--set");
    arguments.push_back(setting);
  }
  const Outcome outcome = run_program(arguments);
  run.exit_code_ = outcome.exit_code;
  run.terminal_ = outcome.out + outcome.err;
  run.load_report();
  return run;
}

Run Run::of_platform(const Settings& settings) { return of_platform(configuration_of(settings)); }

Run Run::of_platform(const RunConfiguration& configuration, const std::function<void()>& before, t3_program* program) {
  Run run;
  const pid_t child = fork();
  if (child == 0) {
    try {
      if (before) before();
      _exit(simulate_into(configuration, *run.folder_ / "", program));
    } catch (...) {
      _exit(127);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  run.exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  run.load_report();
  return run;
}

void Run::load_report() {
  const std::string text = text_of(*folder_ / "report.json");
  if (text.empty()) throw std::runtime_error("no report; the run ended with " + std::to_string(exit_code_) + terminal_);
  report_ = nlohmann::ordered_json::parse(text);
}

double Run::statistic(const std::string& name) const {
  for (const auto& statistic : report_.at("statistics"))
    if (statistic.at("name") == name) return statistic.at("value").get<double>();
  throw std::runtime_error("no statistic " + name);
}

std::string Run::text_without(const std::vector<std::string>& keys) const {
  nlohmann::ordered_json report = report_;
  for (const std::string& key : keys) report.erase(key);
  return report.dump(2);
}

std::vector<std::string> Run::diagnosis() const {
  return report_.value("diagnosis", nlohmann::ordered_json::array()).get<std::vector<std::string>>();
}

RunConfiguration configuration_of(const Settings& settings) { return load_run(base_run(), settings); }

RunConfiguration with_gpus(RunConfiguration configuration, std::uint32_t gpus) {
  configuration.gpus = gpus;
  const Document run{"run.json", "", configuration.resolved, {}};
  const std::shared_ptr<Workload> workload = read_workload(run);
  workload->complete(run, run, configuration);
  configuration.workload = workload;
  return configuration;
}

std::string on_small_system() { return "system=" + config("systems/small-4.json").string(); }

Settings gemm(std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  return {"workload.gemm.m=" + std::to_string(m), "workload.gemm.n=" + std::to_string(n),
          "workload.gemm.k=" + std::to_string(k)};
}

Settings operator+(Settings left, const Settings& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

}  // namespace t3vp::test
