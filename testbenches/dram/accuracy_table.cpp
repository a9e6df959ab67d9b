// Prints the accuracy table of docs/memory.md: the channel beside cycle-level simulators on the same traces.
#include <cstdio>
#include <map>
#include <string>
#include <utility>

#include "dram/reference_figures.h"

namespace {

using namespace t3vp::dram;

void print_row(const ReferenceFigures& reference, const ReplayResult& result) {
  std::printf("| %s | %s | %s | %.3f | %.3f | %+.1f%% | ", reference.simulator.c_str(), reference.config.c_str(),
              reference.trace.c_str(), reference.bandwidth_GBps, result.bandwidth_GBps,
              100 * (result.bandwidth_GBps / reference.bandwidth_GBps - 1));
  if (reference.latency_mean_ns)
    std::printf("%.1f | %.1f | %+.1f%% | ", *reference.latency_mean_ns, result.read_latency_mean_ns,
                100 * (result.read_latency_mean_ns / *reference.latency_mean_ns - 1));
  else
    std::printf("| | | ");
  std::printf("%.4f | %.4f |\n", reference.row_hit_rate, result.row_hit_rate);
}

}  // namespace

int main() {
  std::map<std::pair<std::string, std::string>, ReplayResult> results;
  std::printf("| simulator | configuration | trace | GB/s | here | | read latency, ns | here | | row hits | here |\n");
  std::printf("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  for (const ReferenceFigures& reference : reference_figures()) {
    const auto key = std::make_pair(reference.config, reference.trace);
    if (results.count(key) == 0) results[key] = replay_reference(reference.config, reference.trace);
    print_row(reference, results[key]);
  }
}
