#include "processor/processor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "processor/described_register.h"
#include "protocol/address_map.h"
#include "protocol/plain_name.h"
#include "registers/interrupt_controller.h"

namespace t3vp::processor {
namespace {

constexpr std::uint64_t pending_offset = described("pending", registers::descriptions::interrupt_controller).offset;
constexpr std::uint64_t enable_offset = described("enable", registers::descriptions::interrupt_controller).offset;

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
  look.set_data_ptr(reinterpret_cast<unsigned char*>(&lines));
  look.set_data_length(sizeof lines);
  look.set_streaming_width(sizeof lines);
  return socket->transport_dbg(look) == sizeof lines ? lines : 0;
}

constexpr std::size_t most_mistakes = 4;  // that are kept

}  // namespace

Picoseconds time_of_firmware(std::uint64_t ns) { return ns < latest_time / 1000 ? ns * 1000 : never; }

Processor::Processor(const sc_core::sc_module_name& name, std::uint16_t gpu, Trace* trace)
    : sc_module(name), gpu_(gpu), trace_(trace) {
  SC_HAS_PROCESS(Processor);
  if (trace_ != nullptr) track_ = trace_->track("GPU " + std::to_string(gpu), "firmware");
  SC_METHOD(call_on_phase);
  sensitive << phase_changed_;
  dont_initialize();
  SC_METHOD(call_on_boundary);
  sensitive << boundary_;
  dont_initialize();
}

void Processor::finish(bool crashed) {
  crashed_ = crashed;
  finished_ = true;
  finished_event_.notify(sc_core::SC_ZERO_TIME);
}

void Processor::act() {
  cause_.extend(local_now(), Part::launch);
  Cause::current() = cause_;
}

/// The program has waited since then. The latest interrupt line that was raised in this time has released it.
void Processor::follow_interrupt(Picoseconds since) {
  if (interrupt_cause_ != nullptr && interrupt_cause_->time() >= since) cause_ = *interrupt_cause_;
  cause_.extend(local_now(), Part::sync);
}

void Processor::note_access(const tlm::tlm_generic_payload& access) {
  if (on_access_) on_access_(access);
  ++(access.is_read() ? reads_ : writes_);
  if (!access.is_response_ok()) ++failures_;
  if (!access.is_read() || access.get_data_length() > sizeof(std::uint64_t)) return;
  std::uint64_t value = 0;
  if (access.is_response_ok()) std::memcpy(&value, access.get_data_ptr(), access.get_data_length());
  note_read(access.get_address(), value);
}

/// Four places are enough for a loop over the status of all that may end, and too few for a tour of all registers.
void Processor::note_read(std::uint64_t address, std::uint64_t value) {
  auto poll = std::find_if(polls_.begin(), polls_.end() - 1, [&](const Poll& p) { return p.address == address; });
  if (poll->address == address && poll->reads != 0 && poll->value != value) follow_interrupt(last_read_);
  last_read_ = local_now();
  if (poll->address != address || poll->value != value) *poll = {address, value, 0};
  ++poll->reads;
  std::rotate(polls_.begin(), poll, poll + 1);
  if ((value & enabled_lines_) != 0 && address == of_controller(gpu_, pending_offset))
    note_lines(value & enabled_lines_);
}

void Processor::note_register_write(std::uint64_t address, std::uint64_t value) {
  if (value != 0 && address == of_controller(gpu_, enable_offset)) enabled_lines_ = static_cast<std::uint32_t>(value);
}

void Processor::note_raised_lines() {
  note_lines(pending_lines(socket, of_controller(gpu_, pending_offset)) & enabled_lines_);
}

void Processor::note_lines(std::uint64_t lines) {
  if (service_.lines != lines) service_ = {lines, 0, local_now(), 0};
  ++service_.times;
  service_.last = local_now();
}

const Processor::Poll& Processor::poll() const {
  return *std::max_element(polls_.begin(), polls_.end(),
                           [](const Poll& a, const Poll& b) { return a.reads < b.reads; });
}

bool Processor::may_run_ahead(tlm::tlm_command command, std::uint64_t address) const {
  return command == tlm::TLM_WRITE_COMMAND && address_map::gpu_of(address) == gpu_ && !address_map::is_hbm(address);
}

void Processor::begin_wait(const std::string& reason, Picoseconds deadline) {
  wait_begin_ = now();
  ++waits_;
  waits_for_ = reason;
  awaits_interrupt_ = deadline == never;
  give_up_ = false;
}

void Processor::end_wait() {
  awaits_interrupt_ = false;
  waits_for_.clear();
  waited_ += now() - wait_begin_;
  if (interrupt.read()) follow_interrupt(wait_begin_);
  cause_.extend(now(), Part::sync);
}

void Processor::come_to_rest() {
  rest_.run_at(now());
  wait(at_rest_);
}

void Processor::wait_until(Picoseconds time, const sc_core::sc_event& event) {
  if (time == never)
    wait(event | give_up_event_);
  else
    wait(to_sc_time(time - now()), event | give_up_event_);
}

void Processor::give_up_waiting() {
  give_up_ = awaits_interrupt_;
  if (give_up_) give_up_event_.notify(sc_core::SC_ZERO_TIME);
}

