#include "dram/replay.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <optional>
#include <queue>

#include "dram/channel.h"
#include "dram/command_log.h"

namespace t3vp::dram {
namespace {

constexpr std::size_t record_bytes = 16;
constexpr std::uint64_t write_bit = std::uint64_t{1} << 63;
constexpr Cycle slice = 4096;

std::uint64_t little_endian(const unsigned char* bytes) {
  std::uint64_t value = 0;
  for (int i = 7; i >= 0; --i) value = value << 8 | bytes[i];
  return value;
}

std::uint64_t bytes_of(const Geometry& g) {
  return std::uint64_t{g.pseudo_channels} * g.bank_groups * g.banks_per_group * g.rows * g.row_bytes;
}

void check_records(const std::string& path, const std::vector<TraceRecord>& trace, const Geometry& geometry) {
  const std::uint64_t last_address = bytes_of(geometry) - geometry.access_bytes;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const TraceRecord& record = trace[i];
    const auto reject = [&](const std::string& found, const std::string& expected) {
      throw TraceError(path, found + " in record " + std::to_string(i), expected);
    };
    const auto address = [&] { return "the address " + std::to_string(record.address); };
    if (record.arrival_ns > last_arrival_ns)
      reject("an arrival at " + std::to_string(record.arrival_ns) + " ns",
             "at most " + std::to_string(last_arrival_ns) + " ns");
    if (record.address > last_address)
      reject(address(), "at most " + std::to_string(last_address) + ", the last of the channel");
    if (record.address % geometry.access_bytes != 0)
      reject(address(), "a multiple of " + std::to_string(geometry.access_bytes) + ", geometry.access_bytes");
  }
}

/// In-order injection of a trace into a channel, and what came of it.
class Injector {
 public:
  Injector(const MemorySpec& spec, const std::vector<TraceRecord>& trace, const ReplayOptions& options)
      : trace_(trace),
        options_(options),
        clock_GHz_(spec.clock_GHz),
        reaction_(spec.has_split_queues() ? 0 : 1),
        entry_(trace.size()) {
    timed_ = std::any_of(trace.begin(), trace.end(), [](const TraceRecord& r) { return r.arrival_ns != 0; });
    latencies_.reserve(trace.size());
  }

  bool finished() const { return completed_ == trace_.size(); }
  Cycle end() const { return end_; }
  std::vector<Cycle>& latencies() { return latencies_; }

  Fed feed(Cycle now, Access& access, Cycle& retry) {
    if (next_ == trace_.size()) return Fed::none;
    const TraceRecord& record = trace_[next_];
    const Cycle arrival = timed_ ? arrival_cycle(record) : now;
    if (arrival > now) {
      retry = arrival;
      return Fed::none;
    }
    if (options_.outstanding != 0 && !may_start(now, retry)) return Fed::refused;
    const Kind write = options_.writes_are_updates ? Kind::update : Kind::write;
    const std::uint32_t accesses = length_of_run(now, access.accesses);
    access = {record.address, record.write ? write : Kind::read, static_cast<std::uint32_t>(next_), accesses};
    entry_[next_] = arrival;
    next_ += accesses;
    return Fed::access;
  }

  void done(std::uint32_t tag, Kind kind, Cycle cycle, std::uint32_t accesses) {
    if (kind == Kind::read) latencies_.insert(latencies_.end(), accesses, cycle - entry_[tag]);
    end_ = std::max(end_, cycle);
    completed_ += accesses;
    for (std::uint32_t i = 0; options_.outstanding != 0 && i < accesses; ++i) data_ends_.push(cycle);
  }

 private:
  /// Records from the next one on that are one run: of a kind, at consecutive addresses of one block, and all there.
  std::uint32_t length_of_run(Cycle now, std::uint32_t most) const {
    constexpr std::uint64_t block_bytes = 256, access_bytes = 32;
    if (options_.outstanding != 0)
      most = static_cast<std::uint32_t>(std::min<std::size_t>(most, options_.outstanding - (next_ - seen_)));
    const TraceRecord& first = trace_[next_];
    std::uint32_t length = 1;
    for (; length < most && next_ + length < trace_.size(); ++length) {
      const TraceRecord& record = trace_[next_ + length];
      const bool continues = record.address == first.address + length * access_bytes &&
                             record.address / block_bytes == first.address / block_bytes;
      if (!continues || record.write != first.write || (timed_ && arrival_cycle(record) > now)) break;
    }
    return length;
  }

  Cycle arrival_cycle(const TraceRecord& record) const {
    return static_cast<Cycle>(std::ceil(static_cast<double>(record.arrival_ns) * clock_GHz_));
  }

