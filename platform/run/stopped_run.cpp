#include <algorithm>

#include "guests/guest_page.h"
#include "memory/arbitration.h"
#include "run/node_parameters.h"
#include "run/path_track.h"
#include "run/program_of_run.h"
#include "run/run_stops.h"

namespace t3vp {
namespace {

bool is_same(const memory::PolicyChoice& a, const memory::PolicyChoice& b) {
  return a.policy->number == b.policy->number && a.limit == b.limit;
}

bool arbitrate_alike(const RunConfiguration& a, const RunConfiguration& b) {
  const memory::MemoryParameters &x = a.system.memory, &y = b.system.memory;
  return is_same(a.policy, b.policy) && x.mca_bands == y.mca_bands && x.mca_default_limit == y.mca_default_limit &&
         x.aging == y.aging;
}

/// Whether the second has faults of this GPU's memory that the first has not.
bool has_more_faults(const Faults& a, const Faults& b) {
  return (b.lose_updates && !a.lose_updates) || (b.flip_bit && !a.flip_bit) || (b.wrong_rounding && !a.wrong_rounding);
}

}  // namespace

void StoppedRun::record_timeline(const std::filesystem::path& file, TraceWindow window) {
  window.from = std::max(window.from, now());  // the critical path knows sums of what was before
  timeline_.record(std::make_unique<PerfettoTrace>(file, window));
  follow_path();
}

void StoppedRun::change_node(const RunConfiguration& to) {
  const NodeParameters parameters = node_parameters(to);
  const Faults &before = configuration_.faults, &after = to.faults;
  const bool changes_arbitration = !arbitrate_alike(configuration_, to);
  for (std::size_t g = 0; g < node_.gpus().size(); ++g) {
    Gpu& gpu = *node_.gpus()[g];
    const memory::MemoryParameters& memory = parameters.gpus[g].memory;
    if (changes_arbitration) gpu.memory.change_arbitration(memory, configuration_.policy, to.policy);
    if (has_more_faults(before, after)) gpu.memory.inject(memory.faults);
    if (parameters.gpus[g].compute.wrong_rounding) gpu.compute.round_wrongly();
  }
  if (after.drop_packet) node_.links()[after.drop_packet->link]->drop(after.drop_packet->packet);
  if (after.drop_packets && !before.drop_packets) node_.wire()->lose(parameters.wire.loss);
}

void StoppedRun::change(const RunConfiguration& to) {
  change_node(to);
  RunConfiguration& c = configuration_;
  c.arbitration = to.arbitration;
  c.policy = {c.system.memory.policies.numbered(static_cast<std::uint32_t>(to.policy.policy->number)), to.policy.limit};
  c.system.memory.mca_bands = to.system.memory.mca_bands;
  c.system.memory.mca_default_limit = to.system.memory.mca_default_limit;
  c.system.memory.aging = to.system.memory.aging;
  c.faults = to.faults;
  c.limits = to.limits;
  c.resolved = to.resolved;
  c.config_hash = to.config_hash;
  const ProgramRun run = program_of_run(c);
  given_.change(run);
  for (HostServices& services : services_) services.change_run(run);
  GuestPage& page = guest_page();
  page.firmware_s = c.limits.firmware_s;
  page.wall_s = c.limits.wall_s.value_or(0);
}

}  // namespace t3vp
