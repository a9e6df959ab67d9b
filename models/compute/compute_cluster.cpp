#include "compute/compute_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compute/cluster_rules.h"
#include "protocol/checked_parameters.h"

namespace t3vp::compute {
namespace {
constexpr std::uint32_t units_per_track = 10;
}  // namespace

ComputeCluster::ComputeCluster(const sc_core::sc_module_name& name, const ComputeParameters& parameters,
                               const t3_kernel* const* kernels, bool functional, std::uint16_t gpu, Trace* trace)
    : sc_module(checked(name, parameters)),
      parameters_(parameters),
      functional_(functional),
      gpu_(gpu),
      trace_(trace),
      units_(parameters),
      kernels_(kernels) {
  for (std::uint32_t number = 0; number < queue_count; ++number)
    queues_[number] = std::make_unique<KernelQueue>(*this, static_cast<std::uint8_t>(number));
  if (trace_ != nullptr) make_tracks(0);
  memory.on_taken(&ComputeCluster::taken);
  registers.compute_units.set(parameters.compute_units);
  registers.base.on_write([this](std::size_t queue) { queues_[queue]->check_base(); });
  registers.entries.on_write([this](std::size_t queue) { queues_[queue]->check_entries(); });
  registers.priority.on_write([this](std::size_t queue) { queues_[queue]->check_idle(); });
  registers.cu_mask.on_write([this](std::size_t word) {
    queues_[word / (registers::KernelQueue::cu_mask_count / queue_count)]->check_idle();
  });
  registers.doorbell.on_write([this](std::size_t queue) { queues_[queue]->rung(); });
  registers.completed.on_refresh(
      [this](std::size_t queue) { registers.completed[queue].set(queues_[queue]->completed()); });
  registers.interrupt.on_write([this](std::size_t queue) { queues_[queue]->acknowledged(); });
  registers.command.on_write([this](std::size_t queue) { queues_[queue]->abort(); });
  registers.gate_command.on_write([this] { command_gates(); });
  registers.gate_capacity.set(GateTable::capacity);
  registers.on_reset([this] { reset(); });
}

ComputeCluster::~ComputeCluster() = default;

void ComputeCluster::reset() {
  registers.compute_units.set(parameters_.compute_units);
  ++resets_;
  for (const auto& queue : queues_) queue->reset();
  gates_.reset();
  history_.clear();
  units_.free_lanes();
  if (clock.size() != 0) clock->reset();
  update_interrupt();
}

/// A store that is taken needs its workgroup no longer; its response is the kernel's to wait for. Of one to all GPUs
/// the workgroup waits for the response: it comes back to this GPU, on another way than what the workgroup does here
/// next.
void ComputeCluster::taken(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  auto& own = static_cast<Transaction&>(transaction);
  if (KernelQueue::is_for_all_memories(own)) return;
  KernelQueue& queue = *queues_[own.extension().queue];
  if (own.generation == queue.generation()) queue.store_taken();
  push(KernelQueue::Step::taken, own, delay);
}

void ComputeCluster::response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  push(KernelQueue::Step::arrived, static_cast<Transaction&>(transaction), delay);
}

void ComputeCluster::push(KernelQueue::Step step, Transaction& transaction, Picoseconds delay) {
  const DataExtension& extension = transaction.extension();
  const Slot slot = static_cast<Slot>(extension.token >> 32);
  events_.push(now() + delay, {step, extension.queue, slot, 0, &transaction, transaction.generation});
}

void ComputeCluster::step() {
  while (events_.ready()) {
    const KernelQueue::Event event = events_.pop();
    KernelQueue& queue = *queues_[event.queue];
    if (event.generation == queue.generation())
      queue.step(event);
    else if (event.step <= KernelQueue::Step::delivered)
      event.transaction->release();
  }
  events_.arm();
}

void ComputeCluster::poll() {
  if (polls_are_held_) return;
  while (polls_.ready()) {
    const KernelQueue::Event event = polls_.pop();
    KernelQueue& queue = *queues_[event.queue];
    if (event.generation == queue.generation()) queue.step(event);
  }
  polls_.arm();
}

