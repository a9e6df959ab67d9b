// What a link takes.
#pragma once

#include "protocol/data_protocol.h"

namespace t3vp {

/// A store or update whose shape agrees with its data length.
inline bool is_packet(const tlm::tlm_generic_payload& transaction) {
  const DataExtension* extension = transaction.get_extension<DataExtension>();
  if (extension == nullptr || extension->shape.bytes() != transaction.get_data_length()) return false;
  return extension->operation == Operation::store || extension->operation == Operation::update;
}

}  // namespace t3vp
