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
  Model model;
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
          const TraceRecord& record = trace[(start + fed) % trace.size()];
          const std::uint32_t entering = run_at(trace, access.accesses);
          fed += entering;
          access = {record.address, record.write ? Kind::write : Kind::read, 0, entering};
          return Fed::access;
        },
        [&](std::uint32_t, Kind, Cycle, std::uint32_t accesses) { done += accesses; });
  }

  /// The accesses at successive addresses of a block that come next, `most` at most.
  std::uint32_t run_at(const std::vector<TraceRecord>& trace, std::uint32_t most) const {
    const TraceRecord& first = trace[(start + fed) % trace.size()];
    std::uint32_t length = 1;
    for (; length < most && fed + length < trace.size(); ++length) {
      const TraceRecord& next = trace[(start + fed + length) % trace.size()];
      const bool in_block = next.address / BlockDecoder::block_bytes == first.address / BlockDecoder::block_bytes;
      if (next.address != first.address + std::uint64_t{length} * 32 || next.write != first.write || !in_block) break;
    }
    return length;
  }
};

void run_channels(benchmark::State& state, const Load& load) {
  MemorySpec spec = shipped_memory(load.memory);
  spec.address_map = load.map;
  spec.model = load.model;
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
  for (const Model model : {Model::exact, Model::loosely_timed})
    for (const char* trace : {"seq_read", "tile_read", "mix_r2w1_seq", "rand_read"}) {
      const std::string name = memory + '/' + map + '/' + std::to_string(channels) + " channel(s)/" +
                               (model == Model::exact ? "exact/" : "loosely-timed/") + trace;
      benchmark::RegisterBenchmark(name.c_str(), run_channels, Load{memory, map, trace, model, channels, slice})
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
