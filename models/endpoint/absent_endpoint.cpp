#include "endpoint/absent_endpoint.h"

#include <fmt/format.h>

#include "protocol/address_map.h"
#include "registers/status.h"

namespace t3vp::endpoint {

AbsentEndpoint::AbsentEndpoint(const sc_core::sc_module_name& name, std::uint16_t gpu) : sc_module(name), gpu_(gpu) {
  registers.register_b_transport(this, &AbsentEndpoint::access);
  registers.register_transport_dbg(this, &AbsentEndpoint::debug);
}

void AbsentEndpoint::access(tlm::tlm_generic_payload& transaction, sc_core::sc_time&) {
  transaction.set_dmi_allowed(false);
  transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  if (errors.size() == 0) return;
  const std::uint64_t address =
      address_map::on_gpu(gpu_, address_map::block_base(address_map::Block::endpoint)) + transaction.get_address();
  errors->report("endpoint",
                 {static_cast<std::uint32_t>(Status::bad_address), address,
                  fmt::format("{} of {} bytes at {:#x}: this system has no endpoint engine",
                              transaction.is_read() ? "read" : "write", transaction.get_data_length(), address)});
}

unsigned AbsentEndpoint::debug(tlm::tlm_generic_payload& transaction) {
  transaction.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  return 0;
}

}  // namespace t3vp::endpoint
