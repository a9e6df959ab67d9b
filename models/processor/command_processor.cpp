#include "processor/command_processor.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "protocol/address_map.h"
#include "protocol/plain_name.h"
#include "protocol/response_status.h"
#include "registers/interrupt_controller.h"
#include "registers/kernel_queue.h"
#include "registers/nic.h"

namespace t3vp::processor {
namespace {

template <typename Value>
unsigned char* bytes_of_value(Value& value) {
  return reinterpret_cast<unsigned char*>(&value);
}

/// The line has to be up for a nanosecond: what the program has just cleared takes some steps to fall.
constexpr Picoseconds interrupt_entry = 1'000;

/// Simulated time ends at 2^64 ps; what comes later never comes.
constexpr Picoseconds latest = never - longest_delay;

constexpr RegisterDescription described(std::string_view name, const BlockDescription& block) {
  for (const RegisterDescription& r : block.registers)
    if (std::string_view(r.name) == name) return r;
  throw std::logic_error("no such register");  // which does not compile
}
constexpr RegisterDescription kernel_doorbells = described("doorbell", registers::descriptions::kernel_queue);
constexpr RegisterDescription nic_doorbells = described("doorbell", registers::descriptions::nic);
constexpr std::uint64_t pending_offset = described("pending", registers::descriptions::interrupt_controller).offset;
constexpr std::uint64_t enable_offset = described("enable", registers::descriptions::interrupt_controller).offset;

bool is_one_of(const RegisterDescription& doorbells, address_map::Block block, std::uint64_t local) {
  const std::uint64_t within = local - address_map::block_base(block) - doorbells.offset;
  return within < std::uint64_t{doorbells.count} * doorbells.stride && within % doorbells.stride < doorbells.bytes;
}

/// Of any queue of kernels, of any queue pair.
bool is_doorbell(std::uint64_t local) {
  return is_one_of(kernel_doorbells, address_map::Block::kernel_queue, local) ||
         is_one_of(nic_doorbells, address_map::Block::nic, local);
}

/// A register of the GPU's interrupt controller.
std::uint64_t of_controller(std::uint16_t gpu, std::uint64_t offset) {
  return address_map::on_gpu(gpu, address_map::block_base(address_map::Block::interrupt_controller) + offset);
}

/// Which lines are up; an entry of the program's own may look at none.
template <typename Socket>
std::uint32_t pending_lines(Socket& socket, std::uint64_t address) {
  std::uint32_t lines = 0;
  tlm::tlm_generic_payload look;
  look.set_command(tlm::TLM_READ_COMMAND);
  look.set_address(address);
  look.set_data_ptr(bytes_of_value(lines));
  look.set_data_length(sizeof lines);
  look.set_streaming_width(sizeof lines);
  return socket->transport_dbg(look) == sizeof lines ? lines : 0;
}

Picoseconds time_of(std::uint64_t ns) { return ns < latest / 1000 ? ns * 1000 : never; }

constexpr std::size_t most_mistakes = 4;  // that are kept

std::string unbalanced(std::uint32_t count, const std::string& call) {
  return ": unlock as often as lock expected, found " + std::to_string(count) + " " + call + (count == 1 ? "" : "s") +
         " too many";
}

}  // namespace

CommandProcessor::CommandProcessor(const sc_core::sc_module_name& name, std::uint16_t gpu,
                                   const ProcessorParameters& parameters, Trace* trace)
    : sc_module(name), gpu_(gpu), trace_(trace), keeper_(parameters.quantum) {
  SC_HAS_PROCESS(CommandProcessor);
  if (trace_ != nullptr) track_ = trace_->track("GPU " + std::to_string(gpu), "firmware");
  SC_THREAD(main);
  set_stack_size(stack_bytes);
  SC_METHOD(call_on_phase);
  sensitive << phase_changed_;
  dont_initialize();
  SC_METHOD(call_on_boundary);
  sensitive << boundary_;
  dont_initialize();
}

void CommandProcessor::main() {
  const int on_stack = 0;
  stack_end_ = reinterpret_cast<std::uintptr_t>(&on_stack + 1);
  keeper_.reset();
  tell_control(true);
  if (program_) status_ = program_(*this);
  tell_control(false);
  if (status_ == Status::ok && locks_ != 0) log_mistake("ends" + unbalanced(locks_, "lock"));
  keeper_.sync();
  finished_ = true;
  finished_event_.notify(sc_core::SC_ZERO_TIME);
}

Picoseconds CommandProcessor::local_now() const { return from_sc_time(keeper_.get_current_time()); }

bool CommandProcessor::may_run_ahead(tlm::tlm_command command, std::uint64_t address) const {
  return command == tlm::TLM_WRITE_COMMAND && address_map::gpu_of(address) == gpu_ && !address_map::is_hbm(address);
}

Status CommandProcessor::access(tlm::tlm_command command, std::uint64_t address, unsigned char* data,
                                std::uint32_t bytes) {
  if (!may_run_ahead(command, address)) keeper_.sync();
  transaction_.set_command(command);
  transaction_.set_address(address);
  transaction_.set_data_ptr(data);
  transaction_.set_data_length(bytes);
  transaction_.set_streaming_width(bytes);
  transaction_.set_dmi_allowed(false);
  transaction_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  sc_core::sc_time delay = keeper_.get_local_time();
  socket->b_transport(transaction_, delay);
  keeper_.set(delay);
  if (keeper_.need_sync()) keeper_.sync();
  ++(command == tlm::TLM_READ_COMMAND ? reads_ : writes_);
  if (!transaction_.is_response_ok()) ++failures_;
  if (command == tlm::TLM_READ_COMMAND && bytes <= sizeof(std::uint64_t)) {
    std::uint64_t value = 0;
    if (transaction_.is_response_ok()) std::memcpy(&value, data, bytes);
    note_read(address, value);
  }
  const Status status = status_of_register_access(transaction_.get_response_status());
  serve_interrupts();  // whose accesses are made with the same transaction
  return status;
}

/// Whether a write tells another block or GPU of what is in memory.
bool CommandProcessor::announces(std::uint64_t address) const {
  if (address_map::is_hbm(address)) return false;
  return address_map::gpu_of(address) != gpu_ || is_doorbell(address_map::local_of(address));
}

Status CommandProcessor::write_register(std::uint64_t address, unsigned char* data, std::uint32_t bytes) {
  if (!unordered_writes_ || !announces(address)) return access(tlm::TLM_WRITE_COMMAND, address, data, bytes);
  ++failures_;
  log("a doorbell or another GPU's register is written before the memory writes in front of it are ordered");
  return Status::bad_access;
}

/// Four places are enough for a loop over the status of all that may end, and too few for a tour of all registers.
void CommandProcessor::note_read(std::uint64_t address, std::uint64_t value) {
  auto poll = std::find_if(polls_.begin(), polls_.end() - 1, [&](const Poll& p) { return p.address == address; });
  if (poll->address != address || poll->value != value) *poll = {address, value, 0};
  ++poll->reads;
  std::rotate(polls_.begin(), poll, poll + 1);
  if ((value & enabled_lines_) != 0 && address == of_controller(gpu_, pending_offset))
    note_lines(value & enabled_lines_);
}

void CommandProcessor::note_lines(std::uint64_t lines) {
  if (service_.lines != lines) service_ = {lines, 0, local_now(), 0};
  ++service_.times;
  service_.last = local_now();
}

const CommandProcessor::Poll& CommandProcessor::poll() const {
  return *std::max_element(polls_.begin(), polls_.end(),
                           [](const Poll& a, const Poll& b) { return a.reads < b.reads; });
}

Status CommandProcessor::read32(std::uint64_t address, std::uint32_t& value) {
  return access(tlm::TLM_READ_COMMAND, address, bytes_of_value(value), sizeof value);
}

Status CommandProcessor::read64(std::uint64_t address, std::uint64_t& value) {
  return access(tlm::TLM_READ_COMMAND, address, bytes_of_value(value), sizeof value);
}

Status CommandProcessor::write32(std::uint64_t address, std::uint32_t value) {
  if (value != 0 && address == of_controller(gpu_, enable_offset)) enabled_lines_ = value;
  return write_register(address, bytes_of_value(value), sizeof value);
}

Status CommandProcessor::write64(std::uint64_t address, std::uint64_t value) {
  return write_register(address, bytes_of_value(value), sizeof value);
}

Status CommandProcessor::read_memory(std::uint64_t address, void* data, std::uint32_t bytes) {
  return access(tlm::TLM_READ_COMMAND, address, static_cast<unsigned char*>(data), bytes);
}

Status CommandProcessor::write_memory(std::uint64_t address, const void* data, std::uint32_t bytes) {
  unordered_writes_ = true;
  // The payload's data pointer is not const; targets do not change the data of a write (IEEE 1666-2011, 14.7).
  return access(tlm::TLM_WRITE_COMMAND, address, static_cast<unsigned char*>(const_cast<void*>(data)), bytes);
}

Status CommandProcessor::wait_for_interrupt(const char* reason, std::uint64_t deadline_ns) {
  keeper_.sync();
  const Picoseconds begin = now(), deadline = time_of(deadline_ns);
  ++waits_;
  waits_for_ = reason;
  awaits_interrupt_ = deadline == never;
  give_up_ = false;
  const bool is_raised = interrupt.read();
  while (!interrupt.read() && !give_up_ && now() < deadline) wait_until(deadline, interrupt.posedge_event());
  awaits_interrupt_ = false;
  waits_for_.clear();
  if (interrupt.read() && !is_raised) polls_ = {};
  waited_ += now() - begin;
  if (interrupt.read()) {
    serve_interrupts();
    return Status::ok;
  }
  return now() >= deadline ? Status::timeout : Status::stuck;
}

Status CommandProcessor::exchange(const char* name, const void* mine, std::uint64_t bytes, void* all,
                                  std::uint64_t deadline_ns) {
  if (hosts_ == nullptr) return Status::no_peer;
  keeper_.sync();
  hosts_->come(gpu_, name, static_cast<const unsigned char*>(mine), bytes);
  if (!wait_until_over(name, time_of(deadline_ns)))
    return now() >= time_of(deadline_ns) ? Status::timeout : Status::stuck;
  std::string mistake;
  const Status status = hosts_->leave(gpu_, static_cast<unsigned char*>(all), mistake);
  if (!mistake.empty()) log_mistake(mistake);
  return status;
}

/// The hosts' all-gather.
bool CommandProcessor::wait_until_over(const char* reason, Picoseconds deadline) {
  const Picoseconds begin = now();
  ++waits_;
  waits_for_ = std::string("the exchange of all hosts that it calls ") + reason;
  awaits_interrupt_ = deadline == never;
  give_up_ = false;
  while (!hosts_->is_over(gpu_) && !give_up_ && now() < deadline) wait_until(deadline, hosts_->over());
  awaits_interrupt_ = false;
  waits_for_.clear();
  waited_ += now() - begin;
  serve_interrupts();
  return hosts_->is_over(gpu_);
}

void CommandProcessor::take_interrupts(InterruptEntry entry, void* argument) {
  entry_ = entry;
  entry_argument_ = argument;
}

void CommandProcessor::unlock() {
  if (locks_ == 0) return log_mistake("allows interrupts" + unbalanced(1, "unlock"));
  --locks_;
  serve_interrupts();
}

bool CommandProcessor::is_interrupted() {
  if (keeper_.get_local_time() != sc_core::SC_ZERO_TIME) keeper_.sync();
  if (!interrupt.read()) return false;
  wait(to_sc_time(interrupt_entry));
  return interrupt.read();
}

void CommandProcessor::serve_interrupts() {
  while (entry_ != nullptr && locks_ == 0 && is_interrupted()) {
    note_lines(pending_lines(socket, of_controller(gpu_, pending_offset)) & enabled_lines_);
    ++locks_;
    enter(__builtin_frame_address(0));
    if (locks_ == 0) log_mistake("returns from an interrupt" + unbalanced(1, "unlock"));
    if (locks_ > 1) log_mistake("returns from an interrupt" + unbalanced(locks_ - 1, "lock"));
    locks_ = 0;
  }
}

void CommandProcessor::enter(const void* frame) {
  const void* const outer = std::exchange(entry_frame_, frame);
  const Picoseconds outer_since = serves_since_;
  if (outer == nullptr) serves_since_ = local_now();
  tell_control(true);
  entry_(entry_argument_);
  tell_control(false);
  entry_frame_ = outer;
  serves_since_ = outer_since;
}

/// A call from above the frame that has called the entry, on the program's own stack, which grows downwards: the entry
/// has been left by longjmp() or by what it has thrown.
bool CommandProcessor::has_left_entry(const void* frame) const {
  const auto now_at = reinterpret_cast<std::uintptr_t>(frame),
             entry_at = reinterpret_cast<std::uintptr_t>(entry_frame_);
  return entry_frame_ != nullptr && now_at > entry_at && now_at <= stack_end_ && entry_at + stack_bytes > stack_end_;
}

void CommandProcessor::tell_left_entry() {
  entry_frame_ = nullptr;
  log_mistake("has left what takes an interrupt by a jump: its return expected, no other one is taken");
}

/// Waits for the event, the time or give_up_waiting(), whichever comes first.
void CommandProcessor::wait_until(Picoseconds time, const sc_core::sc_event& event) {
  if (time == never)
    wait(event | give_up_event_);
  else
    wait(to_sc_time(time - now()), event | give_up_event_);
}

void CommandProcessor::give_up_waiting() {
  give_up_ = awaits_interrupt_;
  if (give_up_) give_up_event_.notify(sc_core::SC_ZERO_TIME);
}

void CommandProcessor::wait_ns(std::uint64_t ns) {
  const Picoseconds begin = local_now();
  if (time_of(ns) < latest - begin) {
    if (entry_ == nullptr) keeper_.inc(to_sc_time(ns * 1000));
    keeper_.sync();
    serve_interrupts();
    for (const Picoseconds end = begin + ns * 1000; now() < end; serve_interrupts())
      wait_until(end, interrupt.posedge_event());
    return;
  }
  keeper_.sync();
  waits_for_ = std::to_string(ns) + " ns to pass, which simulated time does not reach";
  for (serve_interrupts();; serve_interrupts()) wait_until(never, interrupt.posedge_event());
}

void CommandProcessor::begin(const std::string& phase) {
  if (!is_plain_name(phase)) return log_mistake("begins a phase without a plain name: " + phase);
  PhaseTime* known = find_phase(phase);
  if (known != nullptr && known->end == never) return log_mistake("begins a phase that it has not ended: " + phase);
  if (known == nullptr && phases_.size() == most_phases) {
    if (!std::exchange(phase_refused_, true))
      log_mistake("begins a phase beyond the " + std::to_string(most_phases) + " that a program may have: " + phase);
    return;
  }
  if (known == nullptr) {
    phase_numbers_.emplace(phase, phases_.size());
    known = &phases_.emplace_back();
    known->phase = phase;
    known->first = local_now();
  }
  known->begin = local_now();
  known->end = never;
  tell_phase(*known, true);
}

void CommandProcessor::end(const std::string& phase) {
  PhaseTime* const open = find_phase(phase);
  if (open == nullptr && phase_refused_) return;
  if (open == nullptr || open->end != never) return log_mistake("ends a phase that has not begun: " + phase);
  open->end = open->last = local_now();
  open->spent += open->end - open->begin;
  ++open->ended;
  if (trace_ != nullptr) trace_->span(track_, phase.c_str(), open->begin, open->end);
  tell_phase(*open, false);
}

/// Null when it has never begun.
CommandProcessor::PhaseTime* CommandProcessor::find_phase(const std::string& phase) {
  const auto known = phase_numbers_.find(phase);
  return known == phase_numbers_.end() ? nullptr : &phases_[known->second];
}

void CommandProcessor::tell_phase(const PhaseTime& phase, bool begin) {
  if (on_boundary_) {
    const Picoseconds time = local_now();
    // One call tells all of one time.
    if (boundaries_.empty() || boundaries_.back().time != time) boundary_.notify(keeper_.get_local_time());
    boundaries_.push_back({static_cast<std::uint32_t>(&phase - phases_.data()), begin, time});
  }
  if (!on_phase_) return;
  keeper_.sync();
  told_phase_ = phase.phase;
  told_begin_ = begin;
  phase_changed_.notify();
  wait(phase_told_);
}

void CommandProcessor::call_on_boundary() {
  for (; !boundaries_.empty() && boundaries_.front().time <= now(); boundaries_.pop_front())
    on_boundary_(phases_[boundaries_.front().phase].phase, boundaries_.front().begin);
}

/// A method has the scheduler's stack, which is the main program's.
void CommandProcessor::call_on_phase() {
  on_phase_(told_phase_, told_begin_);
  phase_told_.notify();
}

void CommandProcessor::publish(const PublishedBuffer& buffer) {
  if (!is_plain_name(buffer.name)) return log_mistake("publishes a buffer without a plain name: " + buffer.name);
  if (buffers_.size() == most_buffers) {
    if (!std::exchange(buffer_refused_, true))
      log_mistake("publishes a buffer beyond the " + std::to_string(most_buffers) +
                  " that a program may publish: " + buffer.name);
    return;
  }
  if (on_publish_) on_publish_(buffer);
  buffers_.push_back(buffer);
  buffers_.back().initial = buffers_.back().expected = nullptr;
}

void CommandProcessor::log(const std::string& text) {
  if (on_log_) on_log_(text);
}

void CommandProcessor::log_mistake(const std::string& text) {
  log(text);
  if (mistakes_.size() < most_mistakes) mistakes_.push_back(text);
}

void CommandProcessor::visit_statistics(const StatisticVisitor& visit) const {
  const auto count = [](std::uint64_t value) { return static_cast<double>(value); };
  visit("reads", "accesses", "register and memory reads of the firmware", count(reads_));
  visit("writes", "accesses", "register and memory writes of the firmware", count(writes_));
  visit("failed_accesses", "accesses", "accesses answered with an error", count(failures_));
  visit("waits", "waits", "waits for an interrupt", count(waits_));
  visit("waited", "ns", "time spent waiting for interrupts", to_ns(waited_));
}

}  // namespace t3vp::processor
