// The way of a packet: from its doorbell to its completion.
#include "compute/kernel_queue.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/compute_cluster.h"
#include "protocol/address_map.h"
#include "registers/signals.h"

namespace t3vp::compute {

KernelQueue::KernelQueue(ComputeCluster& cluster, std::uint8_t number)
    : cluster_(cluster),
      number_(number),
      ring_(cluster.registers, number, cluster.gpu_, cluster.parameters_.memory_bytes),
      results_(cluster.registers, number),
      slots_(cluster.units_),
      checks_(*this, {cluster, cluster.kernels_, cluster.history_, cluster.lent_, cluster.memory}, ring_, number),
      launch_(*this, checks_, {cluster.kernels_, cluster.lent_, cluster.stacks_, cluster.lent_tiles_}, slots_,
              cluster.registers, number) {}

registers::KernelQueue& KernelQueue::registers() const { return cluster_.registers; }

void KernelQueue::rung() {
  const bool is_taken =
      ring_.announce([this](const OutputRange& range) { return cluster_.use_beside(number_, range, true); });
  if (is_taken && order() != nullptr)
    announced_from_.emplace_back(ring_.announced(), order()->point_of(gpu(), OrderObserver::program));
  if (is_taken && !busy_) fetch();
}

/// A packet is behind the program's doorbell that has announced it.
void KernelQueue::begin_order() {
  while (!announced_from_.empty() && announced_from_.front().first <= ring_.completed()) announced_from_.pop_front();
  if (!announced_from_.empty()) point_ = order()->join(point_, announced_from_.front().second);
}

/// Software sees the packet's end by its number.
void KernelQueue::end_order() {
  if (running_) point_ = kernel_->end_waves();
  const std::uint64_t registers = address_map::on_gpu(gpu(), address_map::block_base(address_map::Block::kernel_queue));
  order()->show(
      registers + registers::KernelQueue::completed_offset + number_ * registers::KernelQueue::completed_stride,
      point_);
}

void KernelQueue::acknowledged() {
  results_.acknowledged();
  cluster_.update_interrupt();
}

/// Priority and mask are those that a kernel begins with.
void KernelQueue::check_idle() {
  if (busy_) registers().refuse(Status::busy, fmt::format("queue {} has packets that have not ended", number_));
}

void KernelQueue::fetch() {
  if (!ring_.has_packet()) return;
  busy_ = true;
  if (order() != nullptr) begin_order();
  registers().status[number_].busy.set(1);
  fetch_cause_ = cause_at(now(), Part::launch);
  read(ring_.packet_address(), PacketRing::entry_bytes);
}

void KernelQueue::read(std::uint64_t address, std::uint32_t bytes) {
  Transaction& transaction = pool().make(Operation::load, address, {1, bytes, 0});
  transaction.extension().cached = false;
  transaction.attach_buffer();
  issue(dispatcher, transaction, 0);
}

void KernelQueue::fetched(Transaction& transaction) {
  Cause::current() = fetch_cause_;
  Cause::current().extend(now(), Part::launch);
  if (fetching_arguments_) {
    fetching_arguments_ = false;
    if (failure_ != Status::ok) return refuse({Status::bad_packet, "the arguments cannot be read"});
    return take_arguments(transaction.get_data_ptr());
  }
  launch_.begin(transaction.get_address());
  if (failure_ != Status::ok) return refuse({Status::bad_packet, "the packet cannot be read"});
  take_packet(transaction.get_data_ptr());
}

void KernelQueue::refuse(const Refusal& found) {
  registers().report(found.status, launch_.packet_address(), found.text);
  complete(found.status, true);
}

void KernelQueue::take_packet(const unsigned char* entry) {
  gates_ = cluster_.gates_.take(number_, ring_.completed() + 1);
  if (const Refusal found = launch_.take_packet(entry)) return refuse(found);
  if (launch_.is_wait() && !gates_.empty())
    return refuse({Status::bad_packet, gates_.front().text() + ": a packet that waits has none, a kernel expected"});
  if (launch_.is_wait()) return wait_for_other();
  if (launch_.come_with_packet()) return take_arguments(launch_.arguments_in(entry));
  fetching_arguments_ = true;
  read(launch_.arguments(), launch_.argument_bytes());
}

void KernelQueue::wait_for_other() {
  if (ring_.is_aborted()) return complete(Status::aborted);
  waiting_ = true;
  look_at_others();
}

/// What the other queue is behind, this one is behind as well.
void KernelQueue::look_at_others() {
  const std::uint32_t other = launch_.awaited_queue();
  if (!waiting_ || cluster_.completed(other) < launch_.awaited_packet()) return;
  behind_[other] = std::max(behind_[other], launch_.awaited_packet());
  for (std::uint32_t queue = 0; queue < behind_.size(); ++queue)
    behind_[queue] = std::max(behind_[queue], cluster_.last_awaited(other, queue));
  if (order() != nullptr) point_ = order()->join(point_, cluster_.behind(other));
  complete(Status::ok);
}

void KernelQueue::take_arguments(const unsigned char* bytes) {
  if (ring_.is_aborted()) return complete(Status::aborted);
  if (const Refusal found = launch_.make(bytes, gates_, kernel_)) return refuse(found);
  slots_.begin(kernel_->plan());
  running_ = true;
  registers().status[number_].running.set(1);
  const std::vector<OutputRange>& writes = launch_.ranges().writes;  // none of a kernel that only sends
  tell_output(writes.empty() ? OutputRange{} : writes.front());
  cluster_.events_.push(launch_.time(), {Step::launch, number_, dispatcher, 0, nullptr, generation_},
                        cause_at(launch_.time(), Part::launch));
  begin_gates();
}

/// What is in flight in memory gets no response.
void KernelQueue::reset() {
  ++generation_;
  ring_.reset();
  in_flight_ = unacknowledged_ = 0;
  behind_ = {};
  announced_from_.clear();
  clear_kernel();
}

/// No kernel is in progress any more.
void KernelQueue::clear_kernel() {
  slots_.clear();
  gates_.clear();
  workgroups_.clear();
  busy_ = running_ = launched_ = waiting_ = releasing_ = stopping_ = fetching_arguments_ = false;
  failure_ = Status::ok;
  registers().status[number_].running.set(0);
  tell_output({});
  launch_.clear();
  withdraw(false);
  cluster_.tell_stage();
}

void KernelQueue::abort() {
  if (registers().command[number_].action() != registers::KernelQueue::Command::Action::abort) return;
  ring_.abort();
  if (waiting_) return complete(Status::aborted);
  if (running_ && !stopping_) stop();
}

/// All of the kernel's accesses have been answered.
void KernelQueue::end_kernel() {
  if (releasing_) return;
  if (workgroups_.closed() != 0) return withdraw(true);  // after a failure: gates that are still closed come back
  if (!launch_.releases() || cluster_.cache.size() == 0) return complete(failure_);
  releasing_ = true;
  cluster_.cache->release([this, generation = generation_] {
    if (releasing_ && generation == generation_) complete(failure_);
  });
}

/// The kernel issues nothing more and ends when its accesses have been answered.
void KernelQueue::stop() {
  stopping_ = true;
  withdraw(true);
  if (in_flight_ == 0) end_aborted();
}

void KernelQueue::fail(const std::string& what) {
  registers().report(Status::aborted, output_.begin, what);
  stop();
}

void KernelQueue::withdraw(bool withdraws) {
  withdraws_ = withdraws;
  cluster_.tell_withdrawn();
}

/// Times that the kernel has asked for do not come any more, and its compute units are free.
void KernelQueue::end_aborted() {
  ++generation_;
  unacknowledged_ = 0;
  if (cluster_.runs_nothing_but(*this)) cluster_.units_.free_lanes();
  complete(Status::aborted);
}

void KernelQueue::complete(Status status, bool refused) {
  const KernelRanges& ranges = launch_.ranges();
  if (order() != nullptr) end_order();
  if (running_ && kernel_->plan().stores_here) cluster_.history_.note_written(output_, kernel_->name());
  if (running_)
    cluster_.note_ended({number_, kernel_->name(), ranges.writes, ranges.reads, now(), ring_.completed() + 1});
  clear_kernel();
  registers().status[number_].busy.set(0);
  ring_.complete();
  results_.record(ring_.completed(), status, refused);
  cluster_.update_interrupt();
  send_completion_signal();
  fetch();
  cluster_.look_at_waits();
  cluster_.fill();
}

void KernelQueue::send_completion_signal() {
  const std::uint32_t signal = launch_.completion_signal();
  if (signal == T3_KERNEL_PACKET_COMPLETION_SIGNAL_NONE) return;
  const std::uint64_t signals = address_map::block_base(address_map::Block::signals);
  Transaction& transaction = pool().make(
      Operation::store,
      address_map::on_gpu(gpu(), signals) + registers::Signals::add_offset + std::uint64_t{8} * signal, {1, 8, 0});
  transaction.generation = no_generation;
  transaction.extension().cached = false;
  transaction.extension().order = point_;
  transaction.attach_buffer();
  transaction.get_data_ptr()[0] = 1;
  cluster_.memory.send(transaction, 0);
}

void KernelQueue::tell_output(const OutputRange& range) {
  output_ = range;
  cluster_.tell_output(number_, range);
}

std::string KernelQueue::use_of(const OutputRange& range, bool also_reads) const {
  if (const OutputRange ring = ring_.range(); range.overlaps(ring))
    return fmt::format("queue {} reads its packets from {:#x} to {:#x}", number_, ring.begin, ring.end - 1);
  const KernelRanges& ranges = launch_.ranges();
  for (const auto& [all, does] : {std::pair{&ranges.writes, "writes"}, std::pair{&ranges.reads, "reads"}})
    for (const OutputRange& used : *all)
      if (range.overlaps(used) && (also_reads || all == &ranges.writes))
        return fmt::format("queue {} runs a kernel that {} {:#x} to {:#x}", number_, does, used.begin, used.end - 1);
  return {};
}

bool KernelQueue::may_write(std::uint64_t address) const {
  const std::uint64_t unknown = ring_.announced() - ring_.completed() - (running_ ? 1 : 0);
  return unknown != 0 || (running_ && output_.overlaps(address, 1));
}

std::string KernelQueue::writer_of(std::uint64_t address) const {
  const bool writes = running_ && kernel_->plan().stores_here && output_.overlaps(address, 1);
  return writes ? kernel_->name() : std::string();
}

std::string KernelQueue::contents() const {
  if (registers().entries[number_].value() == 0) return {};
  const auto error = static_cast<Status>(registers().status[number_].error());
  std::string text = fmt::format("queue {}: ring of {} packets at {:#x}, {} announced, {} ended", number_,
                                 registers().entries[number_].value(), registers().base[number_].value(),
                                 ring_.announced(), ring_.completed());
  if (running_) text += fmt::format(", {} runs", kernel_->name());
  if (error != Status::ok)
    text += fmt::format(", packet {} ended with {}", registers().failed_packet[number_].value(), name_of(error));
  return text;
}

std::string KernelQueue::diagnosis() const {
  const std::string kernel = fmt::format("GPU {} compute units: queue {}: kernel {} of {}", gpu(), number_,
                                         ring_.completed() + 1, ring_.announced());
  if (waiting_)
    return fmt::format("{} waits for kernel {} of queue {}", kernel, launch_.awaited_packet(), launch_.awaited_queue());
  if (releasing_) return fmt::format("{} has finished and waits for the write-backs of the cache", kernel);
  if (stopping_) return fmt::format("{} is aborted and waits for the answers to {} accesses", kernel, in_flight_);
  const bool has_no_room = has_work() && slots_.started() == 0;
  const char* const room = has_no_room ? ", there is no room for them beside other kernels" : "";
  const std::uint32_t polling = this->polling();
  return fmt::format("{} is not finished: {} workgroups have started, {} are done{}{}{}{}{}", kernel, slots_.started(),
                     slots_.finished(), text_of_gates(),
                     unacknowledged_ == 0 ? "" : fmt::format(", {} stores are not acknowledged", unacknowledged_), room,
                     polling == 0 ? "" : fmt::format("; {}: {}", kernel_->name(), kernel_->awaited()),
                     polling < 2 ? "" : fmt::format(" (and {} more waves poll)", polling - 1));
}

}  // namespace t3vp::compute
