// Sockets of the data path. A block registers nb_transport_fw on targets and nb_transport_bw on initiators; a target
// then serves b_transport as well (simple_target_socket converts), for initiators that are not ours.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "protocol/data_protocol.h"
#include "protocol/units.h"

namespace t3vp {

template <typename Module>
using DataTargetSocket = tlm_utils::simple_target_socket_tagged<Module, 256, DataProtocol>;

template <typename Module>
using DataInitiatorSocket = tlm_utils::simple_initiator_socket_tagged<Module, 256, DataProtocol>;

/// Sends a request that reaches the target after `delay`. Returns false when the target completed it at once, with
/// `delay` the time from now to its completion; otherwise nb_transport_bw will be called.
template <typename Socket>
bool send_request(Socket& socket, tlm::tlm_generic_payload& transaction, Picoseconds& delay) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time time = to_sc_time(delay);
  const tlm::tlm_sync_enum answer = socket->nb_transport_fw(transaction, phase, time);
  delay = from_sc_time(time);
  return answer != tlm::TLM_COMPLETED;
}

/// Answers a request; the response reaches the initiator after `delay`.
template <typename Socket>
void send_response(Socket& socket, tlm::tlm_generic_payload& transaction, Picoseconds delay) {
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time time = to_sc_time(delay);
  socket->nb_transport_bw(transaction, phase, time);
}

/// Asks by a debug access of no bytes whether there is a way to the address: a driver may map what is not there.
template <typename Socket>
bool reaches(Socket& socket, std::uint64_t address) {
  tlm::tlm_generic_payload probe;
  probe.set_command(tlm::TLM_IGNORE_COMMAND);
  probe.set_address(address);
  probe.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  socket->transport_dbg(probe);
  return probe.is_response_ok();
}

}  // namespace t3vp
