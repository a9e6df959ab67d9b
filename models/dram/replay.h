// A trace of accesses driven through one channel. Plain C++, no SystemC.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <vector>

#include "dram/memory_spec.h"

namespace t3vp::dram {

struct TraceRecord {
  std::uint64_t arrival_ns;
  std::uint64_t address;  ///< local to the channel, in bytes
  bool write;
};

struct TraceError : std::runtime_error {
  TraceError(const std::string& path, const std::string& what_was_found, const std::string& what_was_expected);
  std::string found, expected;
};

/// Arrivals are simulated, refreshes and all, so there is an end to them: about 18 minutes of simulated time.
inline constexpr std::uint64_t last_arrival_ns = std::uint64_t{1} << 40;

/// Little-endian records of 16 bytes: u64 arrival in ns, u64 address with the top bit set for a write.
/// Throws TraceError, naming the file, when it cannot be read, has another size than whole records, no record, or one
/// that arrives after last_arrival_ns or whose address is beyond the channel or no multiple of an access.
std::vector<TraceRecord> read_trace(const std::string& path, const Geometry& geometry);

struct ReplayOptions {
  std::uint32_t outstanding = 0;     ///< accesses between acceptance and data at any time; 0: no limit
  bool writes_are_updates = false;   ///< near-memory op-and-store
  std::ostream* commands = nullptr;  ///< gets the command log as CSV, a command per line
};

struct ReplayResult {
  std::uint64_t accesses = 0, reads = 0;
  double time_ns = 0;         ///< to the end of the last data
  double bandwidth_GBps = 0;  ///< 1 GB = 1e9 B
  double pct_peak = 0;
  /// The time from acceptance into the DRAM queue, or from arrival if the trace has arrivals, to data; 0 without reads.
  double read_latency_mean_ns = 0, read_latency_p50_ns = 0, read_latency_p99_ns = 0;
  double row_hit_rate = 0;  ///< 1 - ACT / (RD + WR)
  double host_seconds = 0, host_accesses_per_s = 0;
};

/// Accesses enter the queue in the order of the trace: each as soon as there is room if all arrivals are 0, else not
/// before its arrival. Throws std::invalid_argument on a specification that no channel can have.
ReplayResult replay(const MemorySpec& spec, const std::vector<TraceRecord>& trace, const ReplayOptions& options = {});

}  // namespace t3vp::dram
