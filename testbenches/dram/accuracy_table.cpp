// Prints the accuracy tables of docs/validation/dram.md: the channel beside cycle-level simulators on the same traces.
#include <cstdio>
#include <string>
#include <vector>

#include "dram/reference_figures.h"

namespace {

using namespace t3vp::dram;

double percent(double value, double reference) { return 100 * (value / reference - 1); }

void print_legacy() {
  std::printf("| GPGPU-Sim configuration | trace | GB/s | here | | read latency, ns | here | | row hits | here |\n");
  std::printf("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  for (const ReferenceFigures& r : reference_figures()) {
    if (r.simulator != "GPGPU-Sim-dram") continue;
    const ReplayResult result = replay_reference(r.config, r.trace);
    std::printf("| %s | %s | %.3f | %.3f | %+.1f%% | ", r.config.c_str(), r.trace.c_str(), r.bandwidth_GBps,
                result.bandwidth_GBps, percent(result.bandwidth_GBps, r.bandwidth_GBps));
    if (r.latency_mean_ns)
      std::printf("%.1f | %.1f | %+.1f%% | ", *r.latency_mean_ns, result.read_latency_mean_ns,
                  percent(result.read_latency_mean_ns, *r.latency_mean_ns));
    else
      std::printf("| | | ");
    std::printf("%.4f | %.4f |\n", r.row_hit_rate, result.row_hit_rate);
  }
}

const ReferenceFigures& figures_of(const std::vector<ReferenceFigures>& all, const std::string& simulator,
                                   const ReferenceFigures& like) {
  for (const ReferenceFigures& r : all)
    if (r.simulator == simulator && r.config == like.config && r.trace == like.trace) return r;
  return like;
}

void print_pseudo_channels() {
  std::printf(
      "| configuration | trace | GB/s: Ramulator | DRAMSys | here | read latency, ns: Ramulator | DRAMSys | here |\n");
  std::printf("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  const auto all = reference_figures();
  for (const ReferenceFigures& ramulator : all) {
    if (ramulator.simulator != "Ramulator2.1") continue;
    const ReferenceFigures& dramsys = figures_of(all, "DRAMSys5", ramulator);
    const ReplayResult result = replay_reference(ramulator.config, ramulator.trace);
    std::printf("| %s | %s | %.3f | %.3f | %.3f | ", ramulator.config.c_str(), ramulator.trace.c_str(),
                ramulator.bandwidth_GBps, dramsys.bandwidth_GBps, result.bandwidth_GBps);
    if (ramulator.latency_mean_ns)
      std::printf("%.1f | %.1f | %.1f |\n", *ramulator.latency_mean_ns, dramsys.latency_mean_ns.value_or(0),
                  result.read_latency_mean_ns);
    else
      std::printf("| | |\n");
  }
}

}  // namespace

int main() {
  print_legacy();
  std::printf("\n");
  print_pseudo_channels();
}
