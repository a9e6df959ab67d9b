#include "processor/command_processor.h"

#include <utility>

#include "processor/described_register.h"
#include "processor/processor_rules.h"
#include "protocol/address_map.h"
#include "protocol/checked_parameters.h"
#include "protocol/response_status.h"
#include "registers/kernel_queue.h"
#include "registers/nic.h"

namespace t3vp::processor {
namespace {

template <typename Value>
unsigned char* bytes_of_value(Value& value) {
  return reinterpret_cast<unsigned char*>(&value);
}

constexpr RegisterDescription kernel_doorbells = described("doorbell", registers::descriptions::kernel_queue);
constexpr RegisterDescription nic_doorbells = described("doorbell", registers::descriptions::nic);

bool is_one_of(const RegisterDescription& doorbells, address_map::Block block, std::uint64_t local) {
  const std::uint64_t within = local - address_map::block_base(block) - doorbells.offset;
  return within < std::uint64_t{doorbells.count} * doorbells.stride && within % doorbells.stride < doorbells.bytes;
}

/// Whether the address is a doorbell of any kernel queue or queue pair.
bool is_doorbell(std::uint64_t local) {
  return is_one_of(kernel_doorbells, address_map::Block::kernel_queue, local) ||
         is_one_of(nic_doorbells, address_map::Block::nic, local);
}

}  // namespace

CommandProcessor::CommandProcessor(const sc_core::sc_module_name& name, std::uint16_t gpu,
                                   const ProcessorParameters& parameters, Trace* trace)
    : Processor(checked(name, parameters), gpu, trace),
      keeper_(parameters.quantum),
      interrupt_entry_(parameters.interrupt_entry) {
  SC_HAS_PROCESS(CommandProcessor);
  SC_THREAD(main);
  set_stack_size(stack_bytes);
}

CommandProcessor::~CommandProcessor() = default;

void CommandProcessor::main() {
  const int on_stack = 0;
  stack_end_ = reinterpret_cast<std::uintptr_t>(&on_stack + 1);
  keeper_.reset();
  tell_control(true);
  if (program_) status_ = program_(*this);
  tell_control(false);
  if (status_ == Status::ok && locks_ != 0) log_unbalanced("ends", locks_, "lock");
  keeper_.sync();
  finish();
}

Picoseconds CommandProcessor::local_now() const { return from_sc_time(keeper_.get_current_time()); }

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
  act();
  socket->b_transport(transaction_, delay);
  keeper_.set(delay);
  if (keeper_.need_sync()) keeper_.sync();
  note_access(transaction_);
  const Status status = status_of_register_access(transaction_.get_response_status());
  serve_interrupts();  // whose accesses are made with the same transaction
  return status;
}

/// Whether a write notifies another block or GPU of what is in memory.
bool CommandProcessor::announces(std::uint64_t address) const {
  if (address_map::is_hbm(address)) return false;
  return address_map::gpu_of(address) != gpu_ || is_doorbell(address_map::local_of(address));
}

Status CommandProcessor::write_register(std::uint64_t address, std::uint64_t value, unsigned char* data,
                                        std::uint32_t bytes) {
  constexpr auto mistake =
      "a doorbell or another GPU's register is written before the memory writes in front of it are ordered";
  if (!unordered_writes_ || !announces(address)) return access(tlm::TLM_WRITE_COMMAND, address, data, bytes);
  note_refusal();
  log(mistake);
  if (observer_ != nullptr) {
    RegisterAccess told;
    told.time = local_now();
    told.who = "processor";
    told.whose = gpu();
    told.address = address;
    told.bytes = bytes;
    told.writes = told.is_refused = true;
    told.value = told.before = told.after = value;
    told.reason = mistake;
    observer_->accessed(told);
  }
  return Status::bad_access;
}

Status CommandProcessor::read32(std::uint64_t address, std::uint32_t& value) {
  return access(tlm::TLM_READ_COMMAND, address, bytes_of_value(value), sizeof value);
}

Status CommandProcessor::read64(std::uint64_t address, std::uint64_t& value) {
  return access(tlm::TLM_READ_COMMAND, address, bytes_of_value(value), sizeof value);
}

Status CommandProcessor::write32(std::uint64_t address, std::uint32_t value) {
  note_register_write(address, value);
  return write_register(address, value, bytes_of_value(value), sizeof value);
}

Status CommandProcessor::write64(std::uint64_t address, std::uint64_t value) {
  return write_register(address, value, bytes_of_value(value), sizeof value);
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
  come_to_rest();
  const Picoseconds deadline = time_of_firmware(deadline_ns);
  begin_wait(reason, deadline);
  const bool is_raised = interrupt.read();
  while (!interrupt.read() && !is_given_up() && now() < deadline) wait_until(deadline, interrupt.posedge_event());
  if (interrupt.read() && !is_raised) forget_polls();
  end_wait();
  if (interrupt.read()) {
    serve_interrupts();
    return Status::ok;
  }
  return now() >= deadline ? Status::timeout : Status::stuck;
}

Status CommandProcessor::exchange(const char* name, const void* mine, std::uint64_t bytes, void* all,
                                  std::uint64_t deadline_ns) {
  keeper_.sync();
  return exchange_with_hosts(name, mine, bytes, all, time_of_firmware(deadline_ns));
}

void CommandProcessor::take_interrupts(InterruptEntry entry, void* argument) {
  entry_ = entry;
  entry_argument_ = argument;
}

void CommandProcessor::unlock() {
  if (locks_ == 0) return log_unbalanced("allows interrupts", 1, "unlock");
  --locks_;
  serve_interrupts();
}

bool CommandProcessor::is_interrupted() {
  keeper_.sync();
  come_to_rest();
  if (!interrupt.read()) return false;
  wait(to_sc_time(interrupt_entry_));
  return interrupt.read();
}

void CommandProcessor::serve_interrupts() {
  while (entry_ != nullptr && locks_ == 0 && is_interrupted()) {
    note_raised_lines();
    ++locks_;
    enter(__builtin_frame_address(0));
    if (locks_ == 0) log_unbalanced("returns from an interrupt", 1, "unlock");
    if (locks_ > 1) log_unbalanced("returns from an interrupt", locks_ - 1, "lock");
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

void CommandProcessor::wait_ns(std::uint64_t ns) {
  const Picoseconds begin = local_now();
  if (time_of_firmware(ns) < latest_time - begin) {
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

}  // namespace t3vp::processor
