// The code of the error log for how a work entry has ended.
#pragma once

#include "registers/nic_syndrome.h"
#include "registers/status.h"

namespace t3vp::nic {

/// Returns the status of an end without a reason of memory's own. It is the same as the driver's t3_nic_status of its
/// completion.
constexpr Status status_of(NicSyndrome syndrome) {
  switch (syndrome) {
    case NicSyndrome::ok:
      return Status::ok;
    case NicSyndrome::local_length:
    case NicSyndrome::local_operation:
    case NicSyndrome::remote_invalid_request:
      return Status::invalid_argument;
    case NicSyndrome::local_protection:
    case NicSyndrome::remote_access:
      return Status::access_denied;
    case NicSyndrome::flushed:
      return Status::aborted;
    case NicSyndrome::retry_exceeded:
      return Status::no_peer;
    case NicSyndrome::remote_operation:
    case NicSyndrome::rnr_retry_exceeded:
      break;
  }
  return Status::peer_failed;
}

}  // namespace t3vp::nic
