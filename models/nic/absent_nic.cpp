#include "nic/absent_nic.h"

#include <fmt/format.h>

#include "protocol/access_description.h"
#include "protocol/address_map.h"

namespace t3vp::nic {

AbsentNic::AbsentNic(const sc_core::sc_module_name& name, std::uint16_t gpu) : sc_module(name), gpu_(gpu) {
  registers.register_b_transport(this, &AbsentNic::register_access);
  registers.register_transport_dbg(this, &AbsentNic::debug);
  doorbells.report_to(errors, "nic");
  engine.report_to(errors, "nic");
}

void AbsentNic::register_access(tlm::tlm_generic_payload& transaction, sc_core::sc_time&) {
  transaction.set_dmi_allowed(false);
  refuse(transaction,
         address_map::on_gpu(gpu_, address_map::block_base(address_map::Block::nic)) + transaction.get_address());
}

unsigned AbsentNic::debug(tlm::tlm_generic_payload& transaction) {
  transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  return 0;
}

void AbsentNic::kernel_request(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  refuse(transaction, transaction.get_address());
  doorbells.respond(transaction, delay);
}

void AbsentNic::engine_request(int, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  refuse(transaction, transaction.get_address());
  engine.respond(transaction, delay);
}

void AbsentNic::refuse(tlm::tlm_generic_payload& transaction, std::uint64_t address) {
  transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  if (errors.size() == 0) return;
  errors->report(
      "nic", {static_cast<std::uint32_t>(Status::bad_address), address,
              fmt::format("{} of {} bytes at {:#x}: this system has no NIC", transaction.is_read() ? "read" : "write",
                          transaction.get_data_length(), address)});
}

}  // namespace t3vp::nic
