// Whole simulations as a test sees them: what a run leaves behind in its folder.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command_line/program.h"
#include "config/configuration.h"
#include "t3/programs.h"

namespace t3vp::test {

using Settings = std::vector<std::string>;

/// A run of the real program or of simulate(), each in a process of its own, since there can be many in a test.
class Run {
 public:
  /// t3vp run on configs/runs/gemm-rs-4gpu.json with these settings.
  static Run of_program(const Settings& settings);
  /// simulate() with the same meaning of the settings.
  static Run of_platform(const Settings& settings);
  /// simulate() of what no run file can say. `before` runs in the simulation's process, ahead of it; `program` in place
  /// of the method's own.
  static Run of_platform(const RunConfiguration& configuration, const std::function<void()>& before = {},
                         t3_program* program = nullptr);

  int exit_code() const { return exit_code_; }
  const std::string& terminal() const { return terminal_; }  ///< of the program
  const nlohmann::ordered_json& report() const { return report_; }
  double time(const std::string& name) const { return report_.at("time_ns").at(name).get<double>(); }
  double dram_bytes(const std::string& name) const { return report_.at("dram_bytes").at(name).get<double>(); }
  double statistic(const std::string& name) const;
  /// The report's text without the keys that may differ.
  std::string text_without(const std::vector<std::string>& keys) const;
  std::vector<std::string> diagnosis() const;
  /// A dumped array, "gpu0.out".
  std::filesystem::path array(const std::string& name) const { return *folder_ / (name + ".npy"); }

 private:
  Run() : folder_(std::make_shared<Folder>()) {}
  void load_report();

  std::shared_ptr<Folder> folder_;
  int exit_code_ = -1;
  std::string terminal_;
  nlohmann::ordered_json report_;
};

RunConfiguration configuration_of(const Settings& settings);
/// The same work of so many GPUs, also as no run file can have it: of one, or of more than there are tiles.
RunConfiguration with_gpus(RunConfiguration configuration, std::uint32_t gpus);

/// "system=...": configs/systems/small-4.json, which simulates fast.
std::string on_small_system();
/// The settings of a shape.
Settings gemm(std::uint32_t m, std::uint32_t n, std::uint32_t k);
Settings operator+(Settings left, const Settings& right);

}  // namespace t3vp::test
