// Speed of one DRAM channel on the reference traces: accesses per second of one core.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dram/channel.h"
#include "dram/memory_file.h"
#include "dram/replay.h"
#include "dram/traces.h"

namespace {

using namespace t3vp::dram;

void replay_trace(benchmark::State& state, const std::string& memory, const std::string& map,
                  const std::string& trace) {
  MemorySpec spec = shipped_memory(memory);
  spec.address_map = map;
  const auto records = make_trace(trace);
  for (auto _ : state) state.SetIterationTime(replay(spec, records).host_seconds);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(records.size()));
}

/// 32 channels in turn, 64 cycles each, as the memory controller runs them, each at another place of the trace.
void run_stack(benchmark::State& state, const std::string& trace) {
  const auto records = make_trace(trace, 65'536);
  const MemorySpec spec = shipped_memory("hbm2-legacy");
  std::int64_t accesses = 0;
  for (auto _ : state) {
    std::vector<std::unique_ptr<Channel>> channels;
    for (int i = 0; i < 32; ++i) channels.push_back(std::make_unique<Channel>(spec));
    std::vector<std::size_t> next(channels.size());
    for (Cycle until = 64; std::any_of(next.begin(), next.end(), [&](std::size_t n) { return n < records.size(); });
         until += 64)
      for (std::size_t i = 0; i < channels.size(); ++i)
        channels[i]->run(
            until,
            [&](Cycle, unsigned, Access& access, Cycle&) {
              if (next[i] == records.size()) return false;
              access = {records[(next[i] + i * 2'017) % records.size()].address, Kind::read, 0};
              ++next[i];
              return true;
            },
            [&](std::uint32_t, Kind, Cycle) { ++accesses; });
  }
  state.SetItemsProcessed(accesses);
}

void register_all(const std::string& memory, const std::string& map) {
  for (const char* trace :
       {"seq_read", "seq_write", "mix_r2w1_seq", "tile_read", "tile_write", "rand_read", "rand_mix50"})
    benchmark::RegisterBenchmark((memory + '/' + map + '/' + trace).c_str(), replay_trace, memory, map,
                                 std::string(trace))
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  register_all("hbm2-legacy", "accel");
  register_all("hbm2-legacy", "bgint");
  register_all("hbm2-pseudo-channel", "bgint");
  for (const char* trace : {"seq_read", "tile_read", "rand_read"})
    benchmark::RegisterBenchmark((std::string("32 channels/hbm2-legacy/accel/") + trace).c_str(), run_stack,
                                 std::string(trace))
        ->Unit(benchmark::kMillisecond);
  benchmark::RunSpecifiedBenchmarks();
}
