#include "node/race_watch.h"

#include "protocol/address_map.h"
#include "protocol/units.h"

namespace t3vp {
namespace {

races::RaceDetector::Request request_of(const tlm::tlm_generic_payload& transaction) {
  const DataExtension& extension = *transaction.get_extension<DataExtension>();
  const bool is_flag = extension.real && extension.traffic == TrafficClass::control;
  return {extension.order,
          extension.operation,
          extension.element,
          is_flag,
          transaction.get_address(),
          extension.shape,
          now()};
}

}  // namespace

tlm::tlm_sync_enum RaceTap::nb_transport_fw(tlm::tlm_generic_payload& transaction, tlm::tlm_phase& phase,
                                            sc_core::sc_time& delay) {
  if (phase == tlm::BEGIN_REQ) detector_.requested(request_of(transaction));
  const tlm::tlm_sync_enum answer = out->nb_transport_fw(transaction, phase, delay);
  if (answer == tlm::TLM_COMPLETED && transaction.is_response_ok()) detector_.responded(request_of(transaction));
  return answer;
}

tlm::tlm_sync_enum RaceTap::nb_transport_bw(tlm::tlm_generic_payload& transaction, tlm::tlm_phase& phase,
                                            sc_core::sc_time& delay) {
  if (phase == tlm::BEGIN_RESP && transaction.is_response_ok()) detector_.responded(request_of(transaction));
  return in->nb_transport_bw(transaction, phase, delay);
}

/// Registers that act on a write look at where the program is: it is released behind that.
void HostRaceTap::b_transport(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
  const std::uint64_t address = transaction.get_address(), bytes = transaction.get_data_length();
  const bool is_memory = address_map::is_hbm(address);
  if (transaction.is_write() && is_memory) detector_.host_writes(gpu_, address, bytes, now() + from_sc_time(delay));
  out->b_transport(transaction, delay);
  if (transaction.is_read())
    detector_.host_reads(gpu_, address, bytes, now() + from_sc_time(delay));
  else if (!is_memory)
    detector_.host_has_written_register(gpu_);
}

}  // namespace t3vp
