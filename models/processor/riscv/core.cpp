#include "riscv/core.h"

#include <algorithm>

#include "protocol/checked_parameters.h"

namespace t3vp::riscv {

using sc_core::sc_time;
using sc_core::SC_ZERO_TIME;

static void check_parameters(const ParameterCheck& check, const CoreParameters& p) {
  check.require(p.clock_period != SC_ZERO_TIME, "clock_period", p.clock_period, "more than 0 s");
  check.require(p.timer_period != SC_ZERO_TIME, "timer_period", p.timer_period, "more than 0 s");
  check.require(p.start % 2 == 0, "start", p.start, "an even address");
}

sc_time Core::Keeper::compute_local_quantum() {
  if (quantum_ == SC_ZERO_TIME) return SC_ZERO_TIME;
  return quantum_ - sc_time::from_value(sc_core::sc_time_stamp().value() % quantum_.value());
}

sc_time Core::Keeper::remaining() const {
  const sc_time local = get_current_time();
  return m_next_sync_point > local ? m_next_sync_point - local : SC_ZERO_TIME;
}

Core::Core(const sc_core::sc_module_name& name, const CoreParameters& parameters)
    : sc_module(checked(name, parameters)),
      parameters_(parameters),
      hart_(*this, parameters.hart_id, parameters.start),
      keeper_(parameters.quantum) {
  SC_HAS_PROCESS(Core);
  socket.register_invalidate_direct_mem_ptr(this, &Core::invalidate_direct_memory);
  SC_THREAD(main);
}

Core::~Core() = default;

void Core::main() {
  keeper_.reset();
  while (!halted_) {
    hart_.set_interrupts(pending_interrupts());
    run(steps_of_quantum());
    account_for_steps();
    halted_ = halted_ || hart_.is_lost() || hart_.steps() == parameters_.most_steps;
    if (keeper_.need_sync() || halted_) keeper_.sync();
    if (hart_.sleeps() && !halted_) sleep();
  }
}

void Core::run(std::uint64_t steps) {
  if (follower_ == nullptr)
    hart_.run(steps);
  else
    run_followed(steps);
}

/// One by one, which comes to the same: interrupts are looked at where the hart would look at them.
void Core::run_followed(std::uint64_t steps) {
  const std::uint64_t end = hart_.steps() + steps;
  do {
    hart_.take_interrupt();
    follower_->before(*this);
    if (halted_) return;
    hart_.run(1);
    if (follower_ != nullptr) follower_->after(*this);
  } while (follower_ != nullptr && hart_.steps() != end && !hart_.is_paused() && !hart_.sleeps());
}

/// Returns the number of steps that begin before the quantum ends, at least one.
std::uint64_t Core::steps_of_quantum() const {
  const std::uint64_t period = parameters_.clock_period.value(), remaining = keeper_.remaining().value();
  const std::uint64_t steps = std::max<std::uint64_t>((remaining + period - 1) / period, 1);
  return std::min(steps, parameters_.most_steps - hart_.steps());
}

std::uint64_t Core::pending_interrupts() const {
  return (timer_interrupt.read() ? interrupt_bit(Interrupt::timer) : 0) |
         (software_interrupt.read() ? interrupt_bit(Interrupt::software) : 0) |
         (external_interrupt.read() ? interrupt_bit(Interrupt::external) : 0);
}

/// Lines change only while the core waits, and it looks at them behind each wait.
void Core::sleep() {
  keeper_.sync();
  hart_.set_interrupts(pending_interrupts());
  while (hart_.sleeps()) {
    wait(timer_interrupt.value_changed_event() | software_interrupt.value_changed_event() |
         external_interrupt.value_changed_event() | woken_);
    hart_.set_interrupts(pending_interrupts());
  }
  keeper_.reset();
}

void Core::wake() {
  hart_.wake();
  woken_.notify(SC_ZERO_TIME);
}

void Core::halt() {
  halted_ = true;
  hart_.pause();
}

void Core::account_for_steps() {
  keeper_.inc(parameters_.clock_period * static_cast<double>(hart_.steps() - accounted_steps_));
  accounted_steps_ = hart_.steps();
}

sc_time Core::local_time() const {
  return keeper_.get_current_time() + parameters_.clock_period * static_cast<double>(hart_.steps() - accounted_steps_);
}

std::size_t Core::read_debug(std::uint64_t address, unsigned char* data, std::size_t bytes) {
  return debug_access(tlm::TLM_READ_COMMAND, address, data, bytes);
}

std::size_t Core::write_debug(std::uint64_t address, const unsigned char* data, std::size_t bytes) {
  const std::size_t written = debug_access(tlm::TLM_WRITE_COMMAND, address, const_cast<unsigned char*>(data), bytes);
  hart_.forget_instructions();  // what was written may be code
  return written;
}

/// The access has a transaction of its own: that of another access may be in flight.
std::size_t Core::debug_access(tlm::tlm_command command, std::uint64_t address, unsigned char* data,
                               std::size_t bytes) {
  tlm::tlm_generic_payload transaction;
  transaction.set_command(command);
  transaction.set_address(address);
  transaction.set_data_ptr(data);
  transaction.set_data_length(static_cast<unsigned>(bytes));
  transaction.set_streaming_width(static_cast<unsigned>(bytes));
  transaction.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  return std::min<std::size_t>(socket->transport_dbg(transaction), bytes);
}

/// The quantum and the interrupts are looked at behind each access: it may have taken time, and may have waited.
bool Core::access(tlm::tlm_command command, std::uint64_t address, unsigned char* data, std::uint32_t bytes) {
  account_for_steps();
  transaction_.set_command(command);
  transaction_.set_address(address);
  transaction_.set_data_ptr(data);
  transaction_.set_data_length(bytes);
  transaction_.set_streaming_width(bytes);
  transaction_.set_byte_enable_ptr(nullptr);
  transaction_.set_dmi_allowed(false);
  transaction_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  sc_time delay = keeper_.get_local_time();
  socket->b_transport(transaction_, delay);
  keeper_.set(delay);
  hart_.pause();
  if (transaction_.is_response_ok() && transaction_.is_dmi_allowed()) ask_for_direct_memory();
  return transaction_.is_response_ok();
}

void Core::ask_for_direct_memory() {
  tlm::tlm_dmi dmi;
  if (!socket->get_direct_mem_ptr(transaction_, dmi) || dmi.get_dmi_ptr() == nullptr) return;
  const std::uint64_t first = dmi.get_start_address(), last = dmi.get_end_address();
  // The last byte of 2^64 has no place in a 64-bit length.
  const std::uint64_t bytes = std::max(last - first + 1, last - first);
  hart_.direct_memory().add({first, bytes, dmi.get_dmi_ptr(), dmi.is_read_allowed(), dmi.is_write_allowed()});
}

void Core::invalidate_direct_memory(sc_dt::uint64 first, sc_dt::uint64 last) {
  hart_.direct_memory().remove(first, last);
  hart_.forget_instructions();
}

bool Core::read(std::uint64_t address, unsigned char* data, std::uint32_t bytes) {
  return access(tlm::TLM_READ_COMMAND, address, data, bytes);
}

bool Core::write(std::uint64_t address, const unsigned char* data, std::uint32_t bytes) {
  // The payload's data pointer is not const; targets do not change the data of a write (IEEE 1666-2011, 14.7).
  return access(tlm::TLM_WRITE_COMMAND, address, const_cast<unsigned char*>(data), bytes);
}

std::uint64_t Core::cycles() { return local_time().value() / parameters_.clock_period.value(); }

std::uint64_t Core::time() { return local_time().value() / parameters_.timer_period.value(); }

/// At its own time, so that what a program sees does not depend on the quantum.
void Core::look_at_lines() {
  account_for_steps();
  keeper_.sync();
  hart_.set_interrupts(pending_interrupts());
}

}  // namespace t3vp::riscv
