#include "config/memory_need.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>

#include "io/input_error.h"

namespace t3vp {
namespace {

namespace fs = std::filesystem;

constexpr double KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;
constexpr double program_bytes = 64 * MiB;  // code, configuration, report
constexpr double gpu_bytes = 16 * MiB;      // modules, sockets, transactions in flight
constexpr double tag_bytes = 32;            // of a line, in groups of 16 ways, and of its fills
constexpr double tracker_entry_bytes = 48, tracker_chunk_bytes = 128;
constexpr double queue_entry_bytes = 256;  // in each of two queues of a channel
constexpr double flight_bytes = 256;       // of an access of a workgroup in flight
constexpr double wave_bytes = 512;         // what is known of a kernel's program that may run
constexpr double stack_bytes = 2 * 4096;   // what one that runs touches of its stack
constexpr double check_bytes = 8;          // the reference computes in double precision

double tags(const cache::CacheParameters& p) {
  const double padded_ways = std::ceil(p.ways / 16.0) * 16;
  return tag_bytes * static_cast<double>(p.capacity_bytes) / p.line_bytes * padded_ways / p.ways;
}

TileShape tile_of(const RunConfiguration& c, const HostNeed& need) {
  const compute::ComputeParameters& p = c.system.compute;
  return need.tile.value_or(TileShape{p.tile_rows, p.tile_columns});
}

/// GEMM workgroups of a compute unit: more with smaller tiles.
double resident(const compute::ComputeParameters& p, TileShape tile) {
  const std::uint64_t smaller = std::uint64_t{p.tile_rows} * p.tile_columns / tile.elements();
  return p.workgroups_per_cu * static_cast<double>(std::max<std::uint64_t>(smaller, 1));
}

double workgroups(const RunConfiguration& c, const HostNeed& need) {
  const compute::ComputeParameters& p = c.system.compute;
  const t3_kernel_parameters& kernels = c.system.kernels;
  const double gemm = p.compute_units * resident(p, tile_of(c, need));
  const double running = std::min(gemm, need.most_workgroups.value_or(gemm));
  const double ring = double{1} * p.compute_units * kernels.ring.blocks_in_flight * kernels.ring.workgroups_per_cu;
  const double rows = double{1} * p.compute_units * kernels.rows.workgroups_per_cu;
  const double gathers = need.gather_wavefronts_per_group * p.compute_units * kernels.embedding.workgroups_per_cu;
  return flight_bytes * std::max({p.prefetch_slabs * gemm, ring, rows, kernels.embedding.rows_in_flight * gathers}) +
         wave_bytes * std::max({gemm, ring, rows, gathers}) + stack_bytes * std::max({running, ring, rows, gathers});
}

/// Operands on their way through the compute units, as floats.
double operands_in_flight(const compute::ComputeParameters& p, TileShape tile) {
  const auto sums = static_cast<double>(tile.elements());
  const double slabs = double{1} * (tile.rows + tile.columns) * p.slab_depth * p.prefetch_slabs;
  return sizeof(float) * (sums + slabs) * p.compute_units * resident(p, tile);
}

/// Bytes of a GPU's buffers.
double stored_bytes(const RunConfiguration& c) {
  double bytes = 0;
  for (const Buffer& buffer : c.workload->buffers(c, 0)) bytes += static_cast<double>(buffer.bytes);
  return bytes;
}

double number_in(const fs::path& file) {
  double value = std::numeric_limits<double>::infinity();
  std::ifstream in(file);
  if (double number = 0; in >> number) value = number;  // "max" is no number
  return value;
}

double free_memory() {
  std::ifstream in("/proc/meminfo");
  double bytes = 0;
  std::string name, unit;
  for (double number = 0; in >> name >> number; std::getline(in, unit))
    if (name == "MemAvailable:" || name == "SwapFree:") bytes += number * KiB;
  return bytes > 0 ? bytes : std::numeric_limits<double>::infinity();
}

/// The smallest limit of the control groups that this process is in.
double group_limit() {
  double limit = std::numeric_limits<double>::infinity();
  std::ifstream in("/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const auto second_colon = line.find(':', line.find(':') + 1);
    if (second_colon == std::string::npos) continue;
    const std::string controllers = line.substr(line.find(':') + 1, second_colon - line.find(':') - 1);
    const bool unified = controllers.empty();
    if (!unified && controllers.find("memory") == std::string::npos) continue;
    const fs::path root = unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    for (fs::path group = line.substr(second_colon + 1);; group = group.parent_path()) {
      limit =
          std::min(limit, number_in(root / group.relative_path() / (unified ? "memory.max" : "memory.limit_in_bytes")));
      if (!group.has_relative_path()) break;
    }
  }
  return limit;
}

double address_space_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::numeric_limits<double>::infinity();
  const double used = number_in("/proc/self/statm") * static_cast<double>(sysconf(_SC_PAGESIZE));
  return static_cast<double>(limit.rlim_cur) - used;
}

std::string bytes_in_words(double bytes) {
  return bytes >= GiB ? fmt::format("{:.1f} GiB", bytes / GiB) : fmt::format("{:.0f} MiB", bytes / MiB);
}

}  // namespace

std::vector<MemoryPart> memory_need(const RunConfiguration& c) {
  const double gpus = c.mirror ? 1 : c.gpus;
  const SystemConfiguration& s = c.system;
  const HostNeed need = c.workload->host_need(c);
  std::vector<MemoryPart> parts = {
      {"the program and the GPUs' blocks (gpus)", program_bytes + gpus * gpu_bytes},
      {"the tags of the caches (system.cache)", gpus * tags(s.cache)},
      {"the Trackers (system.tracker)",
       gpus * (tracker_entry_bytes * s.tracker.sets * s.tracker.ways + tracker_chunk_bytes * s.tracker.chunks)},
      {"the DRAM queues (system.memory.dram.queue_depth)", gpus * 2 * queue_entry_bytes * s.memory.channels *
                                                               s.memory.dram.geometry.pseudo_channels *
                                                               s.memory.dram.queue_depth},
      {"the workgroups (system.compute)", gpus * workgroups(c, need)}};
  if (!c.functional) return parts;
  parts.push_back({"operands and outputs with data functional (workload)",
                   gpus * (stored_bytes(c) + operands_in_flight(s.compute, tile_of(c, need)) +
                           static_cast<double>(s.cache.capacity_bytes))});
  parts.push_back({"the check of the results with data functional (workload)", check_bytes * need.checked});
  return parts;
}

double available_memory() { return std::min({free_memory(), group_limit(), address_space_left()}); }

void require_memory(const fs::path& file, const std::vector<MemoryPart>& parts) {
  const double need = std::accumulate(parts.begin(), parts.end(), 0.0,
                                      [](double sum, const MemoryPart& part) { return sum + part.bytes; });
  const double available = available_memory();
  if (need <= available) return;
  const MemoryPart& largest = *std::max_element(
      parts.begin(), parts.end(), [](const MemoryPart& a, const MemoryPart& b) { return a.bytes < b.bytes; });
  throw InputError(file.string(),
                   fmt::format("a need of {} of memory, most of it for {}", bytes_in_words(need), largest.what),
                   fmt::format("at most the {} that are available", bytes_in_words(std::max(available, 0.0))));
}

void require_memory(const fs::path& file, const RunConfiguration& configuration) {
  require_memory(file, memory_need(configuration));
}

}  // namespace t3vp
