#include "compute/compute_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compute/kernel_run.h"
#include "protocol/response_status.h"
#include "protocol/ring_signal.h"

namespace t3vp {
namespace {
constexpr std::uint32_t units_per_track = 10;
constexpr std::size_t most_noted = 256;  // outputs of kernels that have ended
}  // namespace

ComputeCluster::ComputeCluster(const sc_core::sc_module_name& name, const ComputeParameters& parameters,
                               const t3_kernel* const* kernels, bool functional, std::uint16_t gpu, Trace* trace)
    : sc_module(name),
      parameters_(parameters),
      functional_(functional),
      gpu_(gpu),
      trace_(trace),
      units_(parameters.compute_units),
      kernels_(kernels) {
  for (std::uint32_t cu = 0; trace_ != nullptr && cu < parameters.compute_units; cu += units_per_track)
    tracks_.push_back(trace_->track(
        fmt::format("GPU {}", gpu),
        fmt::format("CU {} of {} to {}", cu, cu, std::min(cu + units_per_track, parameters.compute_units) - 1)));
  memory.on_taken(&ComputeCluster::taken);
  registers.lock_while("a kernel is fetched or runs", [this] { return busy_; });
  registers.compute_units.set(parameters.compute_units);
  registers.base.on_write([this] { check_base(); });
  registers.entries.on_write([this] { check_entries(); });
  registers.doorbell.on_write([this] { rung(); });
  registers.completed.on_refresh([this] { registers.completed.set(completed_); });
  registers.interrupt.on_write([this] { acknowledged(); });
  registers.command.on_write([this] { abort(); });
  registers.on_reset([this] { reset(); });

  SC_HAS_PROCESS(ComputeCluster);
  SC_METHOD(step);
  sensitive << events_.event();
  dont_initialize();
}

ComputeCluster::~ComputeCluster() = default;

/// What is under way in memory is answered to nobody.
void ComputeCluster::reset() {
  registers.compute_units.set(parameters_.compute_units);
  ++generation_;
  ++resets_;
  in_flight_ = unacknowledged_ = rung_ = completed_ = abort_until_ = 0;
  written_.clear();
  units_.assign(parameters_.compute_units, {});
  clear_kernel();
  update_interrupt();
}

/// No kernel is under way any more.
void ComputeCluster::clear_kernel() {
  busy_ = running_ = stopping_ = fetching_arguments_ = false;
  failure_ = Status::ok;
  tell_output({});
  writes_.clear();
  reads_.clear();
  kernel_active.write(false);
  first_stage.write(false);
  withdraw.write(false);
}

void ComputeCluster::abort() {
  if (registers.command.action() != registers::KernelQueue::Command::Action::abort) return;
  abort_until_ = rung_;
  if (running_ && !stopping_) stop();
}

/// The kernel issues nothing more and ends when its accesses have been answered.
void ComputeCluster::stop() {
  stopping_ = true;
  withdraw.write(true);
  if (in_flight_ == 0) end_aborted();
}

void ComputeCluster::fail(const std::string& what) {
  registers.report(Status::aborted, output_.begin, what);
  stop();
}

/// Times that the kernel has asked for do not come any more, and its compute units are free.
void ComputeCluster::end_aborted() {
  ++generation_;
  unacknowledged_ = 0;
  units_.assign(units_.size(), {});
  complete(Status::aborted);
}

void ComputeCluster::issue(Slot slot, Transaction& transaction, Picoseconds delay) {
  ++in_flight_;
  transaction.generation = generation_;
  transaction.extension().producer.gpu = gpu_;
  // The slot travels in the upper half of the token, the run's number of the access stays in the lower.
  transaction.extension().token |= std::uint64_t{slot} << 32;
  memory.send(transaction, delay);
}

/// A store that is taken needs its workgroup no longer; its response is the kernel's to wait for.
void ComputeCluster::taken(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  const Slot slot = static_cast<Slot>(extension_of(transaction).token >> 32);
  auto& own = static_cast<Transaction&>(transaction);
  if (own.generation == generation_) ++unacknowledged_;
  events_.push(now() + delay, {Step::taken, slot, 0, &own, own.generation});
}

void ComputeCluster::response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  const Slot slot = static_cast<Slot>(extension_of(transaction).token >> 32);
  auto& own = static_cast<Transaction&>(transaction);
  events_.push(now() + delay, {Step::arrived, slot, 0, &own, own.generation});
}

void ComputeCluster::schedule(Picoseconds time, Slot slot, std::uint32_t tag) {
  events_.push(time, {Step::elapsed, slot, tag, nullptr, generation_});
}

Picoseconds ComputeCluster::occupy(Slot slot, Picoseconds duration) {
  Picoseconds& until = unit_of(slot).busy_until;
  until = std::max(until, now()) + duration;
  busy_time_ += duration;
  return until;
}

void ComputeCluster::step() {
  while (events_.ready()) {
    const Event event = events_.pop();
    if (event.generation != generation_) {
      const bool is_response = event.step == Step::arrived || event.step == Step::delivered;
      if (is_response) event.transaction->release();
      continue;
    }
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
      case Step::launch:
        if (!stopping_) launch();
        break;
    }
  }
  events_.arm();
}

/// Loaded data passes the compute unit's port, one load after the other.
void ComputeCluster::arrived(const Event& event) {
  const DataExtension& extension = event.transaction->extension();
  if (event.slot == dispatcher || extension.operation != Operation::load) return delivered(event);
  Picoseconds& port = unit_of(event.slot).port_until;
  port = std::max(port, now()) +
         cycle_time(static_cast<double>(extension.shape.bytes()) / parameters_.port_bytes_per_cycle,
                    parameters_.clock_GHz);
  events_.push(port, {Step::delivered, event.slot, 0, event.transaction, generation_});
}

