// An experiment as two Slurm jobs: an array that makes the missing runs, and a job that then writes the results.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace t3vp {

/// The environment variable with which a job tells its submission.
constexpr const char* submission_variable = "T3VP_SUBMISSION";

struct SlurmJobs {
  std::string name;
  std::string options;               ///< sbatch options of both jobs, as a line #SBATCH takes them
  std::vector<std::string> command;  ///< writes the results; the array's tasks add --shard
  std::filesystem::path folder;      ///< takes the scripts and logs
  std::vector<std::size_t> runs;     ///< those that are missing, by their numbers in the plan
  std::size_t planned = 0;           ///< runs of the plan
  unsigned at_a_time = 0;            ///< tasks of the array; 0: no limit
  std::string submission;            ///< names both jobs, which count attempts at a run together
};

/// The files that submit() writes.
std::vector<std::filesystem::path> files_of(const SlurmJobs& jobs);

/// Writes the scripts and submits them. Without missing runs there is no array. Returns the jobs' numbers, the last one
/// writing the results. Throws InputError when there is no sbatch, or when it refuses a job.
std::vector<std::string> submit(const SlurmJobs& jobs);

}  // namespace t3vp
