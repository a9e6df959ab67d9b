// Speed of DRAM channels on the reference traces: accesses per second of one core's processor time.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dram/channel.h"
#include "dram/memory_file.h"
#include "dram/traces.h"

namespace {

using namespace t3vp::dram;

struct Load {
  std::string memory, map, trace;
  std::size_t channels;
  Cycle slice;  ///< cycles of a channel before the next has its turn
};

/// A channel and its place in the trace; channels start at different places, so that they do not run in step.
struct Driven {
  explicit Driven(const MemorySpec& spec) : channel(spec) {}
  Channel channel;
  std::size_t start = 0, fed = 0, done = 0;

  void run(Cycle until, const std::vector<TraceRecord>& trace) {
    channel.run(
        until,
        [&](Cycle, unsigned, Access& access, Cycle&) {
          if (fed == trace.size()) return Fed::none;
          const TraceRecord& record = trace[(start + fed++) % trace.size()];
          access = {record.address, record.write ? Kind::write : Kind::read, 0, 1};
          return Fed::access;
        },
        [&](std::uint32_t, Kind, Cycle, std::uint32_t) { ++done; });
  }
};

void run_channels(benchmark::State& state, const Load& load) {
  MemorySpec spec = shipped_memory(load.memory);
  spec.address_map = load.map;
  const auto trace = make_trace(load.trace, trace_length / (load.channels == 1 ? 1 : 4));
  for (auto _ : state) {
    std::vector<std::unique_ptr<Driven>> channels;
    for (std::size_t i = 0; i < load.channels; ++i) {
      channels.push_back(std::make_unique<Driven>(spec));
      channels.back()->start = i * 2'017;
    }
    const auto unfinished = [&](const auto& driven) { return driven->done < trace.size(); };
    for (Cycle until = load.slice; std::any_of(channels.begin(), channels.end(), unfinished); until += load.slice)
      for (auto& driven : channels) driven->run(until, trace);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(load.channels * trace.size()));
}

void add(const std::string& memory, const std::string& map, std::size_t channels, Cycle slice) {
  for (const char* trace : {"seq_read", "tile_read", "mix_r2w1_seq", "rand_read"}) {
    const std::string name = memory + '/' + map + '/' + std::to_string(channels) + " channel(s)/" + trace;
    benchmark::RegisterBenchmark(name.c_str(), run_channels, Load{memory, map, trace, channels, slice})
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  add("hbm2-legacy", "accel", 1, 4096);
  add("hbm2-pseudo-channel", "bgint", 1, 4096);
  add("hbm2-legacy", "accel", 32, 64);
  benchmark::RunSpecifiedBenchmarks();
}