void ComputeCluster::hold_polls(bool held) {
  if (polls_are_held_ == held) return;
  polls_are_held_ = held;
  if (held) return;
  struct Missed {
    Picoseconds time;
    KernelQueue::Event event;
    Cause cause;
  };
  std::vector<Missed> missed;
  while (polls_.ready()) {
    const Picoseconds time = polls_.next_time(), rounds = (now() - time + parameters_.poll - 1) / parameters_.poll;
    const KernelQueue::Event event = polls_.pop();
    missed.push_back({time + rounds * parameters_.poll, event, Cause::current()});
  }
  for (Missed& poll : missed) polls_.push(poll.time, poll.event, std::move(poll.cause));
  polls_.arm();
}

std::uint32_t ComputeCluster::polling() const {
  std::uint32_t waves = 0;
  for (const auto& queue : queues_) waves += queue->polling();
  return waves;
}

/// Whoever has room on a compute unit that has become free, as long as there is any.
void ComputeCluster::fill(std::uint32_t cu) {
  start_together();
  while (KernelQueue* queue = next_for(cu)) queue->start(cu);
}

/// The first workgroups go to different compute units, then to their further places.
void ComputeCluster::fill() {
  start_together();
  for (bool started = true; started;) {
    started = false;
    for (std::uint32_t cu = 0; cu < units_.count(); ++cu)
      if (KernelQueue* queue = next_for(cu)) {
        queue->start(cu);
        started = true;
      }
  }
}

/// Workgroups that wait for each other start when all of them fit.
void ComputeCluster::start_together() {
  for (const auto& queue : queues_) {
    if (!queue->waits_for_all() || !queue->all_fit()) continue;
    for (bool started = true; started && queue->has_work();) {
      started = false;
      for (std::uint32_t cu = 0; cu < units_.count() && queue->has_work(); ++cu)
        if (queue->fits(cu)) {
          queue->start(cu);
          started = true;
        }
    }
  }
}

/// A kernel whose workgroups wait for each other gets its room in the end when its queue has the higher priority.
bool ComputeCluster::is_kept_for_others(const KernelQueue& queue, std::uint32_t cu) const {
  return std::any_of(queues_.begin(), queues_.end(), [&](const auto& other) {
    return other->waits_for_all() && other->may_use(cu) && other->priority() > queue.priority();
  });
}

/// The queue whose workgroup starts there next; null when none fits.
KernelQueue* ComputeCluster::next_for(std::uint32_t cu) {
  KernelQueue* best = nullptr;
  std::uint32_t number = 0;
  for (std::uint32_t i = 1; i <= queue_count; ++i) {
    const std::uint32_t candidate = (last_served_ + i) % queue_count;
    KernelQueue& queue = *queues_[candidate];
    if (!queue.has_work() || queue.waits_for_all() || !queue.fits(cu) || is_kept_for_others(queue, cu)) continue;
    if (best != nullptr && best->priority() >= queue.priority()) continue;
    best = &queue;
    number = candidate;
  }
  if (best != nullptr) last_served_ = number;
  return best;
}

bool ComputeCluster::runs_nothing_but(const KernelQueue& queue) const {
  return std::none_of(queues_.begin(), queues_.end(),
                      [&](const auto& other) { return other.get() != &queue && other->running(); });
}

/// A packet that has ended may be what packets of other queues wait for.
void ComputeCluster::look_at_waits() {
  for (const auto& queue : queues_) queue->look_at_others();
}

/// A queue that does not exist has announced nothing.
void ComputeCluster::command_gates() {
  const std::uint64_t queue = registers.gate_queue.value();
  gates_.command(queue < queue_count ? announced(static_cast<std::uint32_t>(queue)) : 0);
}

/// The producer's first stage is what the memory controller observes, whatever runs beside it.
void ComputeCluster::tell_stage() {
  const auto any = [this](bool (KernelQueue::*is)() const) {
    return std::any_of(queues_.begin(), queues_.end(), [is](const auto& queue) { return (*queue.*is)(); });
  };
  kernel_active.write(any(&KernelQueue::produces));
  first_stage.write(any(&KernelQueue::in_first_stage));
}

void ComputeCluster::tell_withdrawn() {
  std::uint32_t bits = 0;
  for (std::uint32_t number = 0; number < queue_count; ++number)
    bits |= (queues_[number]->withdraws() ? 1u : 0u) << number;
  withdraw.write(bits);
}

