// The compute cluster's side of the kernel queue: its registers, packets on their way in, and how they have ended.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compute/compute_cluster.h"
#include "compute/device_mistakes.h"
#include "compute/kernel_run.h"
#include "protocol/address_map.h"
#include "registers/signals.h"
#include "t3/check.h"

namespace t3vp {
namespace {
constexpr std::uint32_t most_entries = 256;

std::vector<OutputRange> ranges_of(const t3_range* ranges, std::uint32_t count) {
  std::vector<OutputRange> all;
  for (std::uint32_t i = 0; i < count; ++i) all.push_back({ranges[i].begin, ranges[i].end});
  return all;
}
}  // namespace

void ComputeCluster::check_base() {
  if (registers.base.value() % packet_bytes != 0)
    registers.refuse(Status::unaligned, fmt::format("a multiple of {} expected", packet_bytes));
  else
    check_ring();
}

void ComputeCluster::check_entries() {
  const std::uint64_t entries = registers.entries.value();
  if (entries == 0 || entries > most_entries || (entries & (entries - 1)) != 0)
    registers.refuse(Status::invalid_argument, fmt::format("a power of two up to {} expected", most_entries));
  else if (registers.base.value() != 0 || rung_ != 0)
    check_ring();
}

/// Entries may be written before base, which is 0 after a reset, in the memory of GPU 0.
void ComputeCluster::check_ring() {
  if (rung_ != 0 && (registers.base.value() != ring_base_ || registers.entries.value() != ring_entries_))
    return registers.refuse(
        Status::busy, fmt::format("packets have been announced: the ring of {} entries at {:#x} stays until a reset",
                                  ring_entries_, ring_base_));
  const std::uint64_t base = registers.base.value(), size = registers.entries.value() * packet_bytes;
  const std::uint64_t begin = address_map::on_gpu(gpu_, 0), end = begin + parameters_.memory_bytes;
  if (base < begin || base >= end || size > end - base)
    registers.refuse(Status::bad_address,
                     fmt::format("a ring in the memory of GPU {}, {:#x} to {:#x}, expected, found {} packets of {} "
                                 "bytes from {:#x} on",
                                 gpu_, begin, end - 1, registers.entries.value(), packet_bytes, base));
}

void ComputeCluster::rung() {
  const std::uint64_t written = registers.doorbell.value(), entries = registers.entries.value();
  if (written <= rung_ || written - completed_ > entries)
    return registers.refuse(Status::invalid_argument,
                            fmt::format("{} to {} expected: {} packets have been announced, {} have ended, the ring "
                                        "has {} entries",
                                        rung_ + 1, completed_ + entries, rung_, completed_, entries));
  rung_ = written;
  ring_base_ = registers.base.value();
  ring_entries_ = registers.entries.value();
  if (!busy_) fetch();
}

void ComputeCluster::update_interrupt() {
  interrupt.write(registers.interrupt.complete() != 0 || registers.interrupt.error() != 0);
}

/// The first failure is told until it has been acknowledged.
void ComputeCluster::acknowledged() {
  if (registers.interrupt.error() == 0) {
    registers.status.error.set(Status::ok);
    registers.failed_packet.set(0);
  }
  update_interrupt();
}

void ComputeCluster::fetch() {
  if (completed_ >= rung_) return;
  busy_ = true;
  registers.status.busy.set(1);
  const std::uint64_t entries = registers.entries.value();
  Transaction& transaction =
      pool_.make(Operation::load, registers.base.value() + completed_ % entries * packet_bytes, {1, packet_bytes, 0});
  transaction.extension().cached = false;
  transaction.attach_buffer();
  issue(dispatcher, transaction, 0);
}

void ComputeCluster::fetched(Transaction& transaction) {
  KernelPacket packet = packet_from(transaction.get_data_ptr());
  const auto refuse = [&](const Refusal& found) {
    registers.report(found.status, transaction.get_address(), found.text);
    complete(found.status);
  };
  completion_signal_ = KernelPacket::no_signal;
  if (failure_ != Status::ok) return refuse({Status::bad_packet, "the packet cannot be read"});
  const t3_kernel* const kernel = kernels_.find(packet.kernel);
  if (const std::string wrong = check_header(packet, kernel); !wrong.empty())
    return refuse({Status::bad_packet, wrong});
  completion_signal_ = packet.completion_signal;
  if (completed_ < abort_until_) return complete(Status::aborted);
  const t3_device device = device_of(parameters_);
  if (const Refusal found = check_arguments(packet, *kernel, device); found.status != Status::ok) return refuse(found);
  const t3_plan plan = kernel->plan(&device, &packet);
  for (const std::string& wrong : {mistake_of_plan(plan), mistake_of_agreements(*kernel, &packet)})
    if (!wrong.empty()) return refuse({Status::bad_packet, fmt::format("kernel {}: {}", kernel->name, wrong)});
  writes_ = ranges_of(plan.written, plan.written_count);
  reads_ = ranges_of(plan.read, plan.read_count);
  for (const Refusal& found : {check_ranges(), check_maps(plan), check_reads()})
    if (found.status != Status::ok) return refuse(found);
  // A ring kernel awaits what has come, and to an update it makes no difference who comes first.
  if (kernel->agree == nullptr && (packet.flags & KernelPacket::update) == 0)
    if (const Refusal found = check_arrivals(); found.status != Status::ok) return refuse(found);
  if (packet.max_compute_units == 0 || packet.max_compute_units > parameters_.compute_units)
    packet.max_compute_units = parameters_.compute_units;
  units_.resize(packet.max_compute_units);
  kernel_ = std::make_unique<KernelRun>(*this, stacks_, *kernel, packet, plan);
  running_ = true;
  next_workgroup_ = finished_workgroups_ = 0;
  tell_output(writes_.front());
  events_.push(now() + parameters_.launch_latency, {Step::launch, dispatcher, 0, nullptr, generation_});
}

/// What every packet begins with. Empty when it can be believed, else what was found and what was expected.
std::string ComputeCluster::check_header(const KernelPacket& packet, const t3_kernel* kernel) const {
  if (kernel == nullptr) return fmt::format("kernel {:#010x}: one of {} expected", packet.kernel, kernels_.text());
  if (packet.completion_signal >= registers::Signals::value_count &&
      packet.completion_signal != KernelPacket::no_signal)
    return fmt::format("completion_signal {}: a counter below {}, or {:#x} for none, expected",
                       packet.completion_signal, registers::Signals::value_count, KernelPacket::no_signal);
  if (packet.arguments != 0)
    return fmt::format("arguments {:#x}: 0 expected, operands are in the packet", packet.arguments);
  return {};
}

/// Whether the kernel can run with these arguments on this GPU, in the kernel's own words.
ComputeCluster::Refusal ComputeCluster::check_arguments(const KernelPacket& packet, const t3_kernel& kernel,
                                                        const t3_device& device) {
  t3_check check{};
  check.device = &device;
  check.gpu = gpu_;
  check.functional = functional_;
  check.memory_bytes = parameters_.memory_bytes;
  check.counters = registers::Signals::value_count;
  check.cluster = this;
  check.reaches = [](void* cluster, std::uint64_t address) {
    return static_cast<ComputeCluster*>(cluster)->memory.reaches(address);
  };
  if (kernel.check(&check, &packet)) return {};
  return {static_cast<Status>(check.code), check.text};
}

/// Nobody else is at what the kernel reads or writes.
ComputeCluster::Refusal ComputeCluster::check_ranges() const {
  for (const auto& [ranges, does] : {std::pair{&writes_, "writes"}, std::pair{&reads_, "reads"}})
    for (const OutputRange& range : *ranges) {
      const std::string kernel = fmt::format("the kernel {} {:#x} to {:#x}", does, range.begin, range.end - 1);
      if (range.overlaps(ring()))
        return {Status::bad_packet,
                fmt::format("{}: its queue's packets are at {:#x} to {:#x}", kernel, ring().begin, ring().end - 1)};
      std::string found;
      for (int i = 0; i < users.size() && found.empty(); ++i) found = users[i]->use_of(range);
      for (int i = 0; i < map_holders.size() && found.empty(); ++i) found = map_holders[i]->kept_in(range);
      if (!found.empty())
        return {Status::busy, fmt::format("{}: {}, and no kernel runs there before that has ended", kernel, found)};
    }
  return {};
}

/// Maps are about wavefront tiles, which a kernel's stores name, or not.
ComputeCluster::Refusal ComputeCluster::check_maps(const t3_plan& plan) const {
  if (plan.tiles_named == T3_TILES_NAMED) return {};
  const char* const how = plan.tiles_named == T3_TILES_FORGOTTEN
                              ? "stores through the cache, which forgets the wavefront tiles"
                              : "names no wavefront tiles";
  for (const OutputRange& range : writes_)
    for (int i = 0; i < map_holders.size(); ++i)
      if (const std::string found = map_holders[i]->in_the_way(range, plan.stores_here); !found.empty())
        return {Status::mismatch,
                fmt::format("the kernel works on {:#x} to {:#x} and {}: {}", range.begin, range.end - 1, how, found)};
  return {};
}

/// What neighbours have stored for a ring kernel is not overwritten before it has run.
ComputeCluster::Refusal ComputeCluster::check_arrivals() const {
  for (const OutputRange& range : writes_)
    for (int i = 0; i < arrivals.size(); ++i)
      if (const std::string found = arrivals[i]->use_of(range); !found.empty())
        return {Status::busy, fmt::format("the kernel writes {:#x} to {:#x}: {}", range.begin, range.end - 1, found)};
  return {};
}

/// What is mapped and read has arrived.
ComputeCluster::Refusal ComputeCluster::check_reads() const {
  for (const OutputRange& range : reads_)
    for (int i = 0; i < map_holders.size(); ++i)
      if (const std::string found = map_holders[i]->in_the_way(range, false); !found.empty())
        return {Status::busy, fmt::format("the kernel reads {:#x} to {:#x}: {}", range.begin, range.end - 1, found)};
  return {};
}

/// Of packets; none before the first doorbell.
OutputRange ComputeCluster::ring() const {
  return rung_ == 0 ? OutputRange{} : OutputRange{ring_base_, ring_base_ + ring_entries_ * packet_bytes};
}

void ComputeCluster::complete(Status status) {
  note_written();
  tell_output({});
  writes_.clear();
  reads_.clear();
  withdraw.write(false);
  kernel_active.write(false);
  first_stage.write(false);
  busy_ = running_ = stopping_ = false;
  failure_ = Status::ok;
  units_.resize(parameters_.compute_units);
  registers.status.busy.set(0);
  ++completed_;
  record(status);
  send_completion_signal();
  fetch();
}

void ComputeCluster::record(Status status) {
  auto completion = registers.completion[completed_ % registers.completion.size()];
  completion.code.set(status);
  completion.packet.set(static_cast<std::uint32_t>(completed_));
  registers.interrupt.complete.set(1);
  if (status != Status::ok && registers.interrupt.error() == 0) {
    registers.interrupt.error.set(1);
    registers.status.error.set(status);
    registers.failed_packet.set(completed_);
  }
  update_interrupt();
}

void ComputeCluster::send_completion_signal() {
  if (completion_signal_ == KernelPacket::no_signal) return;
  const std::uint64_t signals = address_map::block_base(address_map::Block::signals);
  Transaction& transaction = pool_.make(
      Operation::store,
      address_map::on_gpu(gpu_, signals) + registers::Signals::add_offset + std::uint64_t{8} * completion_signal_,
      {1, 8, 0});
  transaction.generation = no_generation;
  transaction.extension().cached = false;
  transaction.attach_buffer();
  transaction.get_data_ptr()[0] = 1;
  memory.send(transaction, 0);
}

}  // namespace t3vp
