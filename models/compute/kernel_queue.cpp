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
#include "t3/kernel_packet.h"

namespace t3vp {
namespace {
constexpr std::uint32_t most_entries = 256, entry_bytes = T3_KERNEL_PACKET_ENTRY_BYTES;
constexpr std::uint32_t argument_alignment = 32, known_flags = T3_KERNEL_PACKET_FLAGS_BARRIER;

std::vector<OutputRange> ranges_of(const t3_range* ranges, std::uint32_t count) {
  std::vector<OutputRange> all;
  for (std::uint32_t i = 0; i < count; ++i) all.push_back({ranges[i].begin, ranges[i].end});
  return all;
}
}  // namespace

void ComputeCluster::check_base() {
  if (registers.base.value() % entry_bytes != 0)
    registers.refuse(Status::unaligned, fmt::format("a multiple of {} expected", entry_bytes));
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
  const std::uint64_t base = registers.base.value(), size = registers.entries.value() * entry_bytes;
  const std::uint64_t begin = address_map::on_gpu(gpu_, 0), end = begin + parameters_.memory_bytes;
  if (base < begin || base >= end || size > end - base)
    registers.refuse(Status::bad_address,
                     fmt::format("a ring in the memory of GPU {}, {:#x} to {:#x}, expected, found {} packets of {} "
                                 "bytes from {:#x} on",
                                 gpu_, begin, end - 1, registers.entries.value(), entry_bytes, base));
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
      pool_.make(Operation::load, registers.base.value() + completed_ % entries * entry_bytes, {1, entry_bytes, 0});
  transaction.extension().cached = false;
  transaction.attach_buffer();
  issue(dispatcher, transaction, 0);
}

void ComputeCluster::fetched(Transaction& transaction) {
  if (fetching_arguments_) {
    fetching_arguments_ = false;
    if (failure_ != Status::ok) return refuse({Status::bad_packet, "the arguments cannot be read"});
    return take_arguments(transaction.get_data_ptr());
  }
  completion_signal_ = T3_KERNEL_PACKET_COMPLETION_SIGNAL_NONE;
  packet_address_ = transaction.get_address();
  if (failure_ != Status::ok) return refuse({Status::bad_packet, "the packet cannot be read"});
  take_packet(transaction.get_data_ptr());
}

void ComputeCluster::refuse(const Refusal& found) {
  registers.report(found.status, packet_address_, found.text);
  complete(found.status);
}

/// The kernel is launched a fixed time after its packet has come, unless its arguments come later.
void ComputeCluster::take_packet(const unsigned char* entry) {
  packet_ = t3_kernel_packet_from(entry);
  if (const std::string wrong = check_header(kernels_.find(packet_.kernel)); !wrong.empty())
    return refuse({Status::bad_packet, wrong});
  completion_signal_ = packet_.completion_signal;
  launch_time_ = now() + parameters_.launch_latency;
  if (come_with_packet()) return take_arguments(entry + (packet_.arguments - packet_address_));
  Transaction& transaction = pool_.make(Operation::load, packet_.arguments, {1, packet_.argument_bytes, 0});
  transaction.extension().cached = false;
  transaction.attach_buffer();
  fetching_arguments_ = true;
  issue(dispatcher, transaction, 0);
}

void ComputeCluster::take_arguments(const unsigned char* bytes) {
  if (completed_ < abort_until_) return complete(Status::aborted);
  const t3_kernel& kernel = *kernels_.find(packet_.kernel);
  KernelRun::Arguments arguments((kernel.arguments.size + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
  {
    KernelTime time(*this);
    kernel.arguments.read(arguments.data(), bytes);
  }
  const t3_device device = device_of(parameters_);
  const std::uint32_t most = packet_.max_compute_units == 0 ? parameters_.compute_units : packet_.max_compute_units;
  const t3_launch launch{arguments.data(), packet_.workgroups, std::min(most, parameters_.compute_units)};
  if (const Refusal found = check_launch(kernel, device, launch); found.status != Status::ok) return refuse(found);
  t3_plan plan{};
  std::string name;  // the text is the kernel's
  {
    KernelTime time(*this);
    plan = kernel.plan(&device, &launch);
    if (plan.name != nullptr) name = plan.name;
  }
  if (const std::string wrong = mistake_of_plan(plan, gpu_, parameters_.memory_bytes); !wrong.empty())
    return refuse({Status::bad_packet, fmt::format("kernel {}: {}", kernel.name, wrong)});
  if (packet_.workgroups != 0 && packet_.workgroups != plan.workgroups)
    return refuse({Status::bad_packet, fmt::format("workgroups {}: the {} of kernel {}'s work, or 0 for all, expected",
                                                   packet_.workgroups, plan.workgroups, kernel.name)});
  plan.workgroups_per_cu = resident_workgroups(plan, device);
  if (const std::string wrong = mistake_of_residency(plan, device, launch.compute_units); !wrong.empty())
    return refuse({Status::bad_packet, fmt::format("kernel {}: {}", kernel.name, wrong)});
  writes_ = ranges_of(plan.written, plan.written_count);
  reads_ = ranges_of(plan.read, plan.read_count);
  for (const Refusal& found : {check_ranges(), check_maps(plan), check_reads()})
    if (found.status != Status::ok) return refuse(found);
  if (!plan.awaits_arrivals)
    if (const Refusal found = check_arrivals(); found.status != Status::ok) return refuse(found);
  RingAgreement agreement = agreement_of(*this, kernel, arguments.data(), plan.workgroups);
  if (!agreement.mistake.empty())
    return refuse({Status::bad_packet, fmt::format("kernel {}: {}", kernel.name, agreement.mistake)});
  units_.resize(launch.compute_units);
  kernel_ = std::make_unique<KernelRun>(*this, stacks_, kernel, std::move(arguments), plan, std::move(name),
                                        std::move(agreement));
  running_ = true;
  next_workgroup_ = finished_workgroups_ = 0;
  tell_output(writes_.front());
  events_.push(std::max(now(), launch_time_), {Step::launch, dispatcher, 0, nullptr, generation_});
}

/// Empty when the packet can be believed, else what was found and what was expected.
std::string ComputeCluster::check_header(const t3_kernel* kernel) const {
  if (kernel == nullptr) return fmt::format("kernel {:#010x}: one of {} expected", packet_.kernel, kernels_.text());
  if ((packet_.flags & ~known_flags) != 0)
    return fmt::format("flags {:#x}: {:#x} mean nothing, 0 expected", packet_.flags, packet_.flags & ~known_flags);
  if (packet_.completion_signal >= registers::Signals::value_count &&
      packet_.completion_signal != T3_KERNEL_PACKET_COMPLETION_SIGNAL_NONE)
    return fmt::format("completion_signal {}: a counter below {}, or {:#x} for none, expected",
                       packet_.completion_signal, registers::Signals::value_count,
                       T3_KERNEL_PACKET_COMPLETION_SIGNAL_NONE);
  if (packet_.argument_bytes != kernel->arguments.bytes)
    return fmt::format("argument_bytes {}: the {} of kernel {} expected", packet_.argument_bytes,
                       kernel->arguments.bytes, kernel->name);
  return check_place_of_arguments();
}

std::string ComputeCluster::check_place_of_arguments() const {
  const std::uint64_t address = packet_.arguments, bytes = packet_.argument_bytes;
  const std::uint64_t begin = address_map::on_gpu(gpu_, 0), end = begin + parameters_.memory_bytes;
  if (address % argument_alignment != 0)
    return fmt::format("arguments {:#x}: a multiple of {} expected", address, argument_alignment);
  if (address < begin || address >= end || bytes > end - address)
    return fmt::format("arguments {:#x} of {} bytes: in the memory of GPU {}, {:#x} to {:#x}, expected", address, bytes,
                       gpu_, begin, end - 1);
  if (ring().overlaps(address, bytes) && !come_with_packet())
    return fmt::format(
        "arguments {:#x} of {} bytes: behind the packet in its entry, {:#x} to {:#x}, or outside of the "
        "ring at {:#x} to {:#x}, expected",
        address, bytes, packet_address_ + T3_KERNEL_PACKET_BYTES, packet_address_ + entry_bytes - 1, ring().begin,
        ring().end - 1);
  return {};
}

/// The arguments lie in the packet's own entry.
bool ComputeCluster::come_with_packet() const {
  const std::uint64_t begin = packet_address_ + T3_KERNEL_PACKET_BYTES, end = packet_address_ + entry_bytes;
  return packet_.arguments >= begin && packet_.arguments + packet_.argument_bytes <= end;
}

/// Whether the kernel can run so on this GPU, in the kernel's own words.
ComputeCluster::Refusal ComputeCluster::check_launch(const t3_kernel& kernel, const t3_device& device,
                                                     const t3_launch& launch) {
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
  bool accepted = false;
  {
    KernelTime time(*this);
    accepted = kernel.check(&check, &launch);
  }
  if (accepted) return {};
  const auto code = static_cast<Status>(check.code);
  const auto* const known = std::find(std::begin(status_values) + 1, std::end(status_values), code);
  if (known != std::end(status_values)) return {code, check.text};
  return {Status::bad_packet, fmt::format("kernel {}: its check refuses with code {}: one of t3_status but T3_OK, as "
                                          "t3_refuse gives it, expected",
                                          kernel.name, check.code)};
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

/// The ring of packets is empty before the first doorbell.
OutputRange ComputeCluster::ring() const {
  return rung_ == 0 ? OutputRange{} : OutputRange{ring_base_, ring_base_ + ring_entries_ * entry_bytes};
}

void ComputeCluster::complete(Status status) {
  note_written();
  clear_kernel();
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
  if (completion_signal_ == T3_KERNEL_PACKET_COMPLETION_SIGNAL_NONE) return;
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
