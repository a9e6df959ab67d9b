#include "processor/firmware_core.h"

#include <cstring>
#include <utility>

#include "hart/trap_text.h"
#include "processor/processor_rules.h"
#include "protocol/address_map.h"
#include "protocol/checked_parameters.h"
#include "protocol/response_status.h"

namespace t3vp::processor {
namespace {

using sc_core::sc_time;

constexpr std::uint64_t uart_status = 5,
                        uart_is_empty = 0x60;  // of a 16550: line status, both its bits of transmission
constexpr std::size_t longest_line = 4096;

bool is_own(std::uint64_t address) { return address >> 40 == address_map::core_space >> 40; }

/// Returns whether the address is in the window to the first page of the node.
bool is_first_page(std::uint64_t address) {
  return address - address_map::core_first_page < FirmwareCore::first_page_bytes;
}

riscv::CoreParameters core_parameters(std::uint16_t gpu, const ProcessorParameters& parameters) {
  riscv::CoreParameters core;
  core.hart_id = gpu;
  core.clock_period = to_sc_time(parameters.core.clock_period);
  core.timer_period = sc_time(1, sc_core::SC_NS);  // the unit of the CSR time and of mtime
  core.quantum = to_sc_time(parameters.quantum);
  return core;
}

std::string hex(std::uint64_t value) {
  char text[19];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

FirmwareCore::FirmwareCore(const sc_core::sc_module_name& name, std::uint16_t gpu,
                           const ProcessorParameters& parameters, Trace* trace)
    : Processor(checked(name, parameters), gpu, trace),
      core("core", core_parameters(gpu, parameters)),
      memory_(address_map::core_memory, parameters.core.memory_bytes),
      timer_("timer", parameters.core.clock_period) {
  SC_HAS_PROCESS(FirmwareCore);
  core.socket.bind(from_core_);
  core.external_interrupt.bind(interrupt);
  core.timer_interrupt.bind(timer_interrupt_);
  core.software_interrupt.bind(software_interrupt_);
  timer_.timer_interrupt.bind(timer_interrupt_);
  timer_.software_interrupt.bind(software_interrupt_);
  from_core_.register_b_transport(this, &FirmwareCore::transport);
  from_core_.register_get_direct_mem_ptr(this, &FirmwareCore::give_directly);
  from_core_.register_transport_dbg(this, &FirmwareCore::look);
  SC_METHOD(wake);
  sensitive << given_up();
  dont_initialize();
}

FirmwareCore::~FirmwareCore() = default;

void FirmwareCore::start_of_simulation() {
  if (entry_) {
    core.hart().pc = *entry_;
    return;
  }
  core.halt();
  finish();
}

void FirmwareCore::transport(tlm::tlm_generic_payload& access, sc_time& delay) {
  const std::uint64_t address = access.get_address();
  if (!is_own(address) && address >= first_page_bytes) return access_node(access, delay);
  if (is_first_page(address)) return access_first_page(access, delay);
  access.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  if (address >= address_map::core_memory)
    memory_.transport(access);
  else if (address == address_map::core_host)
    ring(access, delay);
  else if (address >= address_map::core_uart)
    send(access);
  else if (address >= address_map::core_timer)
    timer_.transport(address - address_map::core_timer, access, delay);
  if (access.is_response_error()) refusal_ = status_of_register_access(access.get_response_status());
}

void FirmwareCore::access_node(tlm::tlm_generic_payload& access, sc_time& delay) {
  const std::uint64_t address = access.get_address();
  if (!may_run_ahead(access.get_command(), address)) {
    wait(delay);
    delay = sc_core::SC_ZERO_TIME;
  }
  if (access.is_write() && !address_map::is_hbm(address)) {
    std::uint64_t value = 0;
    std::memcpy(&value, access.get_data_ptr(), access.get_data_length());
    note_register_write(address, value);
  }
  act();
  socket->b_transport(access, delay);
  if (access.is_write() && delay == sc_core::SC_ZERO_TIME) come_to_rest();
  access.set_dmi_allowed(false);
  note_access(access);
  if (access.is_response_error()) refusal_ = status_of_register_access(access.get_response_status());
}

void FirmwareCore::access_first_page(tlm::tlm_generic_payload& access, sc_time& delay) {
  const std::uint64_t address = access.get_address();
  access.set_address(address - address_map::core_first_page);
  access_node(access, delay);
  access.set_address(address);
}

/// A line at a time goes to the log.
void FirmwareCore::send(tlm::tlm_generic_payload& access) {
  const std::uint64_t offset = access.get_address() - address_map::core_uart;
  if (access.get_data_length() != 1 || (offset != 0 && offset != uart_status)) return;
  access.set_response_status(tlm::TLM_OK_RESPONSE);
  unsigned char& data = *access.get_data_ptr();
  if (access.is_read()) data = offset == uart_status ? uart_is_empty : 0;
  if (!access.is_write() || offset != 0) return;
  ++printed_;
  if (data != '\n') line_ += static_cast<char>(data);
  if (data == '\n' || line_.size() == longest_line) end_line();
}

void FirmwareCore::end_line() { log(std::exchange(line_, {})); }

void FirmwareCore::ring(tlm::tlm_generic_payload& access, sc_time& delay) {
  std::uint64_t value = 0;
  if (!access.is_write() || access.get_data_length() != sizeof value) return;
  std::memcpy(&value, access.get_data_ptr(), sizeof value);
  access.set_response_status(tlm::TLM_OK_RESPONSE);
  wait(delay);
  delay = sc_core::SC_ZERO_TIME;
  ++calls_;
  if (on_call_) on_call_(value);
}

bool FirmwareCore::give_directly(tlm::tlm_generic_payload& access, tlm::tlm_dmi& dmi) {
  if (memory_.at(access.get_address(), 1) == nullptr) return false;
  memory_.give_directly(access.get_address(), dmi);
  return true;
}

/// Nothing of the core's own is changed by looking, but for its memory, which may be written so.
unsigned FirmwareCore::look(tlm::tlm_generic_payload& access) {
  const std::uint64_t address = access.get_address(), bytes = access.get_data_length();
  if (!is_own(address)) return socket->transport_dbg(access);
  if (unsigned char* const data = memory_.at(address, bytes)) {
    if (access.is_read()) std::memcpy(access.get_data_ptr(), data, bytes);
    if (access.is_write()) std::memcpy(data, access.get_data_ptr(), bytes);
    return static_cast<unsigned>(bytes);
  }
  const std::uint64_t offset = address - address_map::core_timer;
  return offset < CoreTimer::window_bytes && timer_.look(offset, access) ? static_cast<unsigned>(bytes) : 0;
}

void FirmwareCore::end(Status status, std::uint32_t locks) {
  if (!line_.empty()) end_line();
  status_ = status;
  if (status == Status::ok && locks != 0) log_unbalanced("ends", locks, "lock");
  core.halt();
  finish();
}

void FirmwareCore::crash(const std::string& text) {
  if (!line_.empty()) end_line();
  log_mistake(text);
  status_ = Status::aborted;
  core.halt();
  finish(true);
}

void FirmwareCore::begin_wait(const std::string& reason, std::uint64_t deadline_ns) {
  Processor::begin_wait(reason, time_of_firmware(deadline_ns));
  was_raised_ = interrupt.read();
}

void FirmwareCore::end_wait() {
  if (interrupt.read() && !was_raised_) forget_polls();
  Processor::end_wait();
  timer_.lower();
}

/// The core sleeps, or will before it looks whether its wait has been given up.
void FirmwareCore::wake() { timer_.raise(); }

bool FirmwareCore::begin_interrupt() {
  if (!interrupt.read()) return false;
  note_raised_lines();
  if (interrupts_++ == 0) serves_since_ = now();
  return true;
}

void FirmwareCore::end_interrupt(std::uint32_t locks) {
  if (locks == 0) log_unbalanced("returns from an interrupt", 1, "unlock");
  if (locks > 1) log_unbalanced("returns from an interrupt", locks - 1, "lock");
  if (interrupts_ != 0 && --interrupts_ == 0) serves_since_ = never;
}

Status FirmwareCore::exchange(const char* name, const void* mine, std::uint64_t bytes, void* all,
                              std::uint64_t deadline_ns) {
  const Status status = exchange_with_hosts(name, mine, bytes, all, time_of_firmware(deadline_ns));
  timer_.lower();
  return status;
}

std::string FirmwareCore::place(std::uint64_t address) const {
  return name_of_place_ ? name_of_place_(address) : hex(address);
}

void FirmwareCore::visit_statistics(const StatisticVisitor& visit) const {
  Processor::visit_statistics(visit);
  visit("instructions", "instructions", "instructions of the core", static_cast<double>(core.hart().retired()));
}

std::vector<std::string> FirmwareCore::diagnosis() const {
  const std::string who = "GPU " + std::to_string(gpu_) + " firmware ";
  if (finished()) return {};
  if (core.hart().is_lost())
    return {who + "has stopped: " + riscv::text_of_loss(core.hart(), [this](std::uint64_t address) {
              return place(address);
            })};
  if (core.hart().sleeps() && waits_for().empty())
    return {who + "sleeps (wfi at " + place(core.hart().pc - 4) + ") and no interrupt that it has enabled can come"};
  return {};
}

}  // namespace t3vp::processor
