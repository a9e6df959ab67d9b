#include "partition/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "io/input_error.h"

namespace t3vp {
namespace {

bool wire_crosses(const NodeParameters& parameters, const Partition& partition) {
  std::set<std::uint32_t> ranks;
  for (std::size_t gpu = 0; gpu < parameters.gpus.size(); ++gpu)
    if (parameters.gpus[gpu].nic) ranks.insert(partition.gpus[gpu]);
  return ranks.size() > 1;
}

}  // namespace

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

std::vector<bool> nics_elsewhere(const NodeParameters& parameters, const Partition& partition, std::uint32_t rank) {
  std::vector<bool> elsewhere;
  bool has_own = false;
  for (std::size_t gpu = 0; gpu < parameters.gpus.size(); ++gpu) {
    if (!parameters.gpus[gpu].nic) continue;
    has_own = has_own || partition.gpus[gpu] == rank;
    if (partition.gpus[gpu] == rank) continue;
    elsewhere.resize(gpu + 1);
    elsewhere[gpu] = true;
  }
  return has_own ? elsewhere : std::vector<bool>();
}

void require_partitionable(const NodeParameters& parameters, const Partition& partition) {
  const auto refuse = [](const char* key, const std::string& found, const char* expected) {
    throw InputError("a run over several processes", fmt::format("{}: {}", key, found), expected);
  };
  if (parameters.options.checks.races) refuse("check", "races", "other checks");
  for (const GpuParameters& gpu : parameters.gpus) {
    if (gpu.processor.on_core) refuse("firmware", "riscv", "native");
    if (gpu.processor.exchange == 0) refuse("system.host.exchange_ns", "0", "more, since it crosses processes");
  }
  for (const LinkPlacement& link : parameters.fabric.links)
    if (partition.crosses(link) && link.parameters.latency == 0)
      refuse("system.links.link_latency_ns", fmt::format("0 from {} to {}", link.from.text(), link.to.text()),
             "more between processes");
  if (wire_crosses(parameters, partition) && parameters.wire.latency == 0)
    refuse("system.nic.wire_latency_ns", "0", "more between processes");
}

Picoseconds lookahead_of(const NodeParameters& parameters, const Partition& partition) {
  Picoseconds least = parameters.gpus[0].processor.exchange;
  for (const LinkPlacement& link : parameters.fabric.links)
    if (partition.crosses(link)) least = std::min(least, link.parameters.latency);
  if (wire_crosses(parameters, partition)) least = std::min(least, parameters.wire.latency);
  return least;
}

}  // namespace t3vp