void ComputeCluster::delivered(const Event& event) {
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
  else if (!transaction.extension().taken)
    answered(event.slot, transaction);
  else if (--unacknowledged_ == 0 && all_finished())
    complete(failure_);
  transaction.release();
}

void ComputeCluster::answered(Slot slot, Transaction& transaction) {
  const std::uint64_t token = transaction.extension().token;
  transaction.extension().token = token & 0xFFFFFFFF;
  kernel_->answered(slot, transaction);
  transaction.extension().token = token;
}

/// What a GPU refuses is in its own error log; of what a peer refuses, the kernel's first is in this GPU's too.
void ComputeCluster::note_failure(Transaction& transaction) {
  const Status status = status_of_data_access(transaction);
  const DataExtension& extension = transaction.extension();
  if (extension.operation == Operation::wait && extension.ring != nullptr && extension.ring->is_out_of_step)
    withdraw.write(true);
  if (failure_ != Status::ok || status == Status::ok) return;
  failure_ = status;
  if (extension.operation == Operation::wait && extension.ring != nullptr && !extension.ring->why.empty())
    registers.report(status, transaction.get_address(), extension.ring->why);
  if (extension.taken) registers.report(status, transaction.get_address(), text_of_refusal(transaction));
}

std::string ComputeCluster::use_of(const OutputRange& range) const {
  if (range.overlaps(ring()))
    return fmt::format("the kernel queue reads its packets from {:#x} to {:#x}", ring().begin, ring().end - 1);
  for (const auto& [ranges, does] : {std::pair{&writes_, "writes"}, std::pair{&reads_, "reads"}})
    for (const OutputRange& used : *ranges)
      if (range.overlaps(used))
        return fmt::format("a kernel runs that {} {:#x} to {:#x}", does, used.begin, used.end - 1);
  return {};
}

void ComputeCluster::tell_output(const OutputRange& range) {
  output_ = range;
  if (running_output.size() != 0) running_output->write(range);
}

void ComputeCluster::note_written() {
  if (!running_ || std::find(written_.begin(), written_.end(), output_) != written_.end()) return;
  if (written_.size() == most_noted) written_.erase(written_.begin());
  written_.push_back(output_);
}

bool ComputeCluster::has_written(std::uint64_t address) const {
  return std::any_of(written_.begin(), written_.end(),
                     [address](const OutputRange& range) { return range.overlaps(address, 1); });
}

bool ComputeCluster::may_write(std::uint64_t address) const {
  const std::uint64_t unknown = rung_ - completed_ - (running_ ? 1 : 0);
  return unknown != 0 || (running_ && output_.overlaps(address, 1));
}

void ComputeCluster::launch() {
  slots_per_cu_ = kernel_->workgroups_per_cu();
  if (kernel_->is_producer()) {
    kernel_active.write(true);
    first_stage.write(true);
  }
  // The first workgroups go to different compute units, then to their further slots.
  for (std::uint32_t layer = 0; layer < slots_per_cu_; ++layer)
    for (Slot cu = 0; cu < units_.size(); ++cu) dispatch(cu * slots_per_cu_ + layer);
}

void ComputeCluster::dispatch(Slot slot) {
  if (running_ && !stopping_ && next_workgroup_ < kernel_->workgroups()) kernel_->start(slot, next_workgroup_++);
}

void ComputeCluster::wrongly_rounded(const std::string& what) {
  if (wrongly_rounded_.empty()) wrongly_rounded_ = what;
}

void ComputeCluster::finished(Slot slot) {
  ++finished_total_;
  ++finished_workgroups_;
  first_stage.write(false);
  if (!all_finished()) {
    if (failure_ == Status::ok) dispatch(slot);
    return;
  }
  kernel_active.write(false);
  if (unacknowledged_ == 0) complete(failure_);
}

/// After an error no further workgroups start.
bool ComputeCluster::all_finished() const {
  return finished_workgroups_ == (failure_ == Status::ok ? kernel_->workgroups() : next_workgroup_);
}

Trace* ComputeCluster::trace(Slot slot, Trace::Track& track) {
  const Slot cu = slot / slots_per_cu_;
  if (trace_ == nullptr || slot % slots_per_cu_ != 0 || cu % units_per_track != 0) return nullptr;
  track = tracks_[cu / units_per_track];
  return trace_;
}

std::vector<std::string> ComputeCluster::diagnosis() const {
  if (!busy_) return {};
  if (stopping_)
    return {fmt::format("GPU {} compute units: kernel {} of {} is aborted and waits for the answers to {} accesses",
                        gpu_, completed_ + 1, rung_, in_flight_)};
  return {
      fmt::format("GPU {} compute units: kernel {} of {} is not finished: {} workgroups have started, {} are done{}",
                  gpu_, completed_ + 1, rung_, next_workgroup_, finished_workgroups_,
                  unacknowledged_ == 0 ? "" : fmt::format(", {} stores are not acknowledged", unacknowledged_))};
}

void ComputeCluster::visit_statistics(const StatisticVisitor& visit) const {
  visit("workgroups", "workgroups", "workgroups finished", static_cast<double>(finished_total_));
  visit("busy", "ns", "computing time, summed over the compute units", to_ns(busy_time_));
}

}  // namespace t3vp
