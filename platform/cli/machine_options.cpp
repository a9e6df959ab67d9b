#include "cli/machine_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "io/input_error.h"
#include "register_access/names/register_names.h"

namespace t3vp {
namespace {

/// None when it is not I/N with I from 1 to N.
std::optional<Shard> read_shard(const std::string& text) {
  constexpr std::size_t most = 1'000'000;
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::optional<std::uint64_t> number = number_of(text.substr(0, slash));
  const std::optional<std::uint64_t> count = number_of(slash < text.size() ? text.substr(slash + 1) : "");
  if (!number || !count || *number < 1 || *number > *count || *count > most) return {};
  return Shard{*number, *count};
}

CLI::Validator shard_text() {
  const auto read = [](const std::string& given) {
    if (read_shard(given)) return std::string();
    return fmt::format("found {}, expected I/N with I from 1 to N, such as 2/8", given.empty() ? "nothing" : given);
  };
  return {read, ""};
}

}  // namespace

void add_machine_options(CLI::App& experiment, ExperimentCommand& command) {
  experiment
      .add_option("--shard", command.shard,
                  "Make only the runs of shard I of N, and no results; the command without it writes them")
      ->type_name("I/N")
      ->check(shard_text());
  experiment
      .add_flag("--slurm", command.slurm,
                "Submit the missing runs to Slurm, and a job that writes the results; needs --runs; options of sbatch: "
                "--slurm='--partition=x --time=10'")
      ->type_name("[=OPTIONS]");
  experiment.add_flag("--status", command.status,
                      "Print how many runs passed, run, failed or are missing, and make none");
}

void refuse_contradictions(const ExperimentCommand& command) {
  std::vector<std::string> given;
  if (!command.shard.empty()) given.emplace_back("--shard");
  if (!command.slurm.empty()) given.emplace_back("--slurm");
  if (command.status) given.emplace_back("--status");
  if (given.size() > 1)
    throw InputError(given[0], given[1] + " beside it", "only one of --shard, --slurm and --status");
}

Shard shard_of(const std::string& text) { return read_shard(text).value_or(Shard{}); }

}  // namespace t3vp