void ComputeCluster::tell_output(std::uint32_t queue, const OutputRange& range) {
  const auto index = static_cast<int>(queue);
  if (index < running_output.size()) running_output[index]->write(range);
}

void ComputeCluster::update_interrupt() {
  bool raised = false;
  for (std::size_t queue = 0; queue < queue_count; ++queue)
    raised = raised || registers.interrupt[queue].complete() != 0 || registers.interrupt[queue].error() != 0;
  interrupt.write(raised);
}

std::string ComputeCluster::use_of(const OutputRange& range) const {
  std::string found;
  for (const auto& queue : queues_)
    if (found.empty()) found = queue->use_of(range, true);
  return found;
}

std::string ComputeCluster::use_beside(std::uint8_t queue, const OutputRange& range, bool also_reads) const {
  std::string found;
  for (std::uint8_t other = 0; other < queue_count && found.empty(); ++other)
    if (other != queue) found = queues_[other]->use_of(range, also_reads);
  return found;
}

/// Records an ended kernel. It is forgotten when all packets of the other queues were announced after its end.
void ComputeCluster::note_ended(KernelHistory::Ended ended) {
  history_.note_ended(std::move(ended));
  history_.forget_ended([this](const KernelHistory::Ended& e) {
    for (std::uint32_t queue = 0; queue < queue_count; ++queue)
      if (queue != e.queue && queues_[queue]->oldest_announced() < e.end) return false;
    return true;
  });
}

std::string ComputeCluster::writer_of(std::uint64_t address) const {
  for (const auto& queue : queues_)
    if (std::string kernel = queue->writer_of(address); !kernel.empty()) return kernel;
  return history_.writer_of(address);
}

std::string ComputeCluster::running_in(std::uint8_t queue) const {
  return queue < queue_count ? queues_[queue]->running_kernel() : std::string();
}

bool ComputeCluster::may_write(std::uint64_t address) const {
  return std::any_of(queues_.begin(), queues_.end(),
                     [address](const auto& queue) { return queue->may_write(address); });
}

Trace* ComputeCluster::trace(std::uint32_t queue, std::uint32_t cu, Trace::Track& track) {
  if (trace_ == nullptr || cu % units_per_track != 0) return nullptr;
  if (tracks_[queue].empty()) make_tracks(queue);
  track = tracks_[queue][cu / units_per_track];
  return trace_;
}

Trace* ComputeCluster::trace_workgroup(std::uint32_t queue, std::uint32_t workgroup, std::uint32_t rows,
                                       Trace::Track& track) {
  if (trace_ == nullptr) return nullptr;
  while (rows_[queue].size() < rows)
    rows_[queue].push_back(trace_->track(fmt::format("GPU {}", gpu_),
                                         name_of_row(fmt::format("workgroup {}", rows_[queue].size()), queue)));
  track = rows_[queue][workgroup];
  return trace_;
}

void ComputeCluster::make_tracks(std::uint32_t queue) {
  const std::uint32_t all = parameters_.compute_units;
  for (std::uint32_t first = 0; first < all; first += units_per_track)
    tracks_[queue].push_back(trace_->track(
        fmt::format("GPU {}", gpu_),
        name_of_row(fmt::format("CU {} of {} to {}", first, first, std::min(first + units_per_track, all) - 1),
                    queue)));
}

std::string ComputeCluster::name_of_row(const std::string& row, std::uint32_t queue) const {
  return queue == 0 ? row : fmt::format("{}, queue {}", row, queue);
}

std::vector<std::string> ComputeCluster::contents() const {
  std::vector<std::string> lines;
  for (const auto& queue : queues_)
    if (const std::string line = queue->contents(); !line.empty()) lines.push_back(line);
  for (std::string& line : gates_.contents()) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> ComputeCluster::diagnosis() const {
  std::vector<std::string> lines;
  for (const auto& queue : queues_)
    if (queue->busy()) lines.push_back(queue->diagnosis());
  return lines;
}

void ComputeCluster::visit_statistics(const StatisticVisitor& visit) const {
  visit("workgroups", "workgroups", "workgroups finished", static_cast<double>(finished_total_));
  visit("busy", "ns", "computing time, summed over the compute units", to_ns(busy_time_));
}

}  // namespace t3vp::compute
