#include "experiment/slurm_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <set>
#include <sstream>

#include "experiment/child_runs.h"
#include "io/input_error.h"
#include "io/input_file.h"
#include "io/output_file.h"

namespace t3vp {
namespace {

namespace fs = std::filesystem;
using boost::algorithm::replace_all_copy;

constexpr const char* option = "--slurm";
/// The largest index of an array where MaxArraySize is Slurm's default. A task makes several runs when there are more.
constexpr std::size_t most_tasks = 1000;

std::size_t shards_of(const SlurmJobs& jobs) { return std::min(jobs.planned, most_tasks); }

fs::path array_script(const SlurmJobs& jobs) { return jobs.folder / "runs.sbatch"; }
fs::path results_script(const SlurmJobs& jobs) { return jobs.folder / "results.sbatch"; }
fs::path sbatch_log(const SlurmJobs& jobs) { return jobs.folder / "sbatch.txt"; }

/// The shards that have missing runs, as sbatch's option --array lists them: 1-3,7.
std::string array_of(const SlurmJobs& jobs) {
  std::set<std::size_t> shards;
  for (const std::size_t run : jobs.runs) shards.insert(run % shards_of(jobs) + 1);
  std::string list;
  for (auto shard = shards.begin(); shard != shards.end();) {
    const std::size_t first = *shard;
    std::size_t last = first;
    while (++shard != shards.end() && *shard == last + 1) last = *shard;
    list += fmt::format("{}{}", list.empty() ? "" : ",", first);
    if (last != first) list += fmt::format("-{}", last);
  }
  return jobs.at_a_time == 0 ? list : fmt::format("{}%{}", list, jobs.at_a_time);
}

/// As the shell reads it as one word.
std::string shell_word(const std::string& text) {
  constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=,:+-";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  return "'" + replace_all_copy(text, "'", "'\\''") + "'";
}

/// As a line #SBATCH reads it as one word.
std::string sbatch_word(const std::string& text) {
  return "\"" + replace_all_copy(replace_all_copy(text, "\\", "\\\\"), "\"", "\\\"") + "\"";
}

/// sbatch replaces %a by the number of the array's task, and %% by %.
std::string log_option(const SlurmJobs& jobs, const std::string& file) {
  return "--output=" + sbatch_word(replace_all_copy(fs::absolute(jobs.folder).string(), "%", "%%") + "/" + file);
}

/// `arguments` are the shell's, beside the command. sbatch takes the last of an option's values, so the user's come
/// first.
std::string script_of(const SlurmJobs& jobs, const std::string& what, const std::vector<std::string>& options,
                      const std::string& arguments) {
  std::string text = fmt::format("#!/bin/sh\n# {} Written by t3vp experiment --slurm.\n", what);
  if (!jobs.options.empty()) text += fmt::format("#SBATCH {}\n", jobs.options);
  text += fmt::format("#SBATCH --job-name={}\n", sbatch_word(jobs.name));
  text += fmt::format("#SBATCH --chdir={}\n", sbatch_word(fs::current_path().string()));
  for (const std::string& one : options) text += fmt::format("#SBATCH {}\n", one);
  text += fmt::format("export {}={}\n", submission_variable, shell_word(jobs.submission));
  text += "exec";
  for (const std::string& word : jobs.command) text += " " + shell_word(word);
  return text + fmt::format(" --jobs \"$SLURM_CPUS_ON_NODE\"{}\n", arguments);
}

/// A line break would end the line that an option has in the script, and an array of the user's would replace ours.
void check(const SlurmJobs& jobs) {
  const auto is_control = [](unsigned char c) { return c < ' '; };
  for (const std::string& text : {jobs.options, jobs.name, fs::absolute(jobs.folder).string()})
    if (std::any_of(text.begin(), text.end(), is_control))
      throw InputError(option, "a line break or another control character", "options and paths without one");
  std::istringstream words(jobs.options);
  for (std::string word; words >> word;)
    if (word.rfind("--array", 0) == 0 || word.rfind("-a", 0) == 0)
      throw InputError(option, word, "options without an array: its tasks are the missing runs");
}

/// Returns what sbatch says first, without its name.
std::string refusal_of(const std::string& output) {
  std::string line = output.substr(0, output.find('\n'));
  for (const char* name : {"sbatch: ", "error: "})
    if (line.rfind(name, 0) == 0) line.erase(0, std::string(name).size());
  return line.empty() ? "no output of sbatch" : line;
}

/// Returns the job's number.
std::string submit(const fs::path& script, const std::vector<std::string>& options, const fs::path& log) {
  std::vector<std::string> arguments{"sbatch", "--parsable"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.push_back(script.string());
  const int exit_code = run_program(arguments, ".", log);
  if (exit_code == 127) throw InputError(option, "no sbatch on the PATH", "Slurm's commands on this machine");
  const std::string output = read_input(log, "log");
  if (exit_code != 0)
    throw InputError(option, fmt::format("a job that sbatch refuses ({})", refusal_of(output)),
                     "options that this Slurm takes");
  // A line is the number, and the cluster's name behind a semicolon where there are several. Others are warnings.
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);)
    if (line.find_first_of("0123456789") == 0) return line.substr(0, line.find(';'));
  throw InputError(option, "no number of a job from sbatch: " + refusal_of(output), "options that this Slurm takes");
}

}  // namespace

std::vector<fs::path> files_of(const SlurmJobs& jobs) {
  return {array_script(jobs), results_script(jobs), sbatch_log(jobs)};
}

std::vector<std::string> submit(const SlurmJobs& jobs) {
  check(jobs);
  std::vector<std::string> numbers, after;
  if (!jobs.runs.empty()) {
    write_text(array_script(jobs), script_of(jobs, "An array job: each task makes the missing runs of a shard.",
                                             {"--array=" + array_of(jobs), log_option(jobs, "%a.txt")},
                                             fmt::format(" --shard \"$SLURM_ARRAY_TASK_ID\"/{}", shards_of(jobs))));
    numbers.push_back(submit(array_script(jobs), {}, sbatch_log(jobs)));
    after.push_back("--dependency=afterany:" + numbers.back());
  }
  write_text(results_script(jobs),
             script_of(jobs, "This job makes the runs that are still missing, and writes the results.",
                       {log_option(jobs, "results.txt")}, ""));
  numbers.push_back(submit(results_script(jobs), after, sbatch_log(jobs)));
  return numbers;
}

}  // namespace t3vp
