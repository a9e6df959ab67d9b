// What a link takes.
#pragma once

#include "protocol/data_protocol.h"

namespace t3vp::interconnect {

inline bool is_packet(tlm::tlm_generic_payload& transaction) {
  const Operation operation = extension_of(transaction).operation;
  return operation == Operation::store || operation == Operation::update;
}

}  // namespace t3vp::interconnect
