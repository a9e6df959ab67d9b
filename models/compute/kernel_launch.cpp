// The kernel that a queue runs: its workgroups on the compute units, their accesses, and its end.
#include <fmt/format.h>

#include <algorithm>

#include "compute/compute_cluster.h"
#include "compute/kernel_queue.h"
#include "protocol/address_map.h"
#include "protocol/response_status.h"
#include "protocol/ring_signal.h"

namespace t3vp::compute {

const ComputeParameters& KernelQueue::parameters() const { return cluster_.parameters_; }
bool KernelQueue::functional() const { return cluster_.functional_; }
std::uint16_t KernelQueue::gpu() const { return cluster_.gpu_; }
std::uint64_t KernelQueue::reset_count() const { return cluster_.resets_; }
TransactionPool& KernelQueue::pool() { return cluster_.pool_; }
void KernelQueue::code_runs(const KernelCode* code) {
  if (code != nullptr) ++cluster_.stretches_;
  if (cluster_.code_told_) cluster_.code_told_(code);
}
void KernelQueue::wrongly_rounded(const std::string& what) {
  if (cluster_.wrongly_rounded_.empty()) cluster_.wrongly_rounded_ = what;
}
void KernelQueue::report(Status status, std::uint64_t address, const std::string& text) {
  registers().report(status, address, text);
}

/// What is under way in memory is answered to nobody.
void KernelQueue::reset() {
  ++generation_;
  announced_.clear();
  in_flight_ = unacknowledged_ = rung_ = completed_ = abort_until_ = 0;
  clear_kernel();
}

/// No kernel is under way any more.
void KernelQueue::clear_kernel() {
  free_slots();
  busy_ = running_ = launched_ = stopping_ = fetching_arguments_ = false;
  failure_ = Status::ok;
  registers().status[number_].running.set(0);
  tell_output({});
  writes_.clear();
  reads_.clear();
  withdraw(false);
  cluster_.tell_stage();
}

void KernelQueue::abort() {
  if (registers().command[number_].action() != registers::KernelQueue::Command::Action::abort) return;
  abort_until_ = rung_;
  if (running_ && !stopping_) stop();
}

/// The kernel issues nothing more and ends when its accesses have been answered.
void KernelQueue::stop() {
  stopping_ = true;
  withdraw(true);
  if (in_flight_ == 0) end_aborted();
}

void KernelQueue::fail(const std::string& what) {
  report(Status::aborted, output_.begin, what);
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

void KernelQueue::issue(Slot slot, Transaction& transaction, Picoseconds delay) {
  ++in_flight_;
  transaction.generation = generation_;
  transaction.extension().producer.gpu = gpu();
  transaction.extension().queue = number_;
  // The slot travels in the upper half of the token, the run's number of the access stays in the lower.
  transaction.extension().token |= std::uint64_t{slot} << 32;
  cluster_.memory.send(transaction, delay);
}

void KernelQueue::schedule(Picoseconds time, Slot slot, std::uint32_t tag) {
  cluster_.events_.push(time, {Step::elapsed, number_, slot, tag, nullptr, generation_});
}

void KernelQueue::schedule_poll(Picoseconds time, Slot slot, std::uint32_t tag) {
  ++cluster_.polls_in_vain_;
  cluster_.polls_.push(time, {Step::poll, number_, slot, tag, nullptr, generation_});
}

Picoseconds KernelQueue::occupy(Slot slot, Picoseconds duration) {
  cluster_.busy_time_ += duration;
  return cluster_.units_.occupy(cu_of(slot), duration);
}

void KernelQueue::step(const Event& event) {
  switch (event.step) {
    case Step::arrived:
      arrived(event);
      break;
    case Step::delivered:
      delivered(event);
      break;
    case Step::taken:
      if (!stopping_) answered(event.slot, *event.transaction);
      break;
    case Step::elapsed:
      if (!stopping_) kernel_->elapsed(event.slot, event.tag);
      break;
    case Step::poll:
      if (!stopping_) kernel_->poll_again(event.slot, event.tag);
      break;
    case Step::launch:
      if (stopping_) break;
      launched_ = true;
      cluster_.tell_stage();
      cluster_.fill();
      break;
  }
}

void KernelQueue::arrived(const Event& event) {
  const DataExtension& extension = event.transaction->extension();
  if (event.slot == dispatcher || extension.operation != Operation::load) return delivered(event);
  Event passed = event;
  passed.step = Step::delivered;
  cluster_.events_.push(cluster_.units_.pass_port(cu_of(event.slot), extension.shape.bytes()), passed);
}

void KernelQueue::delivered(const Event& event) {
  Transaction& transaction = *event.transaction;
  --in_flight_;
  if (stopping_) {
    transaction.release();
    if (in_flight_ == 0) end_aborted();
    return;
  }
  note_failure(transaction);
  if (event.slot == dispatcher)
    fetched(transaction);
  else if (!transaction.extension().taken || is_for_all_memories(transaction))
    answered(event.slot, transaction);
  else if (--unacknowledged_ == 0 && all_finished())
    complete(failure_);
  transaction.release();
}

bool KernelQueue::is_for_all_memories(const Transaction& transaction) {
  const std::uint64_t address = transaction.get_address();
  return address_map::gpu_of(address) == address_map::all_gpus && address_map::is_hbm(address);
}

void KernelQueue::answered(Slot slot, Transaction& transaction) {
  const std::uint64_t token = transaction.extension().token;
  transaction.extension().token = token & 0xFFFFFFFF;
  kernel_->answered(slot, transaction);
  transaction.extension().token = token;
}

/// By the GPU that it addresses: what this GPU's links refuse, which know no such GPU, is in the log.
bool KernelQueue::is_refused_read(const tlm::tlm_generic_payload& transaction) const {
  const DataExtension& extension = *transaction.get_extension<DataExtension>();
  const bool is_by_links = extension.refusal == static_cast<std::uint32_t>(Status::no_peer);
  return is_read(extension.operation) && extension.operation != Operation::wait && extension.refusal != 0 &&
         !is_by_links && address_map::gpu_of(transaction.get_address()) != gpu();
}

/// What a GPU refuses is in its own error log; of what a peer refuses, the kernel's first is in this GPU's too.
void KernelQueue::note_failure(Transaction& transaction) {
  const Status status = status_of_data_access(transaction);
  const DataExtension& extension = transaction.extension();
  if (extension.operation == Operation::wait && extension.ring != nullptr && extension.ring->is_out_of_step)
    withdraw(true);
  if (failure_ != Status::ok || status == Status::ok) return;
  failure_ = status;
  if (extension.operation == Operation::wait && extension.ring != nullptr && !extension.ring->why.empty())
    report(status, transaction.get_address(), extension.ring->why);
  if (extension.taken || is_refused_read(transaction))
    report(status, transaction.get_address(), text_of_refusal(transaction));
}

/// The first of those that the queue's mask has.
void KernelQueue::choose_compute_units(std::uint32_t most) {
  constexpr std::uint32_t words = registers::KernelQueue::cu_mask_count / registers::KernelQueue::base_count;
  per_cu_.assign(parameters().compute_units, {});
  for (std::uint32_t cu = 0; cu < per_cu_.size() && most != 0; ++cu) {
    if (cu / 64 >= words || (registers().cu_mask[words * number_ + cu / 64].value() >> cu % 64 & 1) == 0) continue;
    per_cu_[cu].allowed = true;
    --most;
  }
}

std::uint32_t KernelQueue::allowed_units() const {
  return static_cast<std::uint32_t>(
      std::count_if(per_cu_.begin(), per_cu_.end(), [](const Place& place) { return place.allowed; }));
}

std::uint32_t KernelQueue::priority() const {
  return static_cast<std::uint32_t>(registers().priority[number_].value());
}

bool KernelQueue::has_work() const {
  return launched_ && !stopping_ && failure_ == Status::ok && next_workgroup_ < kernel_->workgroups();
}

bool KernelQueue::fits(std::uint32_t cu) const {
  return per_cu_[cu].allowed && per_cu_[cu].resident < kernel_->workgroups_per_cu() &&
         cluster_.units_.room(cu, kernel_->plan()) != 0;
}

bool KernelQueue::all_fit() const {
  std::uint64_t room = 0;
  for (std::uint32_t cu = 0; cu < per_cu_.size(); ++cu)
    if (per_cu_[cu].allowed) room += std::min(kernel_->workgroups_per_cu(), cluster_.units_.room(cu, kernel_->plan()));
  return room >= kernel_->workgroups();
}

void KernelQueue::start(std::uint32_t cu) {
  Slot slot = cu * kernel_->workgroups_per_cu();
  while (slot_taken_[slot]) ++slot;
  slot_taken_[slot] = true;
  ++per_cu_[cu].resident;
  cluster_.units_.take(cu, kernel_->plan());
  kernel_->start(slot, next_workgroup_++);
}

void KernelQueue::finished(Slot slot) {
  const std::uint32_t cu = cu_of(slot);
  ++cluster_.finished_total_;
  ++finished_workgroups_;
  slot_taken_[slot] = false;
  --per_cu_[cu].resident;
  cluster_.units_.give_back(cu, kernel_->plan());
  cluster_.tell_stage();
  cluster_.fill(cu);
  if (all_finished() && unacknowledged_ == 0) complete(failure_);
}

void KernelQueue::free_slots() {
  for (std::uint32_t cu = 0; running_ && cu < per_cu_.size(); ++cu)
    for (; per_cu_[cu].resident != 0; --per_cu_[cu].resident) cluster_.units_.give_back(cu, kernel_->plan());
}

/// After an error no further workgroups start.
bool KernelQueue::all_finished() const {
  return finished_workgroups_ == (failure_ == Status::ok ? kernel_->workgroups() : next_workgroup_);
}

Trace* KernelQueue::trace(Slot slot, std::uint32_t workgroup, Trace::Track& track) {
  if (const std::uint32_t rows = kernel_->plan().timeline_rows; rows != 0)
    return workgroup < rows ? cluster_.trace_workgroup(number_, workgroup, rows, track) : nullptr;
  if (slot % kernel_->workgroups_per_cu() != 0) return nullptr;
  return cluster_.trace(number_, cu_of(slot), track);
}

void KernelQueue::tell_output(const OutputRange& range) {
  output_ = range;
  cluster_.tell_output(number_, range);
}

std::string KernelQueue::use_of(const OutputRange& range, bool also_reads) const {
  if (range.overlaps(ring()))
    return fmt::format("queue {} reads its packets from {:#x} to {:#x}", number_, ring().begin, ring().end - 1);
  for (const auto& [ranges, does] : {std::pair{&writes_, "writes"}, std::pair{&reads_, "reads"}})
    for (const OutputRange& used : *ranges)
      if (range.overlaps(used) && (also_reads || ranges == &writes_))
        return fmt::format("queue {} runs a kernel that {} {:#x} to {:#x}", number_, does, used.begin, used.end - 1);
  return {};
}

bool KernelQueue::may_write(std::uint64_t address) const {
  const std::uint64_t unknown = rung_ - completed_ - (running_ ? 1 : 0);
  return unknown != 0 || (running_ && output_.overlaps(address, 1));
}

std::string KernelQueue::writer_of(std::uint64_t address) const {
  const bool writes = running_ && kernel_->plan().stores_here && output_.overlaps(address, 1);
  return writes ? kernel_->name() : std::string();
}

std::string KernelQueue::contents() const {
  if (registers().entries[number_].value() == 0) return {};
  const auto error = static_cast<Status>(registers().status[number_].error());
  std::string text =
      fmt::format("queue {}: ring of {} packets at {:#x}, {} announced, {} ended", number_,
                  registers().entries[number_].value(), registers().base[number_].value(), rung_, completed_);
  if (running_) text += fmt::format(", {} runs", kernel_->name());
  if (error != Status::ok)
    text += fmt::format(", packet {} ended with {}", registers().failed_packet[number_].value(), name_of(error));
  return text;
}

std::string KernelQueue::diagnosis() const {
  const std::string kernel =
      fmt::format("GPU {} compute units: queue {}: kernel {} of {}", gpu(), number_, completed_ + 1, rung_);
  if (stopping_) return fmt::format("{} is aborted and waits for the answers to {} accesses", kernel, in_flight_);
  const char* const room = launched_ && next_workgroup_ == 0 ? ", there is no room for them beside other kernels" : "";
  const std::uint32_t polling = this->polling();
  return fmt::format("{} is not finished: {} workgroups have started, {} are done{}{}{}{}", kernel, next_workgroup_,
                     finished_workgroups_,
                     unacknowledged_ == 0 ? "" : fmt::format(", {} stores are not acknowledged", unacknowledged_), room,
                     polling == 0 ? "" : fmt::format("; {}: {}", kernel_->name(), kernel_->awaited()),
                     polling < 2 ? "" : fmt::format(" (and {} more waves poll)", polling - 1));
}

}  // namespace t3vp::compute
