// A queue's registers, its packets on their way in, and how they have ended.
#include "compute/kernel_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "compute/compute_cluster.h"
#include "compute/device_mistakes.h"
#include "protocol/address_map.h"
#include "registers/signals.h"

namespace t3vp::compute {
namespace {
constexpr std::uint32_t most_entries = 256, entry_bytes = T3_KERNEL_PACKET_ENTRY_BYTES;

std::vector<OutputRange> ranges_of(const t3_range* ranges, std::uint32_t count) {
  std::vector<OutputRange> all;
  for (std::uint32_t i = 0; i < count; ++i) all.push_back({ranges[i].begin, ranges[i].end});
  return all;
}

/// What the kernel's functions read before it runs.
class Handed {
 public:
  Handed(const t3_device& device, const t3_launch& launch, std::uint32_t bytes)
      : device_(device), launch_(launch), known_device_(device), known_launch_(launch) {
    const auto* const arguments = static_cast<const unsigned char*>(launch.arguments);
    known_arguments_.assign(arguments, arguments + bytes);
  }
  bool is_changed() const {
    return std::memcmp(&device_, &known_device_, sizeof device_) != 0 ||
           std::memcmp(&launch_, &known_launch_, sizeof launch_) != 0 ||
           std::memcmp(known_launch_.arguments, known_arguments_.data(), known_arguments_.size()) != 0;
  }

