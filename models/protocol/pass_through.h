// Goes between two sockets and passes everything on unchanged and at the same time. What looks at the traffic on the
// way derives from it.
//
//   initiator.socket.bind(between.in);
//   between.out.bind(target.socket);
#pragma once

#include <tlm>

#include "protocol/data_protocol.h"

namespace t3vp {

template <unsigned width, typename Protocol = tlm::tlm_base_protocol_types>
class PassThrough : public sc_core::sc_module,
                    protected tlm::tlm_fw_transport_if<Protocol>,
                    protected tlm::tlm_bw_transport_if<Protocol> {
 public:
  tlm::tlm_target_socket<width, Protocol> in{"in"};
  tlm::tlm_initiator_socket<width, Protocol> out{"out"};

 protected:
  explicit PassThrough(const sc_core::sc_module_name& name) : sc_module(name) {
    in.bind(static_cast<tlm::tlm_fw_transport_if<Protocol>&>(*this));
    out.bind(static_cast<tlm::tlm_bw_transport_if<Protocol>&>(*this));
  }

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& transaction, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    return out->nb_transport_fw(transaction, phase, delay);
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& transaction, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    return in->nb_transport_bw(transaction, phase, delay);
  }
  void b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) override {
    out->b_transport(transaction, delay);
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& transaction) override { return out->transport_dbg(transaction); }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& transaction, tlm::tlm_dmi& dmi) override {
    return out->get_direct_mem_ptr(transaction, dmi);
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64 begin, sc_dt::uint64 end) override {
    in->invalidate_direct_mem_ptr(begin, end);
  }
};

/// Between sockets of the data path.
using DataPassThrough = PassThrough<256, DataProtocol>;

/// Between sockets of the control path, for who looks at every access: it grants none that is direct.
class PlainPassThrough : public PassThrough<64> {
 protected:
  using PassThrough<64>::PassThrough;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi& dmi) override {
    dmi.allow_none();
    return false;
  }
};

}  // namespace t3vp
