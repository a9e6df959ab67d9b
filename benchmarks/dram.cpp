// Speed of one DRAM channel on the reference traces: accesses per second of one core.
#include <benchmark/benchmark.h>

#include <string>

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
  benchmark::RunSpecifiedBenchmarks();
}
