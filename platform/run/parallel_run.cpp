#include "run/parallel_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/partition_key.h"
#include "io/input_error.h"
#include "partition/message.h"
#include "run/figures.h"
#include "run/node_parameters.h"

namespace t3vp {
namespace {

std::vector<std::uint32_t> ranks_of_gpus(const RunConfiguration& configuration, std::uint32_t ranks) {
  if (!configuration.partition.empty()) return configuration.partition;
  return blocks_of_gpus(configuration.gpus, ranks);
}

void put(MessageWriter& message, const GpuFigures& gpu) {
  message.put(gpu.dram_bytes);
  message.put(gpu.bytes_in_total);
  message.put(gpu.dram_accesses);
  message.put(gpu.tracker);
  message.put_all(gpu.statistics, [&](const Statistic& statistic) {
    for (const std::string* text : {&statistic.name, &statistic.unit, &statistic.text}) message.put_text(*text);
    message.put(statistic.value);
  });
}

GpuFigures take_gpu(MessageReader& message) {
  GpuFigures gpu;
  gpu.dram_bytes = message.take<DramBytes>();
  gpu.bytes_in_total = message.take<double>();
  gpu.dram_accesses = message.take<std::uint64_t>();
  gpu.tracker = message.take<TrackerFigures>();
  message.take_all([&] {
    Statistic statistic;
    for (std::string* text : {&statistic.name, &statistic.unit, &statistic.text}) *text = message.take_text();
    statistic.value = message.take<double>();
    gpu.statistics.push_back(std::move(statistic));
  });
  return gpu;
}

void put(MessageWriter& message, const LinkFigures& link) {
  for (const std::uint64_t count : {link.payload_bytes, link.wire_bytes, link.packets}) message.put(count);
  for (const double value : {link.bandwidth_GBps, link.utilization, link.queueing_ns, link.credit_stall_ns})
    message.put(value);
  message.put(link.latency_ns.has_value());
  message.put(link.latency_ns.value_or(0));
}

/// The ends stay.
void take(MessageReader& message, LinkFigures& link) {
  for (std::uint64_t* count : {&link.payload_bytes, &link.wire_bytes, &link.packets})
    *count = message.take<std::uint64_t>();
  for (double* value : {&link.bandwidth_GBps, &link.utilization, &link.queueing_ns, &link.credit_stall_ns})
    *value = message.take<double>();
  const bool has_latency = message.take<bool>();
  const auto latency = message.take<double>();
  link.latency_ns = has_latency ? std::make_optional(latency) : std::nullopt;
}

void put(MessageWriter& message, const FunctionalCheck& check) {
  message.put(check.checked);
  message.put(check.elements);
  message.put(check.mismatches);
  message.put(check.max_abs_error);
  message.put(check.first.has_value());
  if (!check.first) return;
  message.put_text(check.first->tensor);
  message.put(check.first->gpu);
  message.put(check.first->row);
  message.put(check.first->column);
  message.put(check.first->found);
  message.put(check.first->expected);
}

FunctionalCheck take_check(MessageReader& message) {
  FunctionalCheck check;
  check.checked = message.take<bool>();
  check.elements = message.take<std::uint64_t>();
  check.mismatches = message.take<std::uint64_t>();
  check.max_abs_error = message.take<double>();
  if (!message.take<bool>()) return check;
  Mismatch& first = check.first.emplace();
  first.tensor = message.take_text();
  first.gpu = message.take<std::uint32_t>();
  first.row = message.take<std::uint64_t>();
  first.column = message.take<std::uint64_t>();
  first.found = message.take<double>();
  first.expected = message.take<double>();
  return check;
}

void add(FunctionalCheck& all, const FunctionalCheck& check) {
  all.checked = all.checked || check.checked;
  all.elements += check.elements;
  all.mismatches += check.mismatches;
  if (check.mismatches != 0) all.note_error(check.max_abs_error);
  if (check.first && (!all.first || check.first->gpu < all.first->gpu)) all.first = check.first;
}

}  // namespace

void require_partitionable(const RunConfiguration& configuration, const std::filesystem::path& file,
                           std::uint32_t ranks) {
  if (ranks > configuration.gpus)
    throw InputError("mpirun", fmt::format("{} processes", ranks),
                     fmt::format("at most {}, a GPU each at least", configuration.gpus));
  if (!configuration.partition.empty() && ranks_of(configuration.partition) != ranks)
    throw InputError(file.string() + ": /partition", fmt::format("{} ranks", ranks_of(configuration.partition)),
                     fmt::format("{}, as mpirun has started", ranks));
  if (configuration.gpus > 1 && configuration.mirror)
    throw InputError(file.string() + ": /simulate", "mirror", "all in a run over several processes");
  const NodeParameters parameters = node_parameters(configuration);
  require_partitionable(parameters, partition_of(ranks_of_gpus(configuration, ranks), parameters.fabric));
}

ParallelRun::ParallelRun(const RunConfiguration& configuration, Node& node, const NodeParameters& parameters,
                         Transport& transport)
    : configuration_(configuration),
      node_(node),
      transport_(transport),
      partition_(partition_of(ranks_of_gpus(configuration, transport.ranks()), parameters.fabric)),
      links_(parameters.fabric.links),
      boundary_(node, parameters, partition_, transport.rank()),
      announcements_(
          node.hosts(),
          static_cast<std::size_t>(std::count(partition_.gpus.begin(), partition_.gpus.end(), transport.rank())),
          parameters.gpus[0].processor.exchange, [this](const PhaseBoundary& boundary) { on_phase_(boundary); }),
      windows_(transport, boundary_, announcements_, lookahead_of(parameters, partition_)) {}

void ParallelRun::gather(const TrafficMeter& meter, RunResult& result) {
  const PhaseTable phases(node_, partition_, transport_);
  NodeFigures figures = figures_of(configuration_, node_, phases, meter);
  MessageWriter mine;
  for (std::size_t gpu = 0; gpu < figures.gpus.size(); ++gpu)
    if (partition_.gpus[gpu] == transport_.rank()) put(mine, figures.gpus[gpu]);
  for (std::size_t link = 0; link < links_.size(); ++link)
    if (partition_.rank_of(links_[link].from) == transport_.rank()) put(mine, figures.links[link]);
  mine.put(windows_.costs());
  const std::vector<Message> messages = transport_.all_gather(mine.take());
  std::vector<MessageReader> readers(messages.begin(), messages.end());
  for (std::size_t gpu = 0; gpu < figures.gpus.size(); ++gpu)
    figures.gpus[gpu] = take_gpu(readers[partition_.gpus[gpu]]);
  for (std::size_t link = 0; link < links_.size(); ++link)
    take(readers[partition_.rank_of(links_[link].from)], figures.links[link]);
  for (MessageReader& reader : readers) {
    const auto costs = reader.take<WindowCosts>();
    result.host.ranks.push_back({costs.computing_s, costs.waiting_s, static_cast<double>(costs.sent_bytes) / 1e6});
  }
  result.host.windows = windows_.count();
  set_figures(configuration_, phases, figures, result);
}

Resending ParallelRun::total(const Resending& mine) {
  MessageWriter message;
  message.put(mine);
  Resending all;
  for (const Message& of_rank : transport_.all_gather(message.take())) {
    const auto resending = MessageReader(of_rank).take<Resending>();
    all.packets += resending.packets;
    all.has_ended = all.has_ended && resending.has_ended;
  }
  return all;
}

std::uint32_t ParallelRun::rank_of_fault(const std::string& name) const {
  const Faults& faults = configuration_.faults;
  if (name == "lose_updates") return partition_.gpus[faults.lose_updates->gpu];
  if (name == "flip_bit") return partition_.gpus[faults.flip_bit->gpu];
  if (name == "wrong_rounding") return partition_.gpus[*faults.wrong_rounding];
  if (name == "drop_packet") return partition_.rank_of(links_[faults.drop_packet->link].from);
  if (name == "drop_packets") return partition_.gpus[faults.drop_packets->gpu];
  if (name == "wrong_element") return partition_.gpus[faults.wrong_element->gpu];
  return 0;
}

void ParallelRun::merge_faults(std::vector<FaultOutcome>& faults) {
  if (faults.empty()) return;
  MessageWriter mine;
  for (const FaultOutcome& fault : faults) {
    mine.put(fault.struck);
    mine.put_text(fault.text);
    mine.put_text(fault.recovery);
  }
  const std::vector<Message> messages = transport_.all_gather(mine.take());
  for (std::uint32_t rank = 0; rank < messages.size(); ++rank) {
    MessageReader reader(messages[rank]);
    for (FaultOutcome& fault : faults) {
      const FaultOutcome found{fault.name, reader.take<bool>(), reader.take_text(), reader.take_text()};
      if (rank == rank_of_fault(fault.name)) fault = found;
    }
  }
}

void ParallelRun::merge_checks(FunctionalCheck& check) {
  MessageWriter mine;
  put(mine, check);
  check = {};
  for (const Message& message : transport_.all_gather(mine.take())) {
    MessageReader reader(message);
    add(check, take_check(reader));
  }
}

}  // namespace t3vp
