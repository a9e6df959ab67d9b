// The t3vp command line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiment/experiment.h"
#include "io/exit_code.h"
#include "register_access/exports/register_exports.h"

namespace t3vp {

struct RunCommand {
  std::filesystem::path file;
  std::vector<std::string> settings;
  std::filesystem::path out = "out";
  bool trace = false, dump_arrays = false, print_config = false;
  std::optional<double> trace_from_us, trace_to_us;  ///< window of the timeline
  std::filesystem::path register_trace;              ///< empty: none
  std::optional<double> snapshot_every_us;           ///< simulated time between snapshots
  std::optional<double> fork_at_us;                  ///< simulated time at which variants begin
  std::filesystem::path variants;                    ///< their file
  std::optional<std::uint16_t> gdb;                  ///< port; 0: any
  std::optional<double> timeout_s;                   ///< limits.wall_s
  unsigned replicates = 1;                           ///< runs, all but the first with jitter
  unsigned jobs = 0;                                 ///< replicates at a time; 0: as many as there are cores
};

struct ReplayCommand {
  std::filesystem::path trace, memory;
  std::vector<std::string> settings;
  std::uint32_t outstanding = 0;  ///< 0: as many as the queue takes
  bool updates = false;
  std::string model = "exact";
  std::filesystem::path out = "out", commands;
};

struct ExperimentCommand {
  static constexpr const char* without_options = "true";  ///< what CLI11 has for a flag without a value

  std::filesystem::path file;
  ExperimentOptions options;
  std::filesystem::path out;        ///< empty: out/ and the file's name
  std::filesystem::path runs;       ///< empty: runs/ in `out`
  unsigned jobs = 0;                ///< 0: as many as there are cores
  std::optional<double> timeout_s;  ///< of every run
  std::string shard;                ///< I/N: which runs are made; empty: all, and results
  std::string slurm;                ///< options of sbatch, or without_options; empty: nothing is submitted
  bool status = false;              ///< nothing is made; the state of the runs is printed
};

struct RiscvCommand {
  static constexpr std::uint64_t default_instructions = 10'000'000'000;

  std::filesystem::path file;
  std::vector<std::string> memories{"0x80000000:64MiB"};  ///< BASE:SIZE
  std::uint64_t most_instructions = default_instructions;
  std::filesystem::path trace;       ///< empty: none
  std::optional<std::uint16_t> gdb;  ///< port; 0: any
  std::optional<double> timeout_s;
};

/// A node without firmware.
struct RegisterMachineOptions {
  std::filesystem::path system;
  std::uint32_t gpus = 1;
  std::filesystem::path register_trace;        ///< empty: none
  std::vector<std::filesystem::path> kernels;  ///< native libraries whose kernels packets may name
};

struct CompareCommand {
  std::vector<std::filesystem::path> reports;
  bool all = false;           ///< every difference in place of the largest ones
  bool any_workload = false;  ///< otherwise reports of other workloads than the first one's are refused
};

struct ExplainCommand {
  std::vector<std::filesystem::path> reports;  ///< one, or two whose difference is explained
};

struct RegisterScriptCommand {
  std::filesystem::path file;
  RegisterMachineOptions machine;
};

struct ValidateCommand {
  std::string machine;              ///< "h200"
  std::filesystem::path data;       ///< folder of measured times
  std::filesystem::path out;        ///< empty: out/ and the machine
  unsigned jobs = 0;                ///< 0: as many as there are cores
  std::optional<double> timeout_s;  ///< of every run
};

/// Each returns an exit code; InputError and other exceptions are for run_command_line() to report.
int run(const RunCommand& command);
int replay(const ReplayCommand& command);
int experiment(const ExperimentCommand& command);
int run_on_riscv(const RiscvCommand& command);
int validate(const ValidateCommand& command);
int check(const std::filesystem::path& file, const std::vector<std::string>& settings);
int print_registers(RegisterFormat format);
int run_register_script(const RegisterScriptCommand& command);
int run_register_shell(const RegisterMachineOptions& machine);
int compare(const CompareCommand& command);
int explain(const ExplainCommand& command);

int run_command_line(int argc, const char* const* argv);

}  // namespace t3vp
