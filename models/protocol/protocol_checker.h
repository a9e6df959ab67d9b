// Goes between any two data sockets, passes everything on unchanged and at the same time, and notes what breaks the
// rules of data_protocol.h.
#pragma once

#include <string>
#include <unordered_map>

#include "protocol/pass_through.h"
#include "protocol/payload_record.h"
#include "protocol/units.h"
#include "protocol/violations.h"

namespace t3vp {

class ProtocolChecker : public DataPassThrough {
 public:
  /// `place` names the sockets for people.
  ProtocolChecker(const sc_core::sc_module_name& name, std::string place, Violations& violations);

  /// Requests without a response so far. At the end of a test there should be none.
  std::size_t in_flight() const { return in_flight_.size(); }

 private:
  struct Request {
    explicit Request(const tlm::tlm_generic_payload& transaction) : record(transaction) {}
    PayloadRecord record;
    const DataExtension* extension = nullptr;
    DataExtension sent;  ///< the extension's content in the request
    bool malformed = false;
    Picoseconds sent_at = 0;
    Picoseconds arrival = 0;
    bool taken = false;
    Picoseconds since = 0;  ///< when it was taken, before that its arrival: the response comes no earlier
  };

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& transaction, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& transaction, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) override;
  unsigned transport_dbg(tlm::tlm_generic_payload& transaction) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& transaction, tlm::tlm_dmi& dmi) override;

  Request begin(const tlm::tlm_generic_payload& transaction, const sc_core::sc_time& delay, const char* malformed);
  void take(const tlm::tlm_generic_payload& transaction, const sc_core::sc_time& delay);
  void check_sent_fields(const Request& request, const tlm::tlm_generic_payload& transaction);
  void end(const Request& request, const tlm::tlm_generic_payload& transaction, const sc_core::sc_time& delay);
  const char* changed(const Request& request, const tlm::tlm_generic_payload& transaction) const;
  void violated(Violation::By by, const char* rule, const tlm::tlm_generic_payload& transaction);

  std::string place_;
  Violations& violations_;
  std::unordered_map<const tlm::tlm_generic_payload*, Request> in_flight_;
  unsigned request_calls_ = 0;  ///< that run
};

}  // namespace t3vp
