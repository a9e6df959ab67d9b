#include "compute/compute_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compute/attention_kernel.h"
#include "compute/gemm_kernel.h"
#include "compute/kernel_ranges.h"
#include "compute/packet_check.h"
#include "compute/ring_kernel.h"
#include "compute/row_kernel.h"
#include "protocol/address_map.h"
#include "protocol/description.h"
#include "protocol/element.h"
#include "protocol/response_status.h"
#include "protocol/ring_signal.h"
#include "protocol/truncating_adder.h"
#include "registers/signals.h"

namespace t3vp {
namespace {
constexpr std::uint32_t units_per_track = 10;
constexpr std::uint32_t most_entries = 256;
constexpr std::size_t most_noted = 256;  // outputs of kernels that have ended
}  // namespace

ComputeCluster::ComputeCluster(const sc_core::sc_module_name& name, const ComputeParameters& parameters,
                               bool functional, std::uint16_t gpu, Trace* trace)
    : sc_module(name),
      parameters_(parameters),
      functional_(functional),
      gpu_(gpu),
      trace_(trace),
      units_(parameters.compute_units) {
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

/// What is under way in memory is answered to nobody.
void ComputeCluster::reset() {
  registers.compute_units.set(parameters_.compute_units);
  ++generation_;
  in_flight_ = unacknowledged_ = rung_ = completed_ = abort_until_ = 0;
  written_.clear();
  busy_ = running_ = stopping_ = false;
  failure_ = Status::ok;
  units_.assign(parameters_.compute_units, {});
  tell_output({});
  writes_.clear();
  reads_.clear();
  kernel_active.write(false);
  first_stage.write(false);
  withdraw.write(false);
  update_interrupt();
}

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

void ComputeCluster::abort() {
  if (registers.command.action() != registers::KernelQueue::Command::Action::abort) return;
  abort_until_ = rung_;
  if (!running_ || stopping_) return;
  stopping_ = true;
  withdraw.write(true);
  if (in_flight_ == 0) end_aborted();
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
  // The slot travels in the upper half of the token, the kernel model's own part stays in the lower.
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
  const auto refuse = [&](Status status, const std::string& why) {
    registers.report(status, transaction.get_address(), why);
    complete(status);
  };
  completion_signal_ = KernelPacket::no_signal;
  if (failure_ != Status::ok) return refuse(Status::bad_packet, "the packet cannot be read");
  if (const std::string wrong = check_header(packet); !wrong.empty()) return refuse(Status::bad_packet, wrong);
  completion_signal_ = packet.completion_signal;
  if (completed_ < abort_until_) return complete(Status::aborted);
  if (const std::string wrong = check_operands(packet, parameters_, gpu_, functional_); !wrong.empty())
    return refuse(Status::bad_packet, wrong);
  if (const Refusal found = check_here(packet); found.status != Status::ok) return refuse(found.status, found.text);
  if (packet.max_compute_units == 0 || packet.max_compute_units > parameters_.compute_units)
    packet.max_compute_units = parameters_.compute_units;
  units_.resize(packet.max_compute_units);
  kernel_ = make_kernel(packet);
  running_ = true;
  next_workgroup_ = finished_workgroups_ = 0;
  tell_output(output_of(packet));
  writes_ = written_by(packet);
  reads_ = read_by(packet);
  events_.push(now() + parameters_.launch_latency, {Step::launch, dispatcher, 0, nullptr, generation_});
}

/// What does not follow from the packet alone: who can be reached, who writes there, and whose maps are in the way.
ComputeCluster::Refusal ComputeCluster::check_here(const KernelPacket& packet) {
  if (is_ring(packet)) {
    if (Refusal found = check_receiver(packet.peer_out, "peer_out"); found.status != Status::ok) return found;
    if (is_staged(packet)) {
      if (Refusal found = check_receiver(packet.peer_staging, "peer_staging"); found.status != Status::ok) return found;
      if (address_map::gpu_of(packet.peer_out) != address_map::gpu_of(packet.peer_staging))
        return {Status::bad_packet, fmt::format("peer_out {:#x} and peer_staging {:#x}: both of one GPU expected",
                                                packet.peer_out, packet.peer_staging)};
    }
  }
  if (Refusal found = check_ranges(packet); found.status != Status::ok) return found;
  if (Refusal found = check_maps(packet); found.status != Status::ok) return found;
  return check_reads(packet);
}

/// Nobody else is at what the kernel reads or writes.
ComputeCluster::Refusal ComputeCluster::check_ranges(const KernelPacket& packet) {
  const auto check = [this](const OutputRange& range, const char* does) -> Refusal {
    const std::string kernel = fmt::format("the kernel {} {:#x} to {:#x}", does, range.begin, range.end - 1);
    if (range.overlaps(ring()))
      return {Status::bad_packet,
              fmt::format("{}: its queue's packets are at {:#x} to {:#x}", kernel, ring().begin, ring().end - 1)};
    for (int i = 0; i < users.size(); ++i)
      if (const std::string found = users[i]->use_of(range); !found.empty())
        return {Status::busy, fmt::format("{}: {}, and no kernel runs there before that has ended", kernel, found)};
    return {};
  };
  for (const OutputRange& range : written_by(packet))
    if (Refusal found = check(range, "writes"); found.status != Status::ok) return found;
  for (const OutputRange& range : read_by(packet))
    if (Refusal found = check(range, "reads"); found.status != Status::ok) return found;
  return {};
}

/// Maps are about wavefront tiles. A GEMM's accesses name them, except that its stores lose the name in the cache.
ComputeCluster::Refusal ComputeCluster::check_maps(const KernelPacket& packet) {
  const bool is_gemm = packet.kernel == KernelKind::gemm;
  if (is_gemm && (packet.flags & (KernelPacket::update | KernelPacket::uncached)) != 0) return {};
  const char* const how =
      is_gemm ? "stores through the cache, which forgets the wavefront tiles" : "names no wavefront tiles";
  // A GPU's own part of a staged reduction is the only thing that a ring kernel stores here itself.
  const bool stores = !is_ring(packet) || is_staged(packet);
  for (const OutputRange& range : written_by(packet))
    for (int i = 0; i < map_holders.size(); ++i)
      if (const std::string found = map_holders[i]->in_the_way(range, stores); !found.empty())
        return {Status::mismatch,
                fmt::format("the kernel works on {:#x} to {:#x} and {}: {}", range.begin, range.end - 1, how, found)};
  return {};
}

/// What is mapped and read has arrived.
ComputeCluster::Refusal ComputeCluster::check_reads(const KernelPacket& packet) {
  for (const OutputRange& range : read_by(packet))
    for (int i = 0; i < map_holders.size(); ++i)
      if (const std::string found = map_holders[i]->in_the_way(range, false); !found.empty())
        return {Status::busy, fmt::format("the kernel reads {:#x} to {:#x}: {}", range.begin, range.end - 1, found)};
  return {};
}

ComputeCluster::Refusal ComputeCluster::check_receiver(std::uint64_t address, const char* name) {
  const std::uint64_t gpu = address_map::gpu_of(address);
  if (gpu == gpu_)
    return {Status::no_peer, fmt::format("{} {:#x} is this GPU's own: one of another GPU expected", name, address)};
  if (!memory.reaches(address))
    return {Status::no_peer, fmt::format("GPU {} of {} {:#x} cannot be reached", gpu, name, address)};
  return {};
}

/// Of packets; none before the first doorbell.
OutputRange ComputeCluster::ring() const {
  return rung_ == 0 ? OutputRange{} : OutputRange{ring_base_, ring_base_ + ring_entries_ * packet_bytes};
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

std::unique_ptr<KernelModel> ComputeCluster::make_kernel(const KernelPacket& packet) {
  switch (packet.kernel) {
    case KernelKind::gemm:
      return std::make_unique<GemmKernel>(*this, packet);
    case KernelKind::rows:
      return std::make_unique<RowKernel>(*this, packet);
    case KernelKind::attention:
      return std::make_unique<AttentionKernel>(*this, packet);
    default:
      return std::make_unique<RingKernel>(*this, packet);
  }
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
  if (next_workgroup_ < kernel_->workgroups()) kernel_->start(slot, next_workgroup_++);
}

void ComputeCluster::add(ElementType element, std::vector<unsigned char>& sum, const Transaction& transaction) {
  const std::size_t count = sum.size() / bytes_of(element);
  const unsigned char* data = transaction.get_data_ptr();
  if (!parameters_.wrong_rounding) return add_elements(element, sum.data(), data, count);
  if (add_elements_truncating(element, sum.data(), data, count) && wrongly_rounded_.empty())
    wrongly_rounded_ = describe(transaction, now());
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
