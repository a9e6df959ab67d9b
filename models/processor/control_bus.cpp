#include "processor/control_bus.h"

#include <fmt/format.h>

#include <cstring>

#include "processor/processor_rules.h"
#include "protocol/access_description.h"
#include "protocol/cause.h"
#include "protocol/checked_parameters.h"
#include "protocol/request_check.h"
#include "registers/status.h"

namespace t3vp::processor {

ControlBus::ControlBus(const sc_core::sc_module_name& name, std::uint16_t gpu, Picoseconds register_access)
    : sc_module(checked(name, with_register_access(register_access))),
      gpu_(gpu),
      register_access_(to_sc_time(register_access)) {
  processor.register_b_transport(this, &ControlBus::from_processor);
  processor.register_transport_dbg(this, &ControlBus::debug_from_processor);
}

ControlBus::~ControlBus() = default;

ControlBus::Route ControlBus::route(std::uint64_t address) {
  if (address_map::gpu_of(address) != gpu_) return {remote.size() != 0 ? &remote : nullptr, address, true};
  if (address_map::is_hbm(address)) return {memory.size() != 0 ? &memory : nullptr, address, false};
  const std::uint64_t local = address_map::local_of(address);
  if (local < address_map::registers_base) return {};
  const std::uint64_t number = (local - address_map::registers_base) / address_map::block_bytes;
  if (number >= blocks.size() || blocks[number].size() == 0) return {};
  return {&blocks[number], local % address_map::block_bytes, true};
}

void ControlBus::from_processor(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
  const std::uint64_t address = transaction.get_address();
  if (const Malformed* found = malformed_delay(delay)) {
    transaction.set_response_status(found->response);
    if (errors.size() != 0)
      errors->report("control_bus", {found->code, address, describe(transaction) + ": " + found->text});
    return tell(transaction, sc_core::SC_ZERO_TIME);
  }
  const Route to = route(address);
  if (to.socket == nullptr) {
    delay += register_access_;
    refuse(transaction, "nothing answers");
    return tell(transaction, delay);
  }
  if (to.takes_time) delay += register_access_;
  if (to.socket == &remote) {  // links are contended: an access enters them at its own time
    const Cause cause = cause_at(now() + from_sc_time(delay), Part::launch);
    wait(delay);
    Cause::current() = cause;  // others have run meanwhile
    delay = sc_core::SC_ZERO_TIME;
  }
  forward(to, transaction, delay);
  if (to.socket == &remote && !address_map::is_hbm(address)) tell(transaction, delay);
}

void ControlBus::tell(const tlm::tlm_generic_payload& transaction, const sc_core::sc_time& delay) const {
  if (observer_ == nullptr) return;
  RegisterAccess told;
  told.time = now() + from_sc_time(delay);
  told.who = "processor";
  told.whose = gpu_;
  told.address = transaction.get_address();
  told.bytes = transaction.get_data_length();
  told.writes = transaction.is_write();
  told.is_refused = !transaction.is_response_ok();
  told.is_sent = !told.is_refused;
  const bool has_value = told.bytes <= sizeof told.value && transaction.get_data_ptr() != nullptr;
  if (has_value) std::memcpy(&told.value, transaction.get_data_ptr(), told.bytes);
  told.before = told.after = told.value;
  observer_->accessed(told);
}

void ControlBus::forward(const Route& to, tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
  const std::uint64_t address = transaction.get_address();
  transaction.set_address(to.address);
  (*to.socket)->b_transport(transaction, delay);
  transaction.set_address(address);
  transaction.set_dmi_allowed(false);
}

void ControlBus::refuse(tlm::tlm_generic_payload& transaction, const std::string& why) {
  const std::uint64_t address = transaction.get_address();
  transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  if (errors.size() == 0) return;
  const char* kind = transaction.is_read() ? "read" : "write";
  errors->report(
      "control_bus",
      {static_cast<std::uint32_t>(Status::bad_address), address,
       fmt::format("{} of {} bytes at {:#x}: {}, expected a register block, memory below {:#x} or a linked GPU", kind,
                   transaction.get_data_length(), address, why, address_map::hbm_limit)});
}

unsigned ControlBus::debug(const Route& to, tlm::tlm_generic_payload& transaction) {
  if (to.socket == nullptr) return 0;
  const std::uint64_t address = transaction.get_address();
  transaction.set_address(to.address);
  const unsigned bytes = (*to.socket)->transport_dbg(transaction);
  transaction.set_address(address);
  return bytes;
}

unsigned ControlBus::debug_from_processor(tlm::tlm_generic_payload& transaction) {
  return debug(route(transaction.get_address()), transaction);
}

}  // namespace t3vp::processor
