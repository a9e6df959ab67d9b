#include "protocol/socket_probes.h"

namespace t3vp {

void SocketProbes::connect(DataInitiator& initiator, DataTarget& target, const std::string& place) {
  data_.push_back(
      std::make_unique<ProtocolChecker>(sc_core::sc_gen_unique_name("protocol_checker"), place, violations_));
  data_.back()->in.bind(initiator);
  data_.back()->out.bind(target);
}

void SocketProbes::connect(ControlInitiator& initiator, ControlTarget& target, const std::string& place) {
  control_.push_back(
      std::make_unique<ControlChecker>(sc_core::sc_gen_unique_name("control_checker"), place, violations_));
  control_.back()->in.bind(initiator);
  control_.back()->out.bind(target);
}

std::size_t SocketProbes::in_flight() const {
  std::size_t requests = 0;
  for (const auto& checker : data_) requests += checker->in_flight();
  return requests;
}

}  // namespace t3vp
