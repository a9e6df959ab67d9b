#include "compute/compute_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "compute/attention_kernel.h"
#include "compute/gemm_kernel.h"
#include "compute/packet_check.h"
#include "compute/ring_kernel.h"
#include "compute/row_kernel.h"
#include "protocol/address_map.h"
#include "protocol/description.h"
#include "protocol/element.h"
#include "protocol/truncating_adder.h"
#include "registers/response_status.h"

namespace t3vp {
namespace {
constexpr std::uint32_t units_per_track = 10;
constexpr std::uint32_t most_entries = 256;
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
  registers.lock_when([this] { return busy_; });
  registers.compute_units.set(parameters.compute_units);
  registers.base.on_write([this] { check_base(); });
  registers.entries.on_write([this] { check_entries(); });
  registers.doorbell.on_write([this] { rung(); });
  registers.completed.on_refresh([this] { registers.completed.set(completed_); });
  registers.interrupt.on_write([this] { update_interrupt(); });
  registers.on_reset([this] { reset(); });

  SC_HAS_PROCESS(ComputeCluster);
  SC_METHOD(step);
  sensitive << events_.event();
  dont_initialize();
}

/// A kernel under way has accesses in memory and ends by itself; what comes after it is forgotten.
void ComputeCluster::reset() {
  registers.compute_units.set(parameters_.compute_units);
  registers.status.busy.set(busy_);
  reset_while_busy_ = busy_;
  rung_ = completed_ = 0;
  update_interrupt();
}

void ComputeCluster::check_base() {
  const std::uint64_t base = registers.base.value();
  if (base % packet_bytes != 0)
    registers.refuse(Status::unaligned, base, fmt::format("packet ring at {:#x}: a multiple of 128 expected", base));
  else if (address_map::gpu_of(base) != gpu_ || !address_map::is_hbm(base))
    registers.refuse(Status::bad_address, base,
                     fmt::format("packet ring at {:#x}: not in the HBM of GPU {}", base, gpu_));
}

void ComputeCluster::check_entries() {
  const std::uint64_t entries = registers.entries.value();
  if (entries == 0 || entries > most_entries || (entries & (entries - 1)) != 0)
    registers.refuse(Status::invalid_argument, registers.base.value(),
                     fmt::format("{} packets in the ring: a power of two up to {} expected", entries, most_entries));
}

void ComputeCluster::rung() {
  const std::uint64_t written = registers.doorbell.value(), entries = registers.entries.value();
  if (written < completed_ || written - completed_ > entries)
    return registers.refuse(
        Status::invalid_argument, registers.base.value(),
        fmt::format("doorbell {}: {} packets are done and the ring has {} entries", written, completed_, entries));
  rung_ = written;
  if (!busy_) fetch();
}

void ComputeCluster::update_interrupt() {
  interrupt.write(registers.interrupt.complete() != 0 || registers.interrupt.error() != 0);
}

void ComputeCluster::issue(Slot slot, Transaction& transaction, Picoseconds delay) {
  transaction.extension().producer.gpu = gpu_;
  // The slot travels in the upper half of the token, the kernel model's own part stays in the lower.
  transaction.extension().token |= std::uint64_t{slot} << 32;
  memory.send(transaction, delay);
}

/// A store that is taken needs its workgroup no longer; its response is the kernel's to wait for.
void ComputeCluster::taken(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  const Slot slot = static_cast<Slot>(extension_of(transaction).token >> 32);
  ++unacknowledged_;
  events_.push(now() + delay, {Step::taken, slot, 0, static_cast<Transaction*>(&transaction)});
}

void ComputeCluster::response(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  const Slot slot = static_cast<Slot>(extension_of(transaction).token >> 32);
  events_.push(now() + delay, {Step::arrived, slot, 0, static_cast<Transaction*>(&transaction)});
}

void ComputeCluster::schedule(Picoseconds time, Slot slot, std::uint32_t tag) {
  events_.push(time, {Step::elapsed, slot, tag, nullptr});
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
    switch (event.step) {
      case Step::arrived:
        arrived(event);
        break;
      case Step::delivered:
        delivered(event);
        break;
      case Step::taken:
        answered(event.slot, *event.transaction);
        break;
      case Step::elapsed:
        kernel_->elapsed(event.slot, event.tag);
        break;
      case Step::launch:
        launch();
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
  events_.push(port, {Step::delivered, event.slot, 0, event.transaction});
}

void ComputeCluster::delivered(const Event& event) {
  Transaction& transaction = *event.transaction;
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
  const Status status = status_of_data_access(transaction.get_response_status());
  if (failure_ != Status::ok || status == Status::ok) return;
  failure_ = status;
  if (transaction.extension().taken) registers.report(status, transaction.get_address(), text_of_refusal(transaction));
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
  KernelPacket packet{};
  std::memcpy(&packet, transaction.get_data_ptr(), packet_bytes);
  const std::string wrong =
      failure_ != Status::ok ? "the packet cannot be read" : check_packet(packet, parameters_, functional_);
  if (!wrong.empty()) {
    registers.report(Status::bad_packet, transaction.get_address(), wrong);
    return complete(Status::bad_packet);
  }
  if (packet.max_compute_units == 0 || packet.max_compute_units > parameters_.compute_units)
    packet.max_compute_units = parameters_.compute_units;
  units_.resize(packet.max_compute_units);
  kernel_ = make_kernel(packet);
  const std::uint64_t matrices = std::max<std::uint64_t>(1, packet.batches);
  tell_output({packet.out, packet.out + (matrices - 1) * packet.out_batch + std::uint64_t{packet.m} * packet.ldo});
  events_.push(now() + parameters_.launch_latency, {Step::launch, dispatcher, 0, nullptr});
}

void ComputeCluster::tell_output(const OutputRange& range) {
  if (running_output.size() != 0) running_output->write(range);
}

std::unique_ptr<KernelModel> ComputeCluster::make_kernel(const KernelPacket& packet) {
  switch (packet.kind) {
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
  next_workgroup_ = finished_workgroups_ = 0;
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
  tell_output({});
  kernel_active.write(false);
  first_stage.write(false);
  busy_ = false;
  failure_ = Status::ok;
  units_.resize(parameters_.compute_units);
  registers.status.busy.set(0);
  if (std::exchange(reset_while_busy_, false)) return;
  ++completed_;
  registers.status.error.set(status);
  if (status == Status::ok)
    registers.interrupt.complete.set(1);
  else
    registers.interrupt.error.set(1);
  update_interrupt();
  fetch();
}

Trace* ComputeCluster::trace(Slot slot, Trace::Track& track) {
  const Slot cu = slot / slots_per_cu_;
  if (trace_ == nullptr || slot % slots_per_cu_ != 0 || cu % units_per_track != 0) return nullptr;
  track = tracks_[cu / units_per_track];
  return trace_;
}

std::vector<std::string> ComputeCluster::diagnosis() const {
  if (!busy_) return {};
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