  /// The initiator sees data in the cycle after their last beat. Its next access enters at the end of that cycle where
  /// accesses enter at the end of a cycle, in split queues, else with the next cycle.
  bool may_start(Cycle now, Cycle& retry) {
    while (!data_ends_.empty() && data_ends_.top() + reaction_ <= now) {
      data_ends_.pop();
      ++seen_;
    }
    if (next_ - seen_ < options_.outstanding) return true;
    if (!data_ends_.empty()) retry = data_ends_.top() + reaction_;
    return false;
  }

  const std::vector<TraceRecord>& trace_;
  const ReplayOptions& options_;
  double clock_GHz_;
  Cycle reaction_;  // to data
  bool timed_ = false;
  std::size_t next_ = 0, completed_ = 0, seen_ = 0;
  std::vector<Cycle> entry_, latencies_;
  std::priority_queue<Cycle, std::vector<Cycle>, std::greater<>> data_ends_;
  Cycle end_ = 0;
};

double percentile(std::vector<Cycle>& values, double part) {
  const auto index = static_cast<std::ptrdiff_t>(static_cast<double>(values.size()) * part);
  const auto at = values.begin() + std::min(index, static_cast<std::ptrdiff_t>(values.size()) - 1);
  std::nth_element(values.begin(), at, values.end());
  return static_cast<double>(*at);
}

void summarize_latencies(std::vector<Cycle>& latencies, double clock_GHz, ReplayResult& result) {
  result.reads = latencies.size();
  if (latencies.empty()) return;
  double sum = 0;
  for (const Cycle latency : latencies) sum += static_cast<double>(latency);
  result.read_latency_mean_ns = sum / static_cast<double>(latencies.size()) / clock_GHz;
  result.read_latency_p50_ns = percentile(latencies, 0.50) / clock_GHz;
  result.read_latency_p99_ns = percentile(latencies, 0.99) / clock_GHz;
}

}  // namespace

TraceError::TraceError(const std::string& path, const std::string& what_was_found, const std::string& what_was_expected)
    : std::runtime_error(path + ": found " + what_was_found + ", expected " + what_was_expected),
      found(what_was_found),
      expected(what_was_expected) {}

std::vector<TraceRecord> read_trace(const std::string& path, const Geometry& geometry) {
  const std::string records = "a trace, records of 16 bytes";
  std::ifstream file(path, std::ios::binary);
  if (!file) throw TraceError(path, "nothing that can be opened", records);
  std::vector<TraceRecord> trace;
  std::array<unsigned char, 4096 * record_bytes> block;
  std::uint64_t size = 0;
  do {
    file.read(reinterpret_cast<char*>(block.data()), block.size());
    const auto bytes = static_cast<std::size_t>(file.gcount());
    size += bytes;
    for (std::size_t at = 0; at + record_bytes <= bytes; at += record_bytes) {
      const std::uint64_t address = little_endian(&block[at + 8]);
      trace.push_back({little_endian(&block[at]), address & ~write_bit, (address & write_bit) != 0});
    }
  } while (file);
  if (file.bad() || !file.eof()) throw TraceError(path, "something that cannot be read", records);
  if (size % record_bytes != 0 || size == 0) throw TraceError(path, std::to_string(size) + " bytes", records);
  check_records(path, trace, geometry);
  return trace;
}

ReplayResult replay(const MemorySpec& spec, const std::vector<TraceRecord>& trace, const ReplayOptions& options) {
  if (trace.size() > std::numeric_limits<std::uint32_t>::max())
    throw std::invalid_argument("a trace has at most 4294967295 records");
  Channel channel(spec);
  std::optional<CommandLog> log;
  if (options.commands != nullptr) channel.listen(&log.emplace(*options.commands));
  Injector injector(spec, trace, options);

  const auto start = std::chrono::steady_clock::now();
  while (!injector.finished())
    channel.run(
        channel.now() + slice,
        [&](Cycle now, unsigned, Access& access, Cycle& retry) { return injector.feed(now, access, retry); },
        [&](std::uint32_t tag, Kind kind, Cycle cycle, std::uint32_t accesses) {
          injector.done(tag, kind, cycle, accesses);
        });
  const std::chrono::duration<double> host = std::chrono::steady_clock::now() - start;

  ReplayResult result;
  result.accesses = trace.size();
  result.time_ns = static_cast<double>(injector.end()) / spec.clock_GHz;
  const double peak_GBps =
      spec.clock_GHz * spec.geometry.pseudo_channels * spec.geometry.access_bytes / spec.timing.BURST;
  if (result.time_ns > 0)
    result.bandwidth_GBps = static_cast<double>(trace.size() * spec.geometry.access_bytes) / result.time_ns;
  result.pct_peak = 100 * result.bandwidth_GBps / peak_GBps;
  summarize_latencies(injector.latencies(), spec.clock_GHz, result);
  result.row_hit_rate = channel.statistics().row_hit_rate();
  result.host_seconds = host.count();
  result.host_accesses_per_s = static_cast<double>(trace.size()) / std::max(host.count(), 1e-9);
  return result;
}

}  // namespace t3vp::dram