Status Processor::exchange_with_hosts(const char* name, const void* mine, std::uint64_t bytes, void* all,
                                      Picoseconds deadline) {
  if (hosts_ == nullptr) return Status::no_peer;
  act();
  hosts_->come(gpu_, name, static_cast<const unsigned char*>(mine), bytes);
  if (order_ != nullptr) order_->exchange(gpu_);
  begin_wait(std::string("the exchange of all hosts that it calls ") + name, deadline);
  while (!hosts_->is_over(gpu_) && !give_up_ && now() < deadline) wait_until(deadline, hosts_->over());
  end_wait();
  serve_interrupts();
  if (!hosts_->is_over(gpu_)) return now() >= deadline ? Status::timeout : Status::stuck;
  if (const Cause& last = hosts_->cause_for(gpu_); last.time() >= wait_begin_) cause_ = last;
  std::string mistake;
  const Status status = hosts_->leave(gpu_, static_cast<unsigned char*>(all), mistake);
  if (!mistake.empty()) log_mistake(mistake);
  if (order_ != nullptr) order_->exchange(gpu_);
  return status;
}

void Processor::begin(const std::string& phase) {
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
  begin_window(*known);
  tell_phase(*known, true);
}

void Processor::end(const std::string& phase) {
  PhaseTime* const open = find_phase(phase);
  if (open == nullptr && phase_refused_) return;
  if (open == nullptr || open->end != never) return log_mistake("ends a phase that has not begun: " + phase);
  open->end = open->last = local_now();
  open->spent += open->end - open->begin;
  end_window(*open);
  ++open->ended;
  if (trace_ != nullptr) trace_->span(track_, phase.c_str(), open->begin, open->end);
  tell_phase(*open, false);
}

void Processor::begin_window(PhaseTime& phase) {
  cause_.extend(phase.begin, Part::launch);
  phase.window = Cause::open_window(phase.begin);
  if (phase.ended == 0) phase.first_window = phase.window;
}

/// The window of the first time stays open: the phase may end on another GPU later.
void Processor::end_window(PhaseTime& phase) {
  cause_.extend(phase.end, Part::launch);
  phase.cause = cause_;
  phase.parts += cause_.within(phase.window, phase.end);
  if (phase.window != phase.first_window) Cause::close_window(phase.window);
}

/// Null when it has never begun.
Processor::PhaseTime* Processor::find_phase(const std::string& phase) {
  const auto known = phase_numbers_.find(phase);
  return known == phase_numbers_.end() ? nullptr : &phases_[known->second];
}

void Processor::tell_phase(const PhaseTime& phase, bool begin) {
  if (on_boundary_) {
    const Picoseconds time = local_now();
    // One notification covers all boundaries of one time.
    if (boundaries_.empty() || boundaries_.back().time != time) boundary_.notify(to_sc_time(time - now()));
    boundaries_.push_back({static_cast<std::uint32_t>(&phase - phases_.data()), begin, time});
  }
  if (!on_phase_) return;
  synchronize();
  told_phase_ = phase.phase;
  told_begin_ = begin;
  phase_changed_.notify();
  wait(phase_told_);
}

void Processor::call_on_boundary() {
  for (; !boundaries_.empty() && boundaries_.front().time <= now(); boundaries_.pop_front())
    on_boundary_(phases_[boundaries_.front().phase].phase, boundaries_.front().begin);
}

/// A method has the scheduler's stack, which is the main program's.
void Processor::call_on_phase() {
  on_phase_(told_phase_, told_begin_);
  phase_told_.notify();
}

void Processor::publish(const PublishedBuffer& buffer) {
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

void Processor::own_memory(std::uint64_t address, std::uint64_t bytes, std::uint32_t kind) {
  if (!on_memory_) return;
  synchronize();  // what others have accessed before counts as before
  const bool is_own = address_map::gpu_of(address) == gpu_ && address_map::is_hbm(address);
  const bool is_kind = kind <= static_cast<std::uint32_t>(MemoryUse::driver);
  std::string wrong = !is_own    ? fmt::format("says whose {:#x} is, which is not in its own GPU's memory", address)
                      : !is_kind ? fmt::format("says that {:#x} is of memory kind {}, expected 0 to 2", address, kind)
                                 : on_memory_(address, bytes, static_cast<MemoryUse>(kind));
  if (!wrong.empty()) log_mistake(wrong);
}

void Processor::log(const std::string& text) {
  if (on_log_) on_log_(text);
}

void Processor::log_mistake(const std::string& text) {
  log(text);
  if (mistakes_.size() < most_mistakes) mistakes_.push_back(text);
}

void Processor::note_error(Status code, const std::string& text) {
  if (code == Status::ok)
    unread_error_ = {};
  else if (unread_error_.code == Status::ok)
    unread_error_ = {code, text, local_now()};
}

void Processor::log_unbalanced(const std::string& what, std::uint32_t count, const char* call) {
  log_mistake(what + ": unlock as often as lock expected, found " + std::to_string(count) + " " + call +
              (count == 1 ? "" : "s") + " too many");
}

void Processor::visit_statistics(const StatisticVisitor& visit) const {
  const auto count = [](std::uint64_t value) { return static_cast<double>(value); };
  visit("reads", "accesses", "register and memory reads of the firmware", count(reads_));
  visit("writes", "accesses", "register and memory writes of the firmware", count(writes_));
  visit("failed_accesses", "accesses", "accesses answered with an error", count(failures_));
  visit("waits", "waits", "waits for an interrupt", count(waits_));
  visit("waited", "ns", "time spent waiting for interrupts", to_ns(waited_));
}

}  // namespace t3vp::processor
