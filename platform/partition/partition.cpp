#include "partition/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "io/input_error.h"

namespace t3vp {

std::vector<std::uint32_t> blocks_of_gpus(std::uint32_t gpus, std::uint32_t ranks) {
  std::vector<std::uint32_t> rank_of;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    rank_of.insert(rank_of.end(), gpus / ranks + (rank < gpus % ranks ? 1 : 0), rank);
  return rank_of;
}

Partition partition_of(std::vector<std::uint32_t> gpus, const Fabric& fabric) {
  Partition partition{std::move(gpus), {}};
  for (const SwitchPlacement& placement : fabric.switches) {
    const auto first = std::find_if(placement.neighbours.begin(), placement.neighbours.end(),
                                    [&](std::uint32_t element) { return element < partition.gpus.size(); });
    partition.switches.push_back(first == placement.neighbours.end() ? 0 : partition.gpus[*first]);
  }
  return partition;
}

void require_partitionable(const NodeParameters& parameters, const Partition& partition) {
  const auto refuse = [](const char* key, const std::string& found, const char* expected) {
    throw InputError("a run over several processes", fmt::format("{}: {}", key, found), expected);
  };
  if (parameters.options.checks.races) refuse("check", "races", "other checks");
  for (const GpuParameters& gpu : parameters.gpus) {
    if (gpu.processor.on_core) refuse("firmware", "riscv", "native");
    if (gpu.nic) refuse("system.nic", "a NIC", "GPUs that links alone join");
    if (gpu.endpoint) refuse("system.endpoint", "an endpoint engine", "none");
    if (gpu.processor.exchange == 0) refuse("system.host.exchange_ns", "0", "more, since it crosses processes");
  }
  for (const SwitchPlacement& placement : parameters.fabric.switches)
    if (placement.reduces || placement.merging.bytes != 0)
      refuse("system.links.topology", "a switch that adds", "one without reduction and merging");
  for (const LinkPlacement& link : parameters.fabric.links)
    if (partition.crosses(link) && link.parameters.latency == 0)
      refuse("system.links.link_latency_ns", fmt::format("0 from {} to {}", link.from.text(), link.to.text()),
             "more between processes");
}

Picoseconds lookahead_of(const NodeParameters& parameters, const Partition& partition) {
  Picoseconds least = parameters.gpus[0].processor.exchange;
  for (const LinkPlacement& link : parameters.fabric.links)
    if (partition.crosses(link)) least = std::min(least, link.parameters.latency);
  return least;
}

}  // namespace t3vp
