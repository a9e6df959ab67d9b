// An initiator and a target that can break every rule of the protocols, since nothing helps them to keep any.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <functional>

#include "protocol/data_protocol.h"
#include "protocol/units.h"

namespace t3vp {

template <unsigned width, typename Types>
struct RawInitiator : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<RawInitiator, width, Types> socket{"socket"};
  tlm::tlm_sync_enum answer = tlm::TLM_COMPLETED;  ///< to responses
  unsigned responses = 0;

  explicit RawInitiator(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_nb_transport_bw(this, &RawInitiator::response);
  }
  tlm::tlm_sync_enum request(tlm::tlm_generic_payload& transaction, Picoseconds delay = 0,
                             tlm::tlm_phase phase = tlm::BEGIN_REQ) {
    sc_core::sc_time time = to_sc_time(delay);
    return socket->nb_transport_fw(transaction, phase, time);
  }
  tlm::tlm_sync_enum response(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) {
    ++responses;
    return answer;
  }
};

template <unsigned width, typename Types>
struct RawTarget : sc_core::sc_module {
  tlm_utils::simple_target_socket<RawTarget, width, Types> socket{"socket"};
  std::function<tlm::tlm_sync_enum(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&)> non_blocking;
  std::function<void(tlm::tlm_generic_payload&, sc_core::sc_time&)> blocking;
  std::function<unsigned(tlm::tlm_generic_payload&)> debug;
  std::function<bool(tlm::tlm_generic_payload&, tlm::tlm_dmi&)> direct;

  explicit RawTarget(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_nb_transport_fw(this, &RawTarget::nb_transport);
    socket.register_b_transport(this, &RawTarget::b_transport);
    socket.register_transport_dbg(this, &RawTarget::transport_dbg);
    socket.register_get_direct_mem_ptr(this, &RawTarget::get_direct_mem_ptr);
  }
  void respond(tlm::tlm_generic_payload& transaction, Picoseconds delay = 0, tlm::tlm_phase phase = tlm::BEGIN_RESP) {
    sc_core::sc_time time = to_sc_time(delay);
    socket->nb_transport_bw(transaction, phase, time);
  }

 private:
  tlm::tlm_sync_enum nb_transport(tlm::tlm_generic_payload& transaction, tlm::tlm_phase& phase,
                                  sc_core::sc_time& delay) {
    return non_blocking(transaction, phase, delay);
  }
  void b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) { blocking(transaction, delay); }
  unsigned transport_dbg(tlm::tlm_generic_payload& transaction) { return debug(transaction); }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& transaction, tlm::tlm_dmi& dmi) { return direct(transaction, dmi); }
};

}  // namespace t3vp
