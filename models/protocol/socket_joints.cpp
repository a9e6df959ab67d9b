#include "protocol/socket_joints.h"

namespace t3vp {

void SocketJoints::connect(DataInitiator& initiator, DataTarget& target, const std::string& place) {
  data_.push_back(
      std::make_unique<ProtocolChecker>(sc_core::sc_gen_unique_name("protocol_checker"), place, violations_));
  data_.back()->in.bind(initiator);
  data_.back()->out.bind(target);
}

void SocketJoints::connect(ControlInitiator& initiator, ControlTarget& target, const std::string& place) {
  control_.push_back(
      std::make_unique<ControlChecker>(sc_core::sc_gen_unique_name("control_checker"), place, violations_));
  control_.back()->in.bind(initiator);
  control_.back()->out.bind(target);
}

std::size_t SocketJoints::under_way() const {
  std::size_t requests = 0;
  for (const auto& checker : data_) requests += checker->under_way();
  return requests;
}

}  // namespace t3vp