 private:
  const t3_device& device_;
  const t3_launch& launch_;
  t3_device known_device_;
  t3_launch known_launch_;
  std::vector<unsigned char> known_arguments_;
};
}  // namespace

registers::KernelQueue& KernelQueue::registers() const { return cluster_.registers; }

void KernelQueue::check_base() {
  if (registers().base[number_].value() % entry_bytes != 0)
    registers().refuse(Status::unaligned, fmt::format("a multiple of {} expected", entry_bytes));
  else
    check_ring();
}

void KernelQueue::check_entries() {
  const std::uint64_t entries = registers().entries[number_].value();
  if (entries == 0 || entries > most_entries || (entries & (entries - 1)) != 0)
    registers().refuse(Status::invalid_argument, fmt::format("a power of two up to {} expected", most_entries));
  else if (registers().base[number_].value() != 0 || rung_ != 0)
    check_ring();
}

/// Entries may be written before base, which is 0 after a reset, in the memory of GPU 0.
void KernelQueue::check_ring() {
  if (rung_ != 0 &&
      (registers().base[number_].value() != ring_base_ || registers().entries[number_].value() != ring_entries_))
    return registers().refuse(
        Status::busy, fmt::format("packets have been announced: the ring of {} entries at {:#x} stays until a reset",
                                  ring_entries_, ring_base_));
  const std::uint64_t base = registers().base[number_].value(),
                      size = registers().entries[number_].value() * entry_bytes;
  const std::uint64_t begin = address_map::on_gpu(gpu(), 0), end = begin + parameters().memory_bytes;
  if (base < begin || base >= end || size > end - base)
    registers().refuse(Status::bad_address,
                       fmt::format("a ring in the memory of GPU {}, {:#x} to {:#x}, expected, found {} packets of {} "
                                   "bytes from {:#x} on",
                                   gpu(), begin, end - 1, registers().entries[number_].value(), entry_bytes, base));
}

void KernelQueue::rung() {
  if (registers().entries[number_].value() == 0)
    return registers().refuse(Status::invalid_argument,
                              "a ring expected before it: entries is 0, base and entries come first");
  const std::uint64_t written = registers().doorbell[number_].value(), entries = registers().entries[number_].value();
  if (written <= rung_ || written - completed_ > entries)
    return registers().refuse(Status::invalid_argument,
                              fmt::format("{} to {} expected: {} packets have been announced, {} have ended, the ring "
                                          "has {} entries",
                                          rung_ + 1, completed_ + entries, rung_, completed_, entries));
  const std::uint64_t base = registers().base[number_].value();
  if (rung_ == 0) {
    const OutputRange ring{base, base + entries * entry_bytes};
    if (const std::string used = cluster_.use_beside(*this, ring, true); !used.empty())
      return registers().refuse(Status::busy, fmt::format("the ring is at {:#x} to {:#x}: {}, and no other queue's is",
                                                          ring.begin, ring.end - 1, used));
  }
  announced_.insert(announced_.end(), written - rung_, now());
  rung_ = written;
  ring_base_ = base;
  ring_entries_ = entries;
  if (!busy_) fetch();
}

/// The first failure is told until it has been acknowledged.
void KernelQueue::acknowledged() {
  if (registers().interrupt[number_].error() == 0) {
    registers().status[number_].error.set(Status::ok);
    registers().failed_packet[number_].set(0);
  }
  cluster_.update_interrupt();
}

/// Priority and mask are those that a kernel begins with.
void KernelQueue::check_idle() {
  if (busy_) registers().refuse(Status::busy, fmt::format("queue {} has packets that have not ended", number_));
}

void KernelQueue::fetch() {
  if (completed_ >= rung_) return;
  busy_ = true;
  registers().status[number_].busy.set(1);
  const std::uint64_t entries = registers().entries[number_].value();
  Transaction& transaction = pool().make(
      Operation::load, registers().base[number_].value() + completed_ % entries * entry_bytes, {1, entry_bytes, 0});
  transaction.extension().cached = false;
  transaction.attach_buffer();
  issue(dispatcher, transaction, 0);
}

void KernelQueue::fetched(Transaction& transaction) {
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

void KernelQueue::refuse(const Refusal& found) {
  report(found.status, packet_address_, found.text);
  complete(found.status, true);
}

/// The kernel is launched a fixed time after its packet has come, unless its arguments come later.
void KernelQueue::take_packet(const unsigned char* entry) {
  packet_ = t3_kernel_packet_from(entry);
  if (const std::string wrong = check_header(cluster_.kernels_.find(packet_.kernel)); !wrong.empty())
    return refuse({Status::bad_packet, wrong});
  completion_signal_ = packet_.completion_signal;
  launch_time_ = now() + parameters().launch_latency;
  if (come_with_packet()) return take_arguments(entry + (packet_.arguments - packet_address_));
  Transaction& transaction = pool().make(Operation::load, packet_.arguments, {1, packet_.argument_bytes, 0});
  transaction.extension().cached = false;
  transaction.attach_buffer();
  fetching_arguments_ = true;
  issue(dispatcher, transaction, 0);
}

void KernelQueue::take_arguments(const unsigned char* bytes) {
  if (completed_ < abort_until_) return complete(Status::aborted);
  left_floats_ = nullptr;
  const t3_kernel& kernel = *cluster_.kernels_.find(packet_.kernel);
  const std::size_t units = (kernel.arguments.size + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t);
  void* const read = cluster_.lent_[0].lend(kernel.arguments.size);
  std::memset(read, 0, kernel.arguments.size);  // with its padding
  {
    KernelTime time(*this, {kernel.name, "its arguments' `read`"});
    kernel.arguments.read(read, bytes);
  }
  if (const char* where = cluster_.lent_[0].written_beside())
    return refuse({Status::bad_packet,
                   fmt::format("kernel {}: its arguments' `read` writes {} a structure of {} bytes: the size of what "
                               "it writes expected",
                               kernel.name, where, kernel.arguments.size)});
  KernelArguments arguments(units);
  std::memcpy(arguments.data(), read, kernel.arguments.size);
  t3_device device = device_of(parameters());  // not const: what is may be taken for unchanged
  choose_compute_units(packet_.max_compute_units == 0 ? parameters().compute_units : packet_.max_compute_units);
  t3_launch launch{arguments.data(), packet_.workgroups, allowed_units()};
  if (launch.compute_units == 0)
    return refuse({Status::bad_packet, fmt::format("cu_mask of queue {}: one of the {} compute units at least expected",
                                                   number_, parameters().compute_units)});
  const Handed handed(device, launch, kernel.arguments.size);
  if (const Refusal found = check_launch(kernel, device, launch); found.status != Status::ok) return refuse(found);
  t3_plan plan{};
  std::string name;  // the text is the kernel's
  {
    KernelTime time(*this, {kernel.name, "its plan"});
    plan = kernel.plan(&device, &launch);
    if (plan.name != nullptr) name = plan.name;
  }
  if (handed.is_changed())
    return refuse({Status::bad_packet,
                   fmt::format("kernel {}: its check or plan has changed its arguments, the struct t3_device or the "
                               "struct t3_launch: the same expected",
                               kernel.name)});
  if (const std::string wrong = validate_plan(plan, gpu(), parameters().memory_bytes); !wrong.empty())
    return refuse({Status::bad_packet, fmt::format("kernel {}: {}", kernel.name, wrong)});
  if (packet_.workgroups != 0 && packet_.workgroups != plan.workgroups)
    return refuse({Status::bad_packet, fmt::format("workgroups {}: the {} of kernel {}'s work, or 0 for all, expected",
                                                   packet_.workgroups, plan.workgroups, kernel.name)});
  plan.workgroups_per_cu = resident_workgroups(plan, device);
  if (const std::string wrong = validate_residency(plan, device, launch.compute_units); !wrong.empty())
    return refuse({Status::bad_packet, fmt::format("kernel {}: {}", kernel.name, wrong)});
  writes_ = ranges_of(plan.written, plan.written_count);
  reads_ = ranges_of(plan.read, plan.read_count);
  for (const Refusal& found : {check_ranges(), check_order(), check_maps(plan), check_reads()})
    if (found.status != Status::ok) return refuse(found);
  if (!plan.awaits_arrivals)
    if (const Refusal found = check_arrivals(); found.status != Status::ok) return refuse(found);
  RingAgreement agreement = agreement_of(*this, kernel, arguments.data(), plan.workgroups, cluster_.lent_);
  if (handed.is_changed()) agreement.mistake = "its agreement has changed its arguments: the same expected";
  if (!agreement.mistake.empty())
    return refuse({Status::bad_packet, fmt::format("kernel {}: {}", kernel.name, agreement.mistake)});
  if (left_floats_ != nullptr)
    return refuse(
        {Status::bad_packet, fmt::format("kernel {}: {} leaves {}", kernel.name, left_floats_, other_floats)});
  kernel_ = std::make_unique<KernelRun>(*this, cluster_.stacks_, cluster_.lent_tiles_, kernel, std::move(arguments),
                                        plan, std::move(name), std::move(agreement));
  slot_taken_.assign(std::size_t{parameters().compute_units} * plan.workgroups_per_cu, false);
  running_ = true;
  registers().status[number_].running.set(1);
  next_workgroup_ = finished_workgroups_ = 0;
  tell_output(writes_.front());
  cluster_.events_.push(std::max(now(), launch_time_), {Step::launch, number_, dispatcher, 0, nullptr, generation_});
}

/// The ring of packets is empty before the first doorbell.
OutputRange KernelQueue::ring() const {
  return rung_ == 0 ? OutputRange{} : OutputRange{ring_base_, ring_base_ + ring_entries_ * entry_bytes};
}

void KernelQueue::complete(Status status, bool refused) {
  if (running_ && kernel_->plan().stores_here) cluster_.note_written(output_, kernel_->name());
  if (running_) cluster_.note_ended({number_, kernel_->name(), writes_, reads_, now()});
  announced_.pop_front();
  clear_kernel();
  registers().status[number_].busy.set(0);
  ++completed_;
  record(status, refused);
  send_completion_signal();
  fetch();
  cluster_.fill();
}

void KernelQueue::record(Status status, bool refused) {
  constexpr std::uint64_t kept = registers::KernelQueue::completion_count / registers::KernelQueue::base_count;
  auto completion = registers().completion[kept * number_ + completed_ % kept];
  completion.code.set(status);
  auto word = registers().refused[(kept * number_ + completed_ % kept) / 32];
  const std::uint32_t bit = std::uint32_t{1} << completed_ % 32;
  word.set(refused ? word.value() | bit : word.value() & ~bit);
  completion.packet.set(static_cast<std::uint32_t>(completed_));
  auto interrupt = registers().interrupt[number_];
  interrupt.complete.set(1);
  if (status != Status::ok) interrupt.failures.set((interrupt.failures() + 1) & 0xFFFFFF);
  if (status != Status::ok && interrupt.error() == 0) {
    interrupt.error.set(1);
    registers().status[number_].error.set(status);
    registers().failed_packet[number_].set(completed_);
  }
  cluster_.update_interrupt();
}

void KernelQueue::send_completion_signal() {
  if (completion_signal_ == T3_KERNEL_PACKET_COMPLETION_SIGNAL_NONE) return;
  const std::uint64_t signals = address_map::block_base(address_map::Block::signals);
  Transaction& transaction = pool().make(
      Operation::store,
      address_map::on_gpu(gpu(), signals) + registers::Signals::add_offset + std::uint64_t{8} * completion_signal_,
      {1, 8, 0});
  transaction.generation = no_generation;
  transaction.extension().cached = false;
  transaction.attach_buffer();
  transaction.get_data_ptr()[0] = 1;
  cluster_.memory.send(transaction, 0);
}

}  // namespace t3vp::compute
