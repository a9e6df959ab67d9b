// The statistics that the controller and its channels report.
#include <numeric>

#include "memory/memory_controller.h"

namespace t3vp::memory {

/// Records the end of the arrows of a tile that a peer has sent.
void MemoryController::trace_arrival(const DataExtension& extension, Picoseconds time) {
  const Producer& producer = extension.producer;
  if (producer.wf_id != no_wavefront)
    trace_->span(track_, name_of(extension.operation), time, time + 1000,
                 flow_of(producer.gpu, producer.wg_id, producer.wf_id));
}

std::uint64_t MemoryController::dram_accesses() const {
  std::uint64_t sum = 0;
  for (const auto& state : channels_) {
    const dram::ChannelStatistics& s = state->channel.statistics();
    sum += s.reads + s.writes + s.updates;
  }
  return sum;
}

MemoryController::Traffic MemoryController::traffic() const {
  const std::uint64_t entered = std::accumulate(dram_bytes_.begin(), dram_bytes_.end(), std::uint64_t{0});
  return {dram_bytes_, entered - dram_accesses() * parameters_.dram.geometry.access_bytes};
}

MemoryController::Traffic MemoryController::traffic_before(Picoseconds time) const {
  return recent_traffic_.before(time, traffic());
}

double MemoryController::occupancy_integral() const {
  double sum = 0;
  for (const auto& state : channels_) sum += static_cast<double>(state->channel.statistics().occupancy_cycles);
  return sum;
}

void MemoryController::visit_statistics(const StatisticVisitor& visit) const {
  dram::ChannelStatistics sum;
  std::uint64_t communication = 0, aged = 0;
  for (const auto& state : channels_) {
    const dram::ChannelStatistics& s = state->channel.statistics();
    sum.reads += s.reads;
    sum.writes += s.writes;
    sum.updates += s.updates;
    sum.activates += s.activates;
    sum.precharges += s.precharges;
    sum.refreshes += s.refreshes;
    communication += state->communication;
    aged += state->aged;
  }
  const auto number = [](std::uint64_t n) { return static_cast<double>(n); };
  const double accesses = number(sum.reads + sum.writes + sum.updates);
  visit("reads", "accesses", "DRAM read column accesses", number(sum.reads));
  visit("writes", "accesses", "DRAM write column accesses", number(sum.writes));
  visit("updates", "accesses", "near-memory update column accesses", number(sum.updates));
  visit("first_updates", "accesses", "updates of what was not valid: writes that need not read",
        number(first_updates_));
  visit("valid_bits", "bytes", "most storage that valid bits of a range have taken", number(most_valid_bits_));
  visit("activates", "commands", "rows opened", number(sum.activates));
  visit("precharges", "commands", "rows closed", number(sum.precharges));
  visit("refreshes", "commands", "refreshes", number(sum.refreshes));
  visit("row_hit_rate", "fraction", "1 - activates / column accesses",
        accesses == 0 ? 0 : 1 - number(sum.activates) / accesses);
  visit("communication", "accesses", "granted to the communication stream", number(communication));
  visit("aged", "accesses", "of those, granted because they had waited for the aging time", number(aged));
  visit("observed_occupancy", "entries", "mean DRAM queue occupancy in the last kernel's first stage", last_observed_);
  visit("resident", "bytes", "host memory that holds HBM content", number(store_.allocated_bytes()));
}

/// Visits each stream, then each channel with its banks.
void MemoryController::visit_details(const StatisticVisitor& visit) const {
  const auto number = [](std::uint64_t n) { return static_cast<double>(n); };
  for (std::size_t stream = 0; stream < latencies_.size(); ++stream) {
    const std::string name = stream == 0 ? "compute." : "communication.";
    const Latency& latency = latencies_[stream];
    const double requests = std::max(1.0, number(latency.requests));
    visit(name + "requests", "requests", "requests of the stream", number(latency.requests));
    visit(name + "latency", "ns", "mean time from a request's arrival to its response",
          to_ns(latency.spent) / requests);
    visit(name + "queueing", "ns", "of that, without the DRAM's own latency", to_ns(latency.queued) / requests);
  }
  for (std::size_t channel = 0; channel < channels_.size(); ++channel)
    visit_channel(visit, "channel" + std::to_string(channel) + ".", channels_[channel]->channel);
}

void MemoryController::visit_channel(const StatisticVisitor& visit, const std::string& name,
                                     const dram::Channel& channel) const {
  const auto number = [](std::uint64_t n) { return static_cast<double>(n); };
  const dram::ChannelStatistics& s = channel.statistics();
  const auto wait = [&](dram::Wait reason) { return to_ns(s.waits[static_cast<std::size_t>(reason)] * cycle_); };
  visit(name + "accesses", "accesses", "column accesses", number(s.column_accesses()));
  visit(name + "bandwidth", "ns", "data bus or bank group busy while accesses waited", wait(dram::Wait::bandwidth));
  visit(name + "turnaround", "ns", "changes between reads and writes", wait(dram::Wait::turnaround));
  visit(name + "row_misses", "ns", "precharge, activation and refresh", wait(dram::Wait::row_miss));
  visit(name + "update", "ns", "longer column access of near-memory updates", wait(dram::Wait::update));
  visit(name + "occupancy", "entries", "mean occupancy of the DRAM queue while the channel has run",
        channel.now() == 0 ? 0 : number(s.occupancy_cycles) / number(channel.now()));
  for (std::size_t bank = 0; bank < channel.banks().size(); ++bank) {
    const std::string of_bank = name + "bank" + std::to_string(bank) + ".";
    visit(of_bank + "conflicts", "conflicts", "rows closed for an access to another row",
          number(channel.banks()[bank].conflicts));
    visit(of_bank + "turnarounds", "turnarounds", "accesses that waited for the change of direction",
          number(channel.banks()[bank].turnarounds));
  }
}

}  // namespace t3vp::memory
