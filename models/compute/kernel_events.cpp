// The kernel that a queue runs: what its workgroups ask of the cluster, and what comes back.
#include <fmt/format.h>

#include "compute/compute_cluster.h"
#include "compute/kernel_queue.h"
#include "protocol/address_map.h"
#include "protocol/response_status.h"
#include "protocol/ring_signal.h"
#include "registers/signals.h"

namespace t3vp::compute {

const ComputeParameters& KernelQueue::parameters() const { return cluster_.parameters_; }
bool KernelQueue::functional() const { return cluster_.functional_; }
std::uint16_t KernelQueue::gpu() const { return cluster_.gpu_; }
std::uint64_t KernelQueue::reset_count() const { return cluster_.resets_; }
TransactionPool& KernelQueue::pool() { return cluster_.pool_; }
OrderObserver* KernelQueue::order() { return cluster_.order_; }
void KernelQueue::code_runs(const KernelCode* code) {
  if (code != nullptr) ++cluster_.stretches_;
  if (cluster_.code_told_) cluster_.code_told_(code);
}
void KernelQueue::wrongly_rounded(const std::string& what) {
  if (cluster_.wrongly_rounded_.empty()) cluster_.wrongly_rounded_ = what;
}

void KernelQueue::issue(Slot slot, Transaction& transaction, Picoseconds delay) {
  ++in_flight_;
  transaction.generation = generation_;
  transaction.extension().producer.gpu = gpu();
  transaction.extension().queue = number_;
  // The slot travels in the upper half of the token, the run's number of the access stays in the lower.
  transaction.extension().token |= std::uint64_t{slot} << 32;
  if (delay == 0) return cluster_.memory.send(transaction, 0);
  // Stores before it pass the port. What serves it sees it when it leaves, so that others have the time until then.
  const Picoseconds time = now() + delay;
  cluster_.events_.push(time, {Step::leaves, number_, slot, 0, &transaction, generation_},
                        cause_at(time, Part::cache_bandwidth));
}

void KernelQueue::schedule(Picoseconds time, Slot slot, std::uint32_t tag) {
  Cause cause = cluster_.units_.cause_of(slots_.cu_of(slot));
  cause.extend(time, Part::sync);
  cluster_.events_.push(time, {Step::elapsed, number_, slot, tag, nullptr, generation_}, cause);
}

void KernelQueue::schedule_poll(Picoseconds time, Slot slot, std::uint32_t tag) {
  ++cluster_.polls_in_vain_;
  cluster_.polls_.push(time, {Step::poll, number_, slot, tag, nullptr, generation_});
}

double KernelQueue::clock_GHz() { return cluster_.clock.size() == 0 ? parameters().clock_GHz : cluster_.clock->GHz(); }

double KernelQueue::begin_work(CoreWork work, double operations) {
  return cluster_.clock.size() == 0 ? parameters().clock_GHz : cluster_.clock->begin(work, operations);
}

Picoseconds KernelQueue::occupy(Slot slot, const Occupation& work) {
  cluster_.busy_time_ += work.duration;
  return cluster_.units_.occupy(slots_.cu_of(slot), work.duration, shares_of(work));
}

/// The last workgroups, fewer than compute units, take a whole round. Their even share of it is what they would take
/// on all compute units.
ComputeUnits::Shares KernelQueue::shares_of(const Occupation& work) const {
  constexpr double scale = 1 << 30;
  const std::uint32_t all = kernel_->workgroups();
  double even = 1;
  if (work.workgroup + parameters().compute_units >= all) {
    const std::uint32_t units = slots_.allowed_units(), rest = all % units;
    if (rest != 0 && work.workgroup >= all - rest) even = static_cast<double>(rest) / units;
  }
  return {{{Part::matrix, static_cast<Picoseconds>(scale * even * (1 - work.clipped))},
           {Part::tile_quantization, static_cast<Picoseconds>(scale * even * work.clipped)},
           {Part::wave_quantization, static_cast<Picoseconds>(scale * (1 - even))}}};
}

void KernelQueue::step(const Event& event) {
  switch (event.step) {
    case Step::leaves:
      cluster_.memory.send(*event.transaction, 0);
      break;
    case Step::arrived:
      arrived(event);
      break;
    case Step::delivered:
      delivered(event);
      break;
    case Step::taken:
      if (!stopping_) answered(*event.transaction);
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
      end_if_finished();
      break;
  }
}

void KernelQueue::arrived(const Event& event) {
  const DataExtension& extension = event.transaction->extension();
  if (event.slot == dispatcher || extension.operation != Operation::load) return delivered(event);
  Event passed = event;
  passed.step = Step::delivered;
  const Picoseconds until = cluster_.units_.pass_port(slots_.cu_of(event.slot), extension.shape.bytes(), clock_GHz());
  cluster_.events_.push(until, passed, cause_at(until, Part::cache_bandwidth));
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
  if (event.slot == dispatcher && transaction.extension().operation == Operation::wait)
    gate_answered(transaction);
  else if (event.slot == dispatcher)
    fetched(transaction);
  else if (!transaction.extension().taken || is_for_all_memories(transaction))
    answered(transaction);
  else if (--unacknowledged_ == 0)
    end_if_finished();
  transaction.release();
}

bool KernelQueue::is_for_all_memories(const Transaction& transaction) {
  const std::uint64_t address = transaction.get_address();
  return address_map::gpu_of(address) == address_map::all_gpus && address_map::is_hbm(address);
}

void KernelQueue::answered(Transaction& transaction) {
  const std::uint64_t token = transaction.extension().token;
  transaction.extension().token = token & 0xFFFFFFFF;
  kernel_->answered(transaction);
  transaction.extension().token = token;
}

/// Returns whether the GPU that the read addresses has refused it. A refusal by this GPU's links, which know no such
/// GPU, is in the log.
bool KernelQueue::is_refused_read(const tlm::tlm_generic_payload& transaction) const {
  const DataExtension& extension = *transaction.get_extension<DataExtension>();
  const bool is_by_links = extension.refusal == static_cast<std::uint32_t>(Status::no_peer);
  return is_read(extension.operation) && extension.operation != Operation::wait && extension.refusal != 0 &&
         !is_by_links && address_map::gpu_of(transaction.get_address()) != gpu();
}

/// A GPU's refusal is in its own error log. The kernel's first refusal by a peer is in this GPU's log too.
void KernelQueue::note_failure(Transaction& transaction) {
  const Status status = status_of_data_access(transaction);
  const DataExtension& extension = transaction.extension();
  if (extension.operation == Operation::wait && extension.ring != nullptr && extension.ring->is_out_of_step)
    withdraw(true);
  if (failure_ != Status::ok || status == Status::ok) return;
  failure_ = status;
  if (extension.operation == Operation::wait && extension.ring != nullptr && !extension.ring->why.empty())
    registers().report(status, transaction.get_address(), extension.ring->why);
  if (extension.taken || is_refused_read(transaction))
    registers().report(status, transaction.get_address(), text_of_refusal(transaction));
}

std::uint32_t KernelQueue::priority() const {
  return static_cast<std::uint32_t>(registers().priority[number_].value());
}

bool KernelQueue::has_work() const {
  return launched_ && !stopping_ && failure_ == Status::ok && workgroups_.has_next();
}

void KernelQueue::start(std::uint32_t cu) {
  const WorkgroupGates::Next next = workgroups_.take_next();
  const Slot slot = slots_.take(cu);
  for (const OrderPoint point : next.points) kernel_->begin_behind(next.workgroup, point);
  kernel_->start(slot, next.workgroup);
}

void KernelQueue::finished(Slot slot) {
  const std::uint32_t cu = slots_.cu_of(slot);
  ++cluster_.finished_total_;
  slots_.give_back(slot);
  cluster_.tell_stage();
  cluster_.fill(cu);
  end_if_finished();
}

void KernelQueue::end_if_finished() {
  if (launched_ && all_finished() && unacknowledged_ == 0) end_kernel();
}

/// Each gate is a wait at the signals, as that of a workgroup.
void KernelQueue::begin_gates() {
  workgroups_.begin(kernel_->workgroups(), std::move(gates_));
  gates_.clear();
  const std::uint64_t signals = address_map::on_gpu(gpu(), address_map::block_base(address_map::Block::signals));
  for (std::size_t i = 0; i < workgroups_.gates().size(); ++i) {
    const Gate& gate = workgroups_.gates()[i];
    Transaction& transaction = pool().make(
        Operation::wait, signals + registers::Signals::value_offset + std::uint64_t{8} * gate.counter, {1, 8, 0});
    transaction.extension().threshold = gate.value;
    transaction.extension().token = i;
    issue(dispatcher, transaction, 0);
  }
}

void KernelQueue::gate_answered(Transaction& transaction) {
  if (!transaction.is_response_ok()) {
    workgroups_.give_up();
  } else {
    workgroups_.open(transaction.extension().token & 0xFFFFFFFF, transaction.extension().order);
    cluster_.fill();
  }
  end_if_finished();
}

std::string KernelQueue::text_of_gates() const {
  if (workgroups_.closed() == 0) return {};
  return fmt::format(", {} of {} gates hold others until their counters have grown", workgroups_.closed(),
                     workgroups_.gates().size());
}

/// After an error no further workgroups start.
bool KernelQueue::all_finished() const {
  return slots_.finished() == (failure_ == Status::ok ? kernel_->workgroups() : slots_.started());
}

Trace* KernelQueue::trace(Slot slot, std::uint32_t workgroup, Trace::Track& track) {
  if (const std::uint32_t rows = kernel_->plan().timeline_rows; rows != 0)
    return workgroup < rows ? cluster_.trace_workgroup(number_, workgroup, rows, track) : nullptr;
  if (slot % kernel_->workgroups_per_cu() != 0) return nullptr;
  return cluster_.trace(number_, slots_.cu_of(slot), track);
}

}  // namespace t3vp::compute
