#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/command_line.h"
#include "cli/named_output.h"
#include "config/configuration.h"
#include "config/memory_need.h"
#include "dram/replay.h"
#include "io/console.h"
#include "io/file_lock.h"
#include "io/input_error.h"
#include "io/input_file.h"
#include "report/result_table.h"
#include "report/results_folder.h"

namespace t3vp {
namespace {

namespace fs = std::filesystem;

nlohmann::ordered_json replay_json(const ReplayCommand& command, const dram::MemorySpec& memory,
                                   const dram::ReplayResult& r) {
  return {{"version", T3VP_VERSION},
          {"trace", command.trace.filename().string()},
          {"memory", memory.name},
          {"model", command.model},
          {"outstanding", command.outstanding},
          {"updates", command.updates},
          {"accesses", r.accesses},
          {"reads", r.reads},
          {"time_ns", r.time_ns},
          {"bandwidth_GBps", r.bandwidth_GBps},
          {"pct_peak", r.pct_peak},
          {"read_latency_ns",
           {{"mean", r.read_latency_mean_ns}, {"p50", r.read_latency_p50_ns}, {"p99", r.read_latency_p99_ns}}},
          {"row_hit_rate", r.row_hit_rate},
          {"host", {{"wall_s", r.host_seconds}, {"accesses_per_s", r.host_accesses_per_s}}}};
}

std::string replay_table(const dram::MemorySpec& memory, const dram::ReplayResult& r) {
  return fmt::format("{} accesses, {} of them reads, on {}\n", r.accesses, r.reads, memory.name) +
         fmt::format("  {:<14}{:>10.2f} us\n", "time", r.time_ns / 1000) +
         fmt::format("  {:<14}{:>10.2f} GB/s {:>6.1f}% of peak  {}\n", "bandwidth", r.bandwidth_GBps, r.pct_peak,
                     bar(r.pct_peak / 100)) +
         fmt::format("  {:<14}{:>9.1f}%\n", "row hits", 100 * r.row_hit_rate) +
         fmt::format("  {:<14}{:>10.1f} ns mean, {:.1f} median, {:.1f} 99th percentile\n", "read latency",
                     r.read_latency_mean_ns, r.read_latency_p50_ns, r.read_latency_p99_ns);
}

std::vector<dram::TraceRecord> read_records(const fs::path& file, const dram::Geometry& geometry) {
  constexpr std::uint64_t record_bytes = 16, most_records = 0xFFFFFFFF;
  const std::string fault = input_fault(file, most_records * record_bytes);
  if (!fault.empty()) throw InputError(file.string(), fault, "a trace, records of 16 bytes");
  constexpr double bytes_of_record = 64;  // with what is known of its access
  const double records = static_cast<double>(fs::file_size(file)) / record_bytes;
  require_memory(file, std::vector<MemoryPart>{{"its records", bytes_of_record * records}});
  try {
    return dram::read_trace(file.string(), geometry);
  } catch (const dram::TraceError& error) {
    throw InputError(file.string(), error.found, error.expected);
  }
}

}  // namespace

int replay(const ReplayCommand& command) {
  dram::MemorySpec memory = load_memory(command.memory, command.settings);
  if (command.model == "loosely-timed") memory.model = dram::Model::loosely_timed;
  if (memory.model == dram::Model::loosely_timed && !command.commands.empty())
    throw InputError("--commands", "the model loosely-timed, which has no commands", "the model exact");
  const std::vector<dram::TraceRecord> trace = read_records(command.trace, memory.geometry);
  require_apart({command.commands.empty() ? std::vector<fs::path>{} : std::vector{command.commands}, {command.out}});
  const std::unique_ptr<OutputFile> commands = named_output("--commands", command.commands);
  prepare_folder(command.out);
  const FileLock turn = FileLock::of_folder(command.out);
  remove_results(command.out);
  dram::ReplayOptions options;
  options.outstanding = command.outstanding;
  options.writes_are_updates = command.updates;
  if (commands) options.commands = &commands->stream();
  const dram::ReplayResult result = dram::replay(memory, trace, options);
  if (commands) commands->complete();
  write_text(command.out / "report.json", replay_json(command, memory, result).dump(2) + "\n");
  print(replay_table(memory, result));
  return success;
}

}  // namespace t3vp
