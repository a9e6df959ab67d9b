// The definition of malformed requests on the data path. Every target socket checks it before its block sees the
// request, and so does the protocol checker.
#pragma once

#include "protocol/data_protocol.h"
#include "protocol/units.h"

namespace t3vp {

struct Malformed {
  tlm::tlm_response_status response;  ///< with which the request is refused
  std::uint32_t code;                 ///< of the entry in the error log, a t3_status
  const char* text;                   ///< what is wrong and what is expected
};

/// A target's rules for requests, in addition to the rules for all.
struct RequestRules {
  bool data = false;          ///< loads, stores and updates carry data: the target is functional
  bool empty = false;         ///< accesses of no bytes have a meaning
  bool byte_enables = false;  ///< a store may leave out bytes; it has one enable for each
};

/// Null when nothing is wrong with the payload.
const Malformed* malformed(const tlm::tlm_generic_payload& transaction, RequestRules rules);

/// Checks a call of nb_transport_fw in the same way: its phase, its delay and the payload's memory manager too.
const Malformed* malformed(const tlm::tlm_generic_payload& transaction, const tlm::tlm_phase& phase,
                           const sc_core::sc_time& delay, RequestRules rules);

/// Null when nothing is wrong with the delay of a call.
const Malformed* malformed_delay(const sc_core::sc_time& delay);

}  // namespace t3vp
