// The driver's status for a response.
#pragma once

#include <string>
#include <tlm>

#include "protocol/access_description.h"
#include "protocol/address_map.h"
#include "protocol/gpu_name.h"
#include "registers/status.h"

namespace t3vp {

/// The status that stands for what register_block.h answers to an access to a register.
inline Status status_of_register_access(tlm::tlm_response_status response) {
  switch (response) {
    case tlm::TLM_OK_RESPONSE:
      return Status::ok;
    case tlm::TLM_BURST_ERROR_RESPONSE:
    case tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE:
      return Status::bad_access;
    case tlm::TLM_COMMAND_ERROR_RESPONSE:
      return Status::access_denied;
    case tlm::TLM_GENERIC_ERROR_RESPONSE:
      return Status::bad_value;
    case tlm::TLM_ADDRESS_ERROR_RESPONSE:
    case tlm::TLM_INCOMPLETE_RESPONSE:
      break;
  }
  return Status::bad_address;
}

/// The status of a load, store or update on the data path: GENERIC_ERROR is an update while near-memory compute is off.
inline Status status_of_data_access(tlm::tlm_response_status response) {
  switch (response) {
    case tlm::TLM_OK_RESPONSE:
      return Status::ok;
    case tlm::TLM_BURST_ERROR_RESPONSE:
      return Status::unaligned;
    case tlm::TLM_COMMAND_ERROR_RESPONSE:
      return Status::access_denied;
    case tlm::TLM_GENERIC_ERROR_RESPONSE:
      return Status::disabled;
    default:
      return Status::bad_address;
  }
}

/// Returns the status of the whole access, which may have been refused for a reason that no response gives.
inline Status status_of_data_access(const tlm::tlm_generic_payload& transaction) {
  const DataExtension* extension = transaction.get_extension<DataExtension>();
  if (transaction.is_response_error() && extension->refusal != 0) return static_cast<Status>(extension->refusal);
  return status_of_data_access(transaction.get_response_status());
}

/// A store or update that its peer has refused, in words for the sender's error log.
inline std::string text_of_refusal(const tlm::tlm_generic_payload& transaction) {
  return describe(transaction) + ": refused by " + gpu_name(address_map::gpu_of(transaction.get_address())) + ": " +
         text_of(status_of_data_access(transaction));
}

}  // namespace t3vp
