#include "progress/pulse.h"

#include <algorithm>
#include <numeric>

namespace t3vp {
namespace {

std::uint64_t packets_on(const Node& node) {
  std::uint64_t sum = 0;
  for (const auto& link : node.links()) sum += link->begun().packets;
  return sum;
}

GpuPulse pulse_of(const Gpu& gpu) {
  const processor::Processor& processor = gpu.processor;
  const compute::ComputeCluster& cluster = gpu.compute;
  const auto& bytes = gpu.memory.dram_bytes();
  GpuPulse pulse;
  pulse.finished = processor.finished();
  pulse.has_succeeded = processor.finished() && processor.status() == Status::ok;
  pulse.awaits_interrupt = processor.awaits_interrupt();
  pulse.errors = gpu.error_log.reported();
  pulse.repetitions = std::max(processor.poll().reads, processor.service().times);
  pulse.workgroups = cluster.finished_workgroups();
  pulse.activity = std::accumulate(bytes.begin(), bytes.end(), pulse.workgroups + cluster.busy_time());
  pulse.writes = gpu.memory.writes();
  pulse.stretches = cluster.stretches();
  pulse.polls = cluster.polls_in_vain();
  pulse.polling = pulse.polls == 0 ? 0 : cluster.polling();
  return pulse;
}

}  // namespace

Pulse pulse_of(const AllGpus& all) {
  std::uint64_t packets = packets_on(all.node());
  return all.ask([&packets](const Gpu& gpu) {
    GpuPulse pulse = pulse_of(gpu);
    pulse.packets = std::exchange(packets, 0);
    return pulse;
  });
}

std::uint64_t progress_without_programs(const Pulse& pulse) {
  std::uint64_t sum = 0;
  for (const GpuPulse& gpu : pulse) sum += gpu.activity + gpu.packets;
  return sum;
}

}  // namespace t3vp
